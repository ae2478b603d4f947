#include "runtime/runtime.h"

#include "base/text.h"

namespace dnheap {

void Runtime::require_heap() const {
  std::vector<std::string> problems;
  u64 total = 0, known = 0;
  for (Address heap : gc_.get_gc_heaps())
    for (const GCHeapSegmentInfo &s : gc_.enumerate_heap_segments(gc_.get_heap_data(heap), problems)) {
      bool sound = s.start < s.end && s.end <= s.committed_end && s.committed_end <= s.reserved_end;
      if (!sound || s.generation == GCSegmentGeneration::frozen)
        continue;
      total += s.end - s.start;
      known += memory().known_bytes(s.start, s.end);
    }
  bool no_segment = total == 0 && !problems.empty(); // not even the lists of segments are there
  if (no_segment || known < total / 16)
    throw Error((no_segment ? "the dump holds nothing of the managed heap"
                            : "the dump holds " + bytes_text(known) + " of the managed heap's " + bytes_text(total)) +
                ": it is of a kind without heap (createdump --normal or --triage, DOTNET_DbgMiniDumpType 1 or 3); take "
                "one with createdump --withheap PID, or with DOTNET_DbgMiniDumpType=2");
}

} // namespace dnheap
