#include "base/not_found.h"
#include "explore/explored_tables.h"
#include "explore/kept_rows.h"

#include <gtest/gtest.h>

namespace dnheap::explore {
namespace {

using report::Kind;
using report::Shown;

report::Table orders() {
  report::Table table;
  table.name = "orders";
  table.title = "Orders by size";
  table.columns = {{"type", "Type", Kind::text},
                   {"bytes", "Bytes", Kind::bytes},
                   {"at", "Address", Kind::address},
                   {"change", "Change", Kind::count_change},
                   {"steps", "", Kind::nested, Shown::in_data}};
  const std::vector<report::Cell> steps{"a", "b"};
  std::vector<report::Row> rows{{"Shop.Order", 80u, 0x7f10u, -3, steps},
                                {"Shop.Line", 200u, 0x7f20u, 5, steps},
                                {"<Cart>k__BackingField", {}, 0x7f30u, 0, steps},
                                {"shop.order", 64u, 0x1000u, 7, steps}};
  table.set_rows(std::move(rows));
  table.total = report::Row{"total", 344u, {}, {}, {}};
  table.notes = {"an order counts once"};
  return table;
}

std::vector<std::string> firsts(const ordered_json &answer) {
  std::vector<std::string> out;
  for (const ordered_json &row : answer["rows"])
    out.push_back(row[0].get<std::string>());
  return out;
}

std::vector<std::string> in_order(KeptRows &rows, const std::string &order, const std::string &containing = "") {
  return firsts(rows.rows({0, 100, order, containing}));
}

using Texts = std::vector<std::string>;

TEST(KeptRows, HasColumnsAndWordsOfTheText) {
  KeptRows rows(orders(), 1000, {});
  const ordered_json head = rows.head();
  EXPECT_EQ(head["title"], "Orders by size");
  EXPECT_EQ(head["count"], 4);
  EXPECT_EQ(head["columns"][1],
            (ordered_json{
                {"key", "bytes"}, {"title", "Bytes"}, {"kind", "bytes"}, {"shown", "everywhere"}, {"wraps", false}}));
  EXPECT_EQ(head["columns"][4]["shown"], "in_data");
  EXPECT_EQ(head["total"], (ordered_json{"total", "344 B", nullptr, nullptr, nullptr}));
  EXPECT_EQ(head["notes"][0], "an order counts once");
  const ordered_json first = rows.rows({0, 1, "", ""})["rows"][0];
  EXPECT_EQ(first, (ordered_json{"Shop.Order", 80, "0x7f10", -3, nullptr})); // no JSON in a cell
}

TEST(KeptRows, NamesABackingFieldLikeItsProperty) {
  KeptRows rows(orders(), 1000, {});
  EXPECT_EQ(in_order(rows, "")[2], "Cart");
}

TEST(KeptRows, SortsNumbersFromTheLargestAndTextsFromA) {
  KeptRows rows(orders(), 1000, {});
  EXPECT_EQ(in_order(rows, "bytes"), (Texts{"Shop.Line", "Shop.Order", "shop.order", "Cart"}));
  EXPECT_EQ(in_order(rows, "-bytes"), (Texts{"shop.order", "Shop.Order", "Shop.Line", "Cart"})); // none stands last
  EXPECT_EQ(in_order(rows, "type"), (Texts{"Cart", "Shop.Line", "Shop.Order", "shop.order"}));
  EXPECT_EQ(in_order(rows, "-type"), (Texts{"shop.order", "Shop.Order", "Shop.Line", "Cart"}));
  EXPECT_EQ(in_order(rows, "change").back(), "Shop.Order"); // -3
  EXPECT_EQ(in_order(rows, "at").front(), "shop.order");    // addresses from the lowest
  EXPECT_EQ(in_order(rows, ""), (Texts{"Shop.Order", "Shop.Line", "Cart", "shop.order"}));
  EXPECT_THROW(in_order(rows, "nonsense"), UsageError);
  EXPECT_EQ(in_order(rows, "").size(), 4u);
}

TEST(KeptRows, FindsTextsAndAddressesInEitherCase) {
  KeptRows rows(orders(), 1000, {});
  EXPECT_EQ(in_order(rows, "-bytes", "ORDER"), (Texts{"shop.order", "Shop.Order"}));
  EXPECT_EQ(in_order(rows, "", "7F2"), Texts{"Shop.Line"});
  EXPECT_EQ(rows.rows({0, 1, "", "order"})["total"], 2);
  EXPECT_EQ(rows.rows({0, 1, "", "no such"})["total"], 0);
  EXPECT_EQ(rows.rows({0, 1, "", ""})["total"], 4);
}

TEST(KeptRows, KeepsColumnsOfOneNameApart) {
  report::Table table = orders();
  table.columns[1].key = table.columns[3].key = "type";
  KeptRows rows(table, 1000, {});
  EXPECT_EQ(rows.head()["columns"][1]["key"], "type 2");
  EXPECT_EQ(rows.head()["columns"][3]["key"], "type 3");
  EXPECT_EQ(in_order(rows, "type 2").front(), "Shop.Line");
}

TEST(KeptRows, TurnsPagesAndNothingBeyond) {
  KeptRows rows(orders(), 1000, {});
  EXPECT_EQ(firsts(rows.rows({1, 2, "", ""})), (Texts{"Shop.Line", "Cart"}));
  EXPECT_EQ(firsts(rows.rows({~u64{0}, ~u64{0}, "", ""})), Texts{});
  EXPECT_EQ(firsts(rows.rows({3, ~u64{0}, "", ""})), Texts{"shop.order"});
}

TEST(KeptRows, KeepsNoMoreCellsThanAllowedAndSaysHowManyRowsThereAre) {
  KeptRows rows(orders(), 10, {}); // two rows of five cells
  EXPECT_EQ(rows.head()["kept"], 2);
  EXPECT_EQ(rows.head()["count"], 4);
  report::Table first = orders();
  first.row_count = 9; // the verb itself gives four of nine
  EXPECT_EQ(KeptRows(first, 1000, {}).head()["count"], 9);
  report::Table streamed = orders();
  streamed.row_count.reset();
  EXPECT_TRUE(KeptRows(streamed, 10, {}).head()["count"].is_null());
}

TEST(ExploredTables, AsksOnceForRowsAndShowsTablesOfText) {
  ExploredTables tables;
  int times = 0;
  auto answering = [&] {
    ++times;
    report::Answer answer;
    answer.command = "orders";
    answer.lead = "first\n\nsecond";
    answer.next_command = "dnheap stat core";
    answer.tables = {orders(), orders()};
    answer.tables[1].name = "data";
    answer.tables[1].shown = Shown::in_data;
    return answer;
  };
  const ordered_json all = tables.answer("orders", "", 2, {}, answering);
  EXPECT_EQ(all["lead"], (ordered_json{"first", "second"}));
  EXPECT_EQ(all["next"], "dnheap stat core");
  ASSERT_EQ(all["tables"].size(), 1u);
  EXPECT_EQ(all["tables"][0]["rows"].size(), 2u);
  EXPECT_EQ(tables.rows("orders", "orders", {0, 9, "bytes", ""}, {}, answering)["rows"][0][1], 200);
  EXPECT_EQ(times, 1);
  EXPECT_THROW(tables.rows("orders", "data", {}, {}, answering), NotFound);
  EXPECT_EQ(tables.answer("data", "data", 9, {}, answering)["tables"][0]["name"], "data");
  EXPECT_EQ(tables.answer("none", "no such", 9, {}, answering)["tables"].size(), 0u);
  for (const char *other : {"a", "b", "c"})
    tables.answer(other, "", 1, {}, answering);
  times = 0;
  tables.answer("orders", "", 1, {}, answering); // was given up for the others
  EXPECT_EQ(times, 1);
}

TEST(ExploredTables, GapsThatAreNotListedAreCounted) {
  for (const u64 gaps : {50, 52}) {
    ExploredTables tables;
    const ordered_json answer = tables.answer("stat", "", 10, {}, [&] {
      report::Answer out;
      out.completeness.emplace();
      for (u64 i = 0; i < gaps; ++i)
        out.completeness->gaps.push_back({0x1000 * i, 0x1000 * i + 8, "not in the dump"});
      out.completeness->more_gaps = gaps - 50;
      return out;
    });
    EXPECT_EQ(answer["gaps"].size(), 50u);
    EXPECT_EQ(answer["notes"].dump(), gaps == 50 ? "[]" : R"(["4 more gaps are not listed here"])");
  }
}

} // namespace
} // namespace dnheap::explore
