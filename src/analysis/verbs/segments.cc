// `segments`: where is the heap in memory? One row per region or segment, and sums by generation.
#include "analysis/answer_head.h"
#include "analysis/filters/type_filter.h"
#include "analysis/verbs/verbs.h"
#include "base/text.h"
#include "runtime/corert/gc_nf16.h"

#include <map>

namespace dnheap {

namespace {

using report::Cell;
using report::Kind;

Cell cell_of(std::optional<Address> address) { return address ? Cell(*address) : Cell(); }

// Returns the names of heap_segment_flags_… in gc/gcpriv.h.
std::string flags_text(u64 flags) {
  struct Flag {
    u64 bit;
    const char *name;
  };
  static constexpr Flag known[] = {{1, "readonly"},
                                   {2, "inrange"},
                                   {8, "loh"},
                                   {16, "swept"},
                                   {32, "decommitted"},
                                   {64, "mark_array_committed"},
                                   {128, "mark_array_partly_committed"},
                                   {256, "uoh_delete"},
                                   {512, "poh"},
                                   {1024, "overflow"},
                                   {2048, "demoted"}};
  std::string out;
  for (const Flag &flag : known)
    if (flags & flag.bit) {
      out += (out.empty() ? "" : " ") + std::string(flag.name);
      flags &= ~flag.bit;
    }
  return flags ? out + (out.empty() ? "" : " ") + hex(flags) : out;
}

// Returns the structure's own data as cells: used, flags, in words, next, background_allocated, gc_heap.
std::vector<Cell> structure_cells(const Runtime &runtime, Address segment) {
  try {
    if (const GcNf16 *gc = runtime.gc_nf16())
      return {{}, {}, {}, gc->get_heap_segment(segment).next, {}, {}};
    const GCHeapSegmentData data = runtime.gc().get_heap_segment_data(segment);
    return {data.used,         data.flags, flags_text(data.flags), data.next, cell_of(data.background_allocated),
            cell_of(data.heap)};
  } catch (const Error &) { // already reported with the list of segments
    return std::vector<Cell>(6);
  }
}

report::Table segments_table(const Runtime &runtime, const Heap &heap, const HeapTally &tally,
                             std::optional<u8> generation, bool verbose) {
  const report::Shown structure = verbose ? report::Shown::everywhere : report::Shown::in_data;
  report::Table table;
  table.name = "segments";
  table.columns = {{"heap", "Heap", Kind::number},
                   {"generation", "Gen", Kind::text},
                   {"segment", "Segment", Kind::address, structure},
                   {"start", "Start", Kind::address},
                   {"end", "End", Kind::address},
                   {"committed_end", "Committed end", Kind::address},
                   {"reserved_end", "Reserved end", Kind::address},
                   {"objects", "Objects", Kind::count},
                   {"bytes", "Bytes", Kind::bytes},
                   {"free_objects", "Free", Kind::count},
                   {"free_bytes", "Free bytes", Kind::bytes},
                   {"used", "Used up to", Kind::address, structure},
                   {"flags", "Flags", Kind::number, report::Shown::in_data},
                   {"flags_text", "Flags", Kind::text, structure},
                   {"next", "Next", Kind::address, structure},
                   {"background_allocated", "Background allocated", Kind::address, structure},
                   {"gc_heap", "gc_heap", Kind::address, structure}};
  std::vector<report::Row> rows;
  for (u64 i = 0; i < heap.segments().size(); ++i) {
    const HeapSegment &s = heap.segments()[i];
    if (generation && static_cast<u8>(s.generation) != *generation)
      continue;
    const SegmentTally &t = tally.segments[i];
    rows.push_back({s.heap, name_of(s.generation), s.segment, s.start, s.end, cell_of(s.committed_end),
                    cell_of(s.reserved_end), t.objects.count, t.objects.aligned_bytes, t.free.count,
                    t.free.aligned_bytes});
    for (Cell &cell : structure_cells(runtime, s.segment))
      rows.back().push_back(std::move(cell));
  }
  table.set_rows(std::move(rows));
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
  report::Row last = generation_row("all", 0, total);
  last[1] = "total";
  table.total = last;
  table.set_rows(std::move(rows));
  return table;
}

} // namespace

report::Answer answer_segments(Snapshot &snapshot, const Question &question) {
  report::Answer answer = begin_answer(snapshot, "segments", HeapSum::in_table);
  std::optional<u8> generation = generation_of(question);
  answer.tables.push_back(
      segments_table(snapshot.runtime(), snapshot.heap(), snapshot.tally(), generation, question.verbose));
  answer.tables.push_back(generations_table(snapshot.heap(), snapshot.tally(), generation));
  answer.next_command = "dnheap stat " + shell_word(question.target);
  return answer;
}

} // namespace dnheap
