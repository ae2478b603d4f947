#include "analysis/verbs/tables/gc_corert.h"

#include "analysis/verbs/tables/gc_tables.h"
#include "base/text.h"

namespace dnheap {

namespace {

using report::Cell;

// The last generation has the large objects.
std::string generation_name(u64 generation, u64 count) {
  return generation + 1 == count ? "loh" : "gen" + std::to_string(generation);
}

report::Table state_table(const Runtime &runtime, const GcNf16 &nf16, const std::optional<WorkstationGcNf16> &gc,
                          Notes &problems) {
  std::vector<GcStateLine> lines;
  auto add = [&](const char *datum, Cell value, Cell raw = {}) {
    lines.push_back({datum, std::move(value), "", std::move(raw)});
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
  return gc_state_table(lines);
}

report::Table heaps_table(const GcNf16 &gc) {
  return gc_heaps_table({{0, Cell(), gc.get_alloc_allocated(), gc.get_ephemeral_heap_segment(), Cell()}});
}

report::Table generations_table(const GcNf16 &gc) {
  const std::vector<GenerationNf16> generations = gc.get_generation_table();
  std::vector<GcGenerationLine> lines;
  for (u64 i = 0; i < generations.size(); ++i) {
    const GenerationNf16 &g = generations[i];
    lines.push_back({0, generation_name(i, generations.size()), g.start_segment, g.allocation_start,
                     g.allocation_context.pointer, g.allocation_context.limit});
  }
  return gc_generations_table(lines);
}

} // namespace

std::vector<report::Table> corert_gc_tables(const Runtime &runtime, const GcNf16 &nf16, Notes &problems) {
  std::optional<WorkstationGcNf16> gc;
  if (const std::string &problem = nf16.workstation_gc_problem(); problem.empty())
    gc = nf16.workstation_gc();
  else
    problems.add(Subject::gc, Effect::numbers, problem);
  std::vector<report::Table> out;
  auto add = [&](auto table) {
    try {
      out.push_back(table());
    } catch (const Error &e) {
      problems.add(Subject::gc, Effect::numbers, "", e);
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
