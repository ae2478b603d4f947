#include "analysis/verbs/gc_corert.h"

#include "base/text.h"

namespace dnheap {

namespace {

using report::Cell;
using report::Kind;

report::Table table_of(const char *name, const char *title, std::vector<report::Column> columns,
                       std::vector<report::Row> rows) {
  report::Table table;
  table.name = name;
  table.title = title;
  table.columns = std::move(columns);
  table.set_rows(std::move(rows));
  return table;
}

// The last generation has the large objects.
std::string generation_name(u64 generation, u64 count) {
  return generation + 1 == count ? "loh" : "gen" + std::to_string(generation);
}

report::Table state_table(const Runtime &runtime, const GcNf16 &nf16, const std::optional<WorkstationGcNf16> &gc,
                          std::vector<std::string> &problems) {
  std::vector<report::Row> rows;
  auto add = [&](const char *datum, Cell value, Cell raw = {}) {
    rows.push_back({datum, std::move(value), "", std::move(raw)});
  };
  add("identifiers", "workstation, segments");
  add("heaps", "1");
  add("max_generation", gc ? Cell(std::to_string(gc->number_generations - 2)) : Cell());
  const std::optional<bool> valid = runtime.gc_structures_valid(problems);
  add("structures_valid", valid ? Cell(*valid ? "true" : "false") : Cell());
  if (gc) {
    add("number_generations", std::to_string(gc->number_generations), gc->number_generations);
    add("min_object_size", std::to_string(gc->min_object_size), gc->min_object_size);
    const auto [low, high] = nf16.get_allocation_context_bounds();
    add("context_bounds_low", hex(low));
    add("context_bounds_high", hex(high));
  }
  return table_of("state", "The GC",
                  {{"datum", "Datum", Kind::text},
                   {"value", "Value", Kind::text},
                   {"meaning", "Meaning", Kind::text, report::Shown::in_text, true},
                   {"raw", "", Kind::number, report::Shown::in_data}},
                  std::move(rows));
}

report::Table heaps_table(const GcNf16 &gc) {
  return table_of("heaps", "Heaps",
                  {{"heap", "Heap", Kind::number},
                   {"address", "gc_heap", Kind::address},
                   {"alloc_allocated", "Allocated up to", Kind::address},
                   {"ephemeral_segment", "Ephemeral segment", Kind::address},
                   {"card_table", "Card table", Kind::address}},
                  {{0u, Cell(), gc.get_alloc_allocated(), gc.get_ephemeral_heap_segment(), Cell()}});
}

report::Table generations_table(const GcNf16 &gc) {
  const std::vector<GenerationNf16> generations = gc.get_generation_table();
  std::vector<report::Row> rows;
  for (u64 i = 0; i < generations.size(); ++i) {
    const GenerationNf16 &g = generations[i];
    rows.push_back({0u, generation_name(i, generations.size()), g.start_segment, g.allocation_start,
                    g.allocation_context.pointer, g.allocation_context.limit});
  }
  return table_of("generations", "Generations",
                  {{"heap", "Heap", Kind::number},
                   {"generation", "Gen", Kind::text},
                   {"start_segment", "First segment", Kind::address},
                   {"allocation_start", "Starts at", Kind::address},
                   {"context_pointer", "Context from", Kind::address},
                   {"context_limit", "Context to", Kind::address}},
                  std::move(rows));
}

} // namespace

std::vector<report::Table> corert_gc_tables(const Runtime &runtime, const GcNf16 &nf16,
                                            std::vector<std::string> &problems) {
  std::optional<WorkstationGcNf16> gc;
  if (const std::string &problem = nf16.workstation_gc_problem(); problem.empty())
    gc = nf16.workstation_gc();
  else
    problems.push_back(problem);
  std::vector<report::Table> out;
  auto add = [&](auto table) {
    try {
      out.push_back(table());
    } catch (const Error &e) {
      problems.push_back(e.what());
    }
  };
  add([&] { return state_table(runtime, nf16, gc, problems); });
  if (gc) {
    add([&] { return heaps_table(nf16); });
    add([&] { return generations_table(nf16); });
  }
  return out;
}

} // namespace dnheap
