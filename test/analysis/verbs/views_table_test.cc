// The table of views of memory-mapped files: the holders that are in it.
#include "analysis/verbs/tables/views_table.h"
#include "support/opened.h"
#include "support/rows.h"

#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

// The holder of each row, and the table's notes.
std::vector<std::string> holders_of(u64 views, std::vector<std::string> &notes) {
  HeapBuilder heap({});
  heap.segment(GCSegmentGeneration::gen2).object(heap.object_type);
  Snapshot snapshot(heap.target(), {});
  snapshot.index();
  std::vector<MappedView> all;
  for (u64 i = 0; i < views; ++i)
    all.push_back({0, 0x10000 * i, 0x1000, 0, "/srv/tiles.bin"});
  report::Answer answer;
  answer.tables.push_back(views_table(snapshot, all, true));
  notes = answer.tables[0].notes;
  std::vector<std::string> out;
  for (TextRow &row : text_rows_of(answer, "views"))
    out.push_back(row["held_by"]);
  return out;
}

TEST(ViewsTable, HoldersThatWereNotLookedForAreUnknown) {
  std::vector<std::string> notes;
  EXPECT_EQ(holders_of(4096, notes), std::vector<std::string>{"(nobody)"});
  EXPECT_TRUE(notes.empty());
  EXPECT_EQ(holders_of(4098, notes), (std::vector<std::string>{"(nobody)", "(not looked for)"}));
  EXPECT_EQ(notes, std::vector<std::string>{"the holders of 2 views were not looked for"});
}

} // namespace
} // namespace dnheap::test
