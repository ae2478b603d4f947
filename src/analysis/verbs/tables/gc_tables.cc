#include "analysis/verbs/tables/gc_tables.h"

#include "report/columns_of.h"

namespace dnheap {

using report::ColumnsOf;
using report::Kind;
using report::Shown;

report::Table gc_state_table(const std::vector<GcStateLine> &lines) {
  using L = GcStateLine;
  return ColumnsOf<L>{{{"datum", "Datum", Kind::text}, &L::datum},
                      {{"value", "Value", Kind::text}, &L::value},
                      {{"meaning", "Meaning", Kind::text, Shown::in_text, true}, &L::meaning},
                      {{"raw", "", Kind::number, Shown::in_data}, &L::raw}}
      .table("state", "The GC", lines);
}

report::Table gc_heaps_table(const std::vector<GcHeapLine> &lines) {
  using L = GcHeapLine;
  return ColumnsOf<L>{{{"heap", "Heap", Kind::number}, &L::heap},
                      {{"address", "gc_heap", Kind::address}, &L::address},
                      {{"alloc_allocated", "Allocated up to", Kind::address}, &L::alloc_allocated},
                      {{"ephemeral_segment", "Ephemeral segment", Kind::address}, &L::ephemeral_segment},
                      {{"card_table", "Card table", Kind::address}, &L::card_table}}
      .table("heaps", "Heaps", lines);
}

report::Table gc_generations_table(const std::vector<GcGenerationLine> &lines) {
  using L = GcGenerationLine;
  return ColumnsOf<L>{{{"heap", "Heap", Kind::number}, &L::heap},
                      {{"generation", "Gen", Kind::text}, &L::generation},
                      {{"start_segment", "First segment", Kind::address}, &L::start_segment},
                      {{"allocation_start", "Starts at", Kind::address}, &L::allocation_start},
                      {{"context_pointer", "Context from", Kind::address}, &L::context_pointer},
                      {{"context_limit", "Context to", Kind::address}, &L::context_limit}}
      .table("generations", "Generations", lines);
}

} // namespace dnheap
