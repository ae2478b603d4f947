#include "base/error.h"
#include "report/columns_of.h"

#include <gtest/gtest.h>

namespace dnheap::report {
namespace {

struct Fruit {
  std::string name;
  u64 count = 0;
  bool is_plenty() const { return count > 10; }
};

const ColumnsOf<Fruit> fruit_columns = {{{"name", "Name", Kind::text}, &Fruit::name},
                                        {{"twice", "Twice", Kind::count}, [](const Fruit &f) { return 2 * f.count; }},
                                        {{"plenty", "", Kind::boolean, Shown::in_data}, &Fruit::is_plenty}};

void expect_row(const Row &row, std::string_view name, u64 twice, bool plenty) {
  ASSERT_EQ(row.size(), 3u);
  EXPECT_EQ(row[0].text(), name);
  ASSERT_TRUE(row[1].get_if<u64>());
  EXPECT_EQ(*row[1].get_if<u64>(), twice);
  ASSERT_TRUE(row[2].get_if<bool>());
  EXPECT_EQ(*row[2].get_if<bool>(), plenty);
}

TEST(ColumnsOf, MakesOneRowForEachItemOrPointerToOne) {
  const std::vector<Fruit> fruits = {{"apple", 3}, {"pear", 30}};
  const std::vector<const Fruit *> sorted = {&fruits[1], &fruits[0]};
  Table by_item = fruit_columns.table("fruits", "Fruits", fruits), by_pointer = fruit_columns.table("", "", sorted);
  EXPECT_EQ(by_item.name, "fruits");
  EXPECT_EQ(by_item.title, "Fruits");
  EXPECT_EQ(by_item.column("plenty"), 2u);
  EXPECT_EQ(by_item.row_count, 2u);
  Row row;
  ASSERT_TRUE(by_item.rows(row));
  expect_row(row, "apple", 6, false);
  ASSERT_TRUE(by_pointer.rows(row));
  expect_row(row, "pear", 60, true);
}

TEST(ColumnsOf, AddsColumnsAtTheEnd) {
  ColumnsOf<Fruit> columns = fruit_columns;
  columns.add({{"initial", "", Kind::text}, [](const Fruit &f) { return f.name.substr(0, 1); }});
  EXPECT_EQ(columns.table("", "", std::vector<Fruit>()).column("initial"), 3u);
  EXPECT_EQ(columns.row({"fig", 1})[3].text(), "f");
}

TEST(ColumnsOf, OneRowHasTheCellsOfItsColumns) {
  Table table = one_row("object", {{{"size", "", Kind::bytes}, 24u}, {{"type", "", Kind::text}, Cell()}});
  EXPECT_EQ(table.row_count, 1u);
  Row row;
  ASSERT_TRUE(table.rows(row));
  EXPECT_EQ(*row[table.column("size")].get_if<u64>(), 24u);
  EXPECT_TRUE(row[table.column("type")].is_absent());
}

TEST(ColumnsOf, TotalsGoByKeyAndUnknownKeysAreErrors) {
  const Table table = fruit_columns.table("", "", std::vector<Fruit>());
  const Row total = total_row(table, {{"twice", 5u}});
  EXPECT_TRUE(total[0].is_absent());
  EXPECT_EQ(*total[1].get_if<u64>(), 5u);
  EXPECT_THROW(total_row(table, {{"thrice", 5u}}), Error);
}

} // namespace
} // namespace dnheap::report
