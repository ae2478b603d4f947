// The tables of `gc` that all runtimes have: the GC's state, its heaps and their generations. For the files of this
// folder, which read these values in their own ways. Costs little; throws nothing of its own. Not for several threads
// at once.
#pragma once
#include "report/table.h"

namespace dnheap {

// `raw`: the runtime's number, if `value` is a word that stands for one.
struct GcStateLine {
  const char *datum;
  report::Cell value;
  const char *meaning = "";
  report::Cell raw = {};
};
report::Table gc_state_table(const std::vector<GcStateLine> &lines);

struct GcHeapLine {
  u32 heap;
  report::Cell address, alloc_allocated, ephemeral_segment, card_table;
};
report::Table gc_heaps_table(const std::vector<GcHeapLine> &lines);

struct GcGenerationLine {
  u32 heap;
  std::string generation;
  Address start_segment;
  std::optional<Address> allocation_start;
  Address context_pointer, context_limit;
};
report::Table gc_generations_table(const std::vector<GcGenerationLine> &lines);

} // namespace dnheap
