#include "report/stored_rows.h"
#include "report/write.h"

#include <gtest/gtest.h>

namespace dnheap::report {
namespace {

// Rows with a cell of every kind, whose texts go away with the source.
Answer answer_of(u64 rows) {
  Answer answer;
  answer.command = "test";
  Table table;
  table.name = "rows";
  table.columns = {{"a", "A", Kind::address}, {"b", "B", Kind::number}, {"c", "C", Kind::number},
                   {"d", "D", Kind::boolean}, {"e", "E", Kind::text},   {"f", "F", Kind::text},
                   {"g", "G", Kind::boolean}};
  auto texts = std::make_shared<std::vector<std::string>>();
  for (u64 i = 0; i < 1000; ++i)
    texts->push_back("type " + std::to_string(i));
  table.rows = [rows, texts, at = u64{0}](Row &row) mutable {
    if (at == rows)
      return false;
    row[0] = at * 8;
    row[1] = -static_cast<i64>(at);
    row[2] = static_cast<double>(at) / 4;
    row[3] = at % 2 == 0;
    row[4] = Cell::borrowed((*texts)[at % 1000]);
    if (at % 3)
      row[5] = std::string("own");
    row[6] = true;
    ++at;
    return true;
  };
  answer.tables.push_back(std::move(table));
  return answer;
}

std::string json(const Answer &answer, u64 top = 0) {
  std::string out;
  Sink sink(out);
  WriteOptions options;
  options.top = top;
  write_json(answer, options, sink);
  return out;
}

TEST(StoredRows, AreTheRows) {
  for (u64 rows : {0u, 1u, 10000u, 10001u, 300000u}) {
    Answer stored = answer_of(rows);
    store_rows(stored, 0, "", {});
    EXPECT_TRUE(json(stored) == json(answer_of(rows))) << rows;
  }
}

TEST(StoredRows, NoMoreThanWillBeShownArePulled) {
  for (u64 top : {5u, 20000u}) {
    Answer answer = answer_of(100000);
    u64 pulled = 0;
    answer.tables[0].rows = [&pulled, rows = std::move(answer.tables[0].rows)](Row &row) {
      ++pulled;
      return rows(row);
    };
    store_rows(answer, top, "", {});
    EXPECT_EQ(pulled, top + 1) << "one more, to tell that there are more";
    EXPECT_TRUE(json(answer, top) == json(answer_of(100000), top));
  }
}

TEST(StoredRows, NestedCellsStayInMemory) {
  Answer answer;
  Table table;
  table.name = "rows";
  table.columns = {{"a", "A", Kind::nested}};
  table.rows = [at = u64{0}](Row &row) mutable {
    row[0] = std::vector<Cell>{Cell(at)};
    return at++ < 12000;
  };
  answer.tables.push_back(std::move(table));
  store_rows(answer, 0, "", {});
  u64 count = 0;
  for (Row row(1); answer.tables[0].rows(row); ++count)
    EXPECT_NE(row[0].get_if<std::vector<Cell>>(), nullptr);
  EXPECT_EQ(count, 12000u);
}

} // namespace
} // namespace dnheap::report
