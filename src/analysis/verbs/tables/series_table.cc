#include "analysis/verbs/tables/series_table.h"

#include "heap/gcdesc.h"

namespace dnheap {

using report::Cell;
using report::Kind;

report::Table series_table(const Runtime &runtime, Address method_table) {
  report::Table table;
  table.name = "series";
  table.title = "Where references lie (GCDesc)";
  table.whole = true;
  table.columns = {{"offset", "Offset", Kind::number},
                   {"references", "References", Kind::count},
                   {"skip", "Bytes to skip", Kind::number},
                   {"grows", "Grows with the object", Kind::boolean}};
  std::vector<report::Row> rows;
  const Memory &memory = runtime.memory();
  const u32 p = memory.format().pointer_size;
  std::optional<ObjectLayout> layout = runtime.types().object_layout(method_table);
  if (layout && layout->contains_gc_pointers) {
    std::optional<GCDesc> desc = GCDesc::at(memory, method_table, layout->base_size, layout->component_size);
    if (!desc)
      table.notes.push_back("the type's GCDesc is damaged, or not in this dump");
    const bool repeats = desc && desc->repeats_from();
    for (const GCDesc::Run &run : desc ? desc->runs() : std::span<const GCDesc::Run>())
      rows.push_back(
          {repeats ? Cell() : Cell(run.offset), run.bytes / p, repeats ? Cell(run.offset) : Cell(), run.grows});
    if (repeats && !rows.empty()) {
      rows.front()[0] = *desc->repeats_from();
      table.notes.push_back("the runs repeat from element to element");
    }
  }
  table.set_rows(std::move(rows));
  return table;
}

} // namespace dnheap
