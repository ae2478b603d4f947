// `segments`: where is the heap in memory? One row per region or segment, and sums by generation.
#include "analysis/answer_head.h"
#include "analysis/filters/type_filter.h"
#include "analysis/verbs/verbs.h"
#include "base/text.h"
#include "report/columns_of.h"
#include "runtime/corert/gc_nf16.h"

#include <map>

namespace dnheap {

namespace {

using report::Cell;
using report::Kind;
using report::Shown;

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

// The data of the GC's own structure; absent where it has none.
struct SegmentStructure {
  Cell used, flags, flags_text, next, background_allocated, heap;
};

SegmentStructure structure_of(const Runtime &runtime, Address segment) {
  SegmentStructure out;
  try {
    if (const GcNf16 *gc = runtime.gc_nf16()) {
      out.next = gc->get_heap_segment(segment).next;
      return out;
    }
    const GCHeapSegmentData data = runtime.gc().get_heap_segment_data(segment);
    return {data.used, data.flags, flags_text(data.flags), data.next, data.background_allocated, data.heap};
  } catch (const Error &) { // already reported with the list of segments
    return out;
  }
}

report::Table segments_table(const Runtime &runtime, const Heap &heap, const HeapTally &tally,
                             std::optional<u8> generation, bool verbose) {
  const Shown in_detail = verbose ? Shown::everywhere : Shown::in_data;
  struct Segment : HeapSegment {
    const SegmentTally *tally;
    SegmentStructure structure;
  };
  std::vector<Segment> segments;
  for (u64 i = 0; i < heap.segments().size(); ++i)
    if (const HeapSegment &s = heap.segments()[i]; !generation || static_cast<u8>(s.generation) == *generation)
      segments.push_back({s, &tally.segments[i], structure_of(runtime, s.segment)});
  using S = Segment;
  return report::ColumnsOf<S>{
      {{"heap", "Heap", Kind::number}, &S::heap},
      {{"generation", "Gen", Kind::text}, [](const S &s) { return name_of(s.generation); }},
      {{"segment", "Segment", Kind::address, in_detail}, &S::segment},
      {{"start", "Start", Kind::address}, &S::start},
      {{"end", "End", Kind::address}, &S::end},
      {{"committed_end", "Committed end", Kind::address}, &S::committed_end},
      {{"reserved_end", "Reserved end", Kind::address}, &S::reserved_end},
      {{"objects", "Objects", Kind::count}, [](const S &s) { return s.tally->objects.count; }},
      {{"bytes", "Bytes", Kind::bytes}, [](const S &s) { return s.tally->objects.aligned_bytes; }},
      {{"free_objects", "Free", Kind::count}, [](const S &s) { return s.tally->free.count; }},
      {{"free_bytes", "Free bytes", Kind::bytes}, [](const S &s) { return s.tally->free.aligned_bytes; }},
      {{"used", "Used up to", Kind::address, in_detail}, [](const S &s) { return s.structure.used; }},
      {{"flags", "Flags", Kind::number, Shown::in_data}, [](const S &s) { return s.structure.flags; }},
      {{"flags_text", "Flags", Kind::text, in_detail}, [](const S &s) { return s.structure.flags_text; }},
      {{"next", "Next", Kind::address, in_detail}, [](const S &s) { return s.structure.next; }},
      {{"background_allocated", "Background allocated", Kind::address, in_detail},
       [](const S &s) { return s.structure.background_allocated; }},
      {{"gc_heap", "gc_heap", Kind::address, in_detail}, [](const S &s) { return s.structure.heap; }}}
      .table("segments", "", segments);
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

report::Table generations_table(const Heap &heap, const HeapTally &tally, std::optional<u8> only) {
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
  struct Line {
    Cell heap;
    const char *generation;
    Sum sum;
  };
  std::vector<Line> lines;
  auto name = [](u8 generation) { return name_of(static_cast<GCSegmentGeneration>(generation)); };
  if (heaps > 1)
    for (const auto &[key, sum] : sums)
      lines.push_back({key.first, name(key.second), sum});
  for (const auto &[g, sum] : all)
    lines.push_back({"all", name(g), sum});
  using L = Line;
  const report::ColumnsOf<L> columns = {
      {{"heap", "Heap", Kind::text}, &L::heap},
      {{"generation", "Gen", Kind::text}, &L::generation},
      {{"segments", "Segments", Kind::count}, [](const L &l) { return l.sum.segments; }},
      {{"objects", "Objects", Kind::count}, [](const L &l) { return l.sum.tally.objects.count; }},
      {{"bytes", "Bytes", Kind::bytes}, [](const L &l) { return l.sum.tally.objects.aligned_bytes; }},
      {{"free_objects", "Free", Kind::count}, [](const L &l) { return l.sum.tally.free.count; }},
      {{"free_bytes", "Free bytes", Kind::bytes}, [](const L &l) { return l.sum.tally.free.aligned_bytes; }},
      {{"segment_bytes", "Segment bytes", Kind::bytes}, [](const L &l) { return l.sum.segment_bytes; }}};
  report::Table table = columns.table("generations", "", lines);
  table.total = columns.row({"all", "total", total});
  return table;
}

} // namespace

report::Answer answer_segments(const Snapshot &snapshot, const Question &question) {
  report::Answer answer = begin_answer(snapshot, "segments", HeapSum::in_table);
  std::optional<u8> generation = generation_of(question);
  answer.tables.push_back(
      segments_table(snapshot.runtime(), snapshot.heap(), snapshot.tally(), generation, question.verbose));
  answer.tables.push_back(generations_table(snapshot.heap(), snapshot.tally(), generation));
  answer.next_command = "dnheap stat " + shell_word(question.target);
  return answer;
}

} // namespace dnheap
