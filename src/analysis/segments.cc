// `segments`: where does the heap lie? One row per region or segment, and the sums by generation.
#include "analysis/answer_head.h"
#include "analysis/type_filter.h"
#include "analysis/verbs.h"

#include <map>

namespace dnheap {

namespace {

using report::Cell;
using report::Kind;

Cell cell_of(std::optional<Address> address) { return address ? Cell(*address) : Cell(); }

report::Table segments_table(const Heap &heap, const HeapTally &tally, std::optional<u8> generation, bool verbose) {
  report::Table table;
  table.name = "segments";
  table.columns = {{"heap", "Heap", Kind::number},
                   {"generation", "Gen", Kind::text},
                   {"segment", "Segment", Kind::address, verbose ? report::Shown::everywhere : report::Shown::in_data},
                   {"start", "Start", Kind::address},
                   {"end", "End", Kind::address},
                   {"committed_end", "Committed end", Kind::address},
                   {"reserved_end", "Reserved end", Kind::address},
                   {"objects", "Objects", Kind::count},
                   {"bytes", "Bytes", Kind::bytes},
                   {"free_objects", "Free", Kind::count},
                   {"free_bytes", "Free bytes", Kind::bytes}};
  std::vector<report::Row> rows;
  for (u64 i = 0; i < heap.segments().size(); ++i) {
    const HeapSegment &s = heap.segments()[i];
    if (generation && static_cast<u8>(s.generation) != *generation)
      continue;
    const SegmentTally &t = tally.segments[i];
    rows.push_back({s.heap, name_of(s.generation), s.segment, s.start, s.end, cell_of(s.committed_end),
                    cell_of(s.reserved_end), t.objects.count, t.objects.aligned_bytes, t.free.count,
                    t.free.aligned_bytes});
  }
  table.row_count = rows.size();
  table.rows = report::rows_of(std::move(rows));
  return table;
}

struct Sum {
  u64 segments = 0, segment_bytes = 0;
  SegmentTally tally;

  void add(const Sum &other) {
    segments += other.segments;
    segment_bytes += other.segment_bytes;
    tally.objects.add(other.tally.objects);
    tally.free.add(other.tally.free);
  }
};

report::Row generation_row(Cell heap, u8 generation, const Sum &sum) {
  return {heap,
          name_of(static_cast<GCSegmentGeneration>(generation)),
          sum.segments,
          sum.tally.objects.count,
          sum.tally.objects.aligned_bytes,
          sum.tally.free.count,
          sum.tally.free.aligned_bytes,
          sum.segment_bytes};
}

report::Table generations_table(const Heap &heap, const HeapTally &tally, std::optional<u8> only) {
  report::Table table;
  table.name = "generations";
  table.columns = {{"heap", "Heap", Kind::text},
                   {"generation", "Gen", Kind::text},
                   {"segments", "Segments", Kind::count},
                   {"objects", "Objects", Kind::count},
                   {"bytes", "Bytes", Kind::bytes},
                   {"free_objects", "Free", Kind::count},
                   {"free_bytes", "Free bytes", Kind::bytes},
                   {"segment_bytes", "Segment bytes", Kind::bytes}};
  std::map<std::pair<u32, u8>, Sum> sums;
  std::map<u8, Sum> all;
  Sum total;
  u32 heaps = 0;
  for (u64 i = 0; i < heap.segments().size(); ++i) {
    const HeapSegment &s = heap.segments()[i];
    u8 g = static_cast<u8>(s.generation);
    heaps = std::max(heaps, s.heap + 1);
    if (only && g != *only)
      continue;
    Sum one{1, s.end - s.start, tally.segments[i]};
    sums[{s.heap, g}].add(one);
    all[g].add(one);
    total.add(one);
  }
  std::vector<report::Row> rows;
  if (heaps > 1)
    for (const auto &[key, sum] : sums)
      rows.push_back(generation_row(key.first, key.second, sum));
  for (const auto &[g, sum] : all)
    rows.push_back(generation_row("all", g, sum));
  table.row_count = rows.size();
  report::Row last = generation_row("all", 0, total);
  last[1] = "total";
  table.total = last;
  table.rows = report::rows_of(std::move(rows));
  return table;
}

} // namespace

report::Answer answer_segments(Snapshot &snapshot, const Question &question) {
  report::Answer answer = begin_answer(snapshot, question, "segments");
  std::optional<u8> generation = generation_of(question);
  answer.tables.push_back(segments_table(snapshot.heap(), snapshot.tally(), generation, question.verbose));
  answer.tables.push_back(generations_table(snapshot.heap(), snapshot.tally(), generation));
  answer.next_command = "dnheap stat " + shell_word(question.target);
  return answer;
}

} // namespace dnheap
