#include "report/table.h"

#include <gtest/gtest.h>

namespace dnheap::report {
namespace {

TEST(Table, FindsColumnsByKey) {
  Table table;
  table.columns = {{"a", "A"}, {"b", "B"}};
  EXPECT_EQ(table.find_column("b"), 1u);
  EXPECT_FALSE(table.find_column("B"));
  EXPECT_EQ(table.column("b"), 1u);
  EXPECT_THROW(table.column("B"), Error);
}

TEST(Table, RowsOfGivesEachRowOnce) {
  RowSource source = rows_of({{1u}, {2u}});
  RowSource copy = source;
  Row row;
  EXPECT_TRUE(source(row));
  EXPECT_EQ(*row[0].get_if<u64>(), 1u);
  EXPECT_TRUE(copy(row));
  EXPECT_EQ(*row[0].get_if<u64>(), 2u);
  EXPECT_FALSE(source(row));
}

TEST(Table, ComparesNumbersOfEveryType) {
  EXPECT_LT(compare(-1, 0u), 0);
  EXPECT_LT(compare(-2, -1), 0);
  EXPECT_EQ(compare(5, 5u), 0);
  EXPECT_GT(compare(5.5, 5u), 0);
  EXPECT_GT(compare(~u64{0}, i64{1}), 0);
  EXPECT_GT(compare(~u64{0}, ~u64{0} - 1), 0); // equal as doubles
  EXPECT_LT(compare({}, -5), 0);
  EXPECT_LT(compare("10", "9"), 0);
  EXPECT_LT(compare(9u, "10"), 0);
  EXPECT_EQ(compare(Cell::borrowed("a"), "a"), 0);
}

TEST(Table, SortsNumbersDownAndTextsUp) {
  std::vector<Row> rows = {{1u, "b", "first"}, {3u, "a", ""}, {1u, "c", "second"}, {{}, "d", ""}};
  sort_rows(rows, 0);
  EXPECT_EQ(*rows[0][0].get_if<u64>(), 3u);
  EXPECT_EQ(*rows[1][2].text(), "first");
  EXPECT_EQ(*rows[2][2].text(), "second");
  EXPECT_TRUE(rows[3][0].is_absent());
  sort_rows(rows, 1);
  EXPECT_EQ(*rows[0][1].text(), "a");
  EXPECT_EQ(*rows[3][1].text(), "d");
}

} // namespace
} // namespace dnheap::report
