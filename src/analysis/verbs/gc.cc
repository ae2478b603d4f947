// `gc`: what does the GC record about itself? Shows all data of the GC contract except objects and handles, and the
// settings that the process was started with. Needs no walk of the heap, so it also answers if none is possible.
#include "analysis/answer_head.h"
#include "analysis/missing_parts.h"
#include "analysis/shapes/gc_settings.h"
#include "analysis/verbs/gc_corert.h"
#include "analysis/verbs/verbs.h"
#include "analysis/verdict/oom_text.h"
#include "base/text.h"
#include "runtime/gc/gc_mechanisms_1.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace dnheap {

namespace {

using report::Cell;
using report::Kind;
using report::Shown;

report::Table table_of(const char *name, const char *title, std::vector<report::Column> columns,
                       std::vector<report::Row> rows) {
  report::Table table;
  table.name = name;
  table.title = title;
  table.columns = std::move(columns);
  table.set_rows(std::move(rows));
  return table;
}

// One heap with its readable data.
struct OneHeap {
  u32 number = 0;
  GCHeapData data;
};

std::vector<OneHeap> all_heaps(const Gc &gc, std::vector<std::string> &problems) {
  std::vector<OneHeap> out;
  std::vector<Address> heaps = gc.get_gc_heaps();
  for (u32 i = 0; i < heaps.size(); ++i)
    try {
      out.push_back({i, gc.get_heap_data(heaps[i])});
    } catch (const Error &e) {
      problems.push_back("heap " + std::to_string(i) + ": " + e.what());
    }
  return out;
}

// True if objects have survived a collection: only those are in gen1 and gen2.
bool has_collected(const Gc &gc, const std::vector<OneHeap> &heaps) {
  constexpr u64 first_object = 256; // a generation's first object begins within so many bytes
  std::vector<std::string> ignored;
  for (const OneHeap &heap : heaps)
    for (const GCHeapSegmentInfo &s : gc.enumerate_heap_segments(heap.data, ignored))
      if ((s.generation == GCSegmentGeneration::gen1 || s.generation == GCSegmentGeneration::gen2) &&
          s.start + first_object < s.end)
        return true;
  return false;
}

// True if the GC counts its mechanisms. Some GCs are built without these counts (GC_CONFIG_DRIVEN, gc/gcconfig.h), for
// example NativeAOT's and the standalone ones: they have no arrays, or arrays that stay zero.
bool records_mechanisms(const Gc &gc, const std::vector<OneHeap> &heaps) {
  bool any_array = false, any_count = false;
  auto look = [&](const std::optional<std::vector<u64>> &counts) {
    any_array |= counts.has_value();
    any_count |= counts && std::any_of(counts->begin(), counts->end(), [](u64 count) { return count != 0; });
  };
  look(gc.get_global_mechanisms());
  for (const auto &[number, h] : heaps)
    for (const auto *counts :
         {&h.compact_reasons, &h.expand_mechanisms, &h.interesting_data, &h.interesting_mechanism_bits})
      look(*counts);
  return any_count || (any_array && !has_collected(gc, heaps));
}

report::Table state_table(const Gc &gc, bool mechanisms, std::vector<std::string> &problems) {
  std::vector<report::Row> rows;
  // `value` returns a text or nullopt; unreadable values are absent, with a note. `raw`: the number for the word.
  auto add = [&](const char *datum, const char *meaning, const auto &value, Cell raw = {}) {
    Cell cell;
    try {
      cell = Cell(std::optional<std::string>(value()));
    } catch (const Error &e) {
      problems.push_back(e.what());
    }
    rows.push_back({datum, cell, meaning, raw});
  };
  using Text = std::optional<std::string>;
  add("identifiers", "kind of GC", [&] {
    std::string out;
    for (const std::string &id : gc.get_gc_identifiers())
      out += (out.empty() ? "" : ", ") + id;
    return out;
  });
  add("heaps", "", [&] { return std::to_string(gc.get_gc_heap_count()); });
  add("max_generation", "", [&] { return std::to_string(gc.get_max_generation()); });
  add("structures_valid", "false: taken inside a collection, and what follows may be wrong in places",
      [&] { return gc.get_gc_structures_valid() ? "true" : "false"; });
  std::optional<std::pair<Address, Address>> bounds = gc.get_gc_bounds();
  add("lowest_address", "of all that the GC manages", [&] { return bounds ? Text(hex(bounds->first)) : Text(); });
  add("highest_address", "", [&] { return bounds ? Text(hex(bounds->second)) : Text(); });
  const std::optional<u32> state = gc.get_current_gc_state();
  add(
      "background_gc", "free: none is running", [&] { return state ? Text(gc_state_name(*state)) : Text(); }, state);
  const std::optional<i32> mode = gc.try_get_gc_dynamic_adaptation_mode();
  add(
      "dynamic_adaptation", "whether the number of heaps follows the load",
      [&] { return mode ? Text(dynamic_adaptation_mode_name(*mode)) : Text(); }, mode);
  add("mechanisms", "whether this GC counts what it did", [&] { return mechanisms ? "recorded" : "not recorded"; });
  auto context = [&](Address AllocationContext::*member) {
    std::optional<AllocationContext> found = gc.get_global_allocation_context();
    return found ? Text(hex((*found).*member)) : Text();
  };
  add("global_context_pointer", "of threads without their own", [&] { return context(&AllocationContext::pointer); });
  add("global_context_limit", "", [&] { return context(&AllocationContext::limit); });
  return table_of("state", "The GC",
                  {{"datum", "Datum", Kind::text},
                   {"value", "Value", Kind::text},
                   {"meaning", "Meaning", Kind::text, Shown::in_text, true},
                   {"raw", "", Kind::number, Shown::in_data}},
                  std::move(rows));
}

report::Table heaps_table(const std::vector<OneHeap> &heaps) {
  std::vector<report::Row> rows;
  for (const auto &[number, h] : heaps)
    rows.push_back(
        {number, h.address ? Cell(h.address) : Cell(), h.alloc_allocated, h.ephemeral_heap_segment, h.card_table});
  return table_of("heaps", "Heaps",
                  {{"heap", "Heap", Kind::number},
                   {"address", "gc_heap", Kind::address},
                   {"alloc_allocated", "Allocated up to", Kind::address},
                   {"ephemeral_segment", "Ephemeral segment", Kind::address},
                   {"card_table", "Card table", Kind::address}},
                  std::move(rows));
}

std::string generation_name(u64 generation) {
  static constexpr const char *names[] = {"gen0", "gen1", "gen2", "loh", "poh"};
  return generation < std::size(names) ? names[generation] : "generation " + std::to_string(generation);
}

report::Table generations_table(const std::vector<OneHeap> &heaps) {
  std::vector<report::Row> rows;
  for (const auto &[number, h] : heaps)
    for (u64 g = 0; g < h.generation_table.size(); ++g) {
      const GCGenerationData &data = h.generation_table[g];
      rows.push_back({number, generation_name(g), data.start_segment, data.allocation_start,
                      data.allocation_context_pointer, data.allocation_context_limit});
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

report::Table background_table(const std::vector<OneHeap> &heaps) {
  std::vector<report::Row> rows;
  for (const auto &[number, h] : heaps)
    rows.push_back({number, h.mark_array, h.background_saved_min_address, h.background_saved_max_address,
                    h.next_sweep_object, h.saved_sweep_ephemeral_segment, h.saved_sweep_ephemeral_start});
  return table_of("background", "Background collection",
                  {{"heap", "Heap", Kind::number},
                   {"mark_array", "Mark array", Kind::address},
                   {"saved_min_address", "Saved lowest", Kind::address},
                   {"saved_max_address", "Saved highest", Kind::address},
                   {"next_sweep_object", "Next to sweep", Kind::address},
                   {"saved_sweep_ephemeral_segment", "Ephemeral segment", Kind::address},
                   {"saved_sweep_ephemeral_start", "… from", Kind::address}},
                  std::move(rows));
}

report::Table finalization_table(const std::vector<OneHeap> &heaps, u64 pointer_size) {
  std::vector<report::Row> rows;
  for (const auto &[number, h] : heaps)
    for (const GCFinalizeQueuePart &part : finalize_queue_parts(h))
      rows.push_back({number, part.name, (part.end - part.start) / pointer_size, part.start, part.end});
  report::Table table = table_of("finalization", "Finalization queue",
                                 {{"heap", "Heap", Kind::number},
                                  {"part", "Part", Kind::text},
                                  {"objects", "Objects", Kind::count},
                                  {"start", "From", Kind::address},
                                  {"end", "To", Kind::address}},
                                 std::move(rows));
  table.notes = {"by generation: alive when last looked at; critical and ready: unreachable, their finalizers are due"};
  return table;
}

report::Table internal_roots_table(const std::vector<OneHeap> &heaps) {
  std::vector<report::Row> rows;
  for (const auto &[number, h] : heaps)
    rows.push_back({number, h.internal_root_array, h.internal_root_array_index,
                    h.heap_analyze_success ? Cell(*h.heap_analyze_success) : Cell()});
  return table_of("internal_roots", "Internal root array",
                  {{"heap", "Heap", Kind::number},
                   {"array", "Array", Kind::address},
                   {"index", "Filled", Kind::count},
                   {"analyze_success", "Analysis succeeded", Kind::boolean}},
                  std::move(rows));
}

report::Table mechanisms_table(const Gc &gc, const std::vector<OneHeap> &heaps, bool recorded) {
  std::vector<report::Row> rows;
  auto add = [&](const Cell &heap, const char *group, const std::optional<std::vector<u64>> &counts,
                 std::string (*name)(u64)) {
    for (u64 i = 0; counts && i < counts->size(); ++i)
      rows.push_back({heap, group, name(i), recorded ? Cell((*counts)[i]) : Cell(), i});
  };
  add("all", "global_mechanism", gc.get_global_mechanisms(), global_mechanism_name);
  for (const auto &[number, h] : heaps) {
    add(number, "compact_reason", h.compact_reasons, compact_reason_name);
    add(number, "expand_mechanism", h.expand_mechanisms, expand_mechanism_name);
    add(number, "interesting_data", h.interesting_data, interesting_data_point_name);
    add(number, "mechanism", h.interesting_mechanism_bits, interesting_mechanism_name);
  }
  report::Table table = table_of("mechanisms", "Mechanisms",
                                 {{"heap", "Heap", Kind::text},
                                  {"group", "Group", Kind::text},
                                  {"name", "Name", Kind::text},
                                  {"count", "Count", Kind::count},
                                  {"index", "", Kind::number, Shown::in_data}},
                                 std::move(rows));
  table.notes = {recorded ? "how often, in blocking collections since the process started"
                          : "not recorded: this GC has collected, and counts none of this"};
  return table;
}

// Lists the allocation contexts of threads and generations, and the global ones.
report::Table contexts_table(const Runtime &runtime, const std::vector<OneHeap> &heaps,
                             std::vector<std::string> &problems) {
  std::vector<report::Row> rows;
  auto add = [&](const char *owner, Cell os_id, Cell managed_id, Cell thread, Cell heap, Cell generation,
                 const AllocationContext &c, Cell bytes, Cell other_bytes) {
    rows.push_back({owner, std::move(os_id), std::move(managed_id), std::move(thread), std::move(heap),
                    std::move(generation), c.pointer, c.limit,
                    c.limit >= c.pointer ? Cell(c.limit - c.pointer) : Cell(), std::move(bytes),
                    std::move(other_bytes)});
  };
  try {
    for (const ThreadData &t : runtime.threads(problems))
      add("thread", t.os_id, t.managed_id, t.address, {}, {}, t.allocation_context, t.alloc_bytes, t.alloc_bytes_uoh);
  } catch (const Error &e) {
    problems.push_back(std::string("threads: ") + e.what());
  }
  for (const auto &[number, h] : heaps)
    for (u64 g = 0; g < h.generation_table.size(); ++g)
      add("generation", {}, {}, {}, number, generation_name(g),
          {h.generation_table[g].allocation_context_pointer, h.generation_table[g].allocation_context_limit}, {}, {});
  try {
    if (std::optional<AllocationContext> global = runtime.gc().get_global_allocation_context())
      add("all others", {}, {}, {}, {}, {}, *global, {}, {});
  } catch (const Error &e) {
    problems.push_back(e.what());
  }
  report::Table table = table_of("contexts", "Allocation contexts",
                                 {{"owner", "Owner", Kind::text},
                                  {"os_id", "Thread", Kind::number},
                                  {"managed_id", "Managed", Kind::number},
                                  {"thread", "Thread at", Kind::address, Shown::in_data},
                                  {"heap", "Heap", Kind::number},
                                  {"generation", "Gen", Kind::text},
                                  {"pointer", "From", Kind::address},
                                  {"limit", "To", Kind::address},
                                  {"unused_bytes", "Unused", Kind::bytes},
                                  {"alloc_bytes", "Allocated", Kind::bytes},
                                  {"alloc_bytes_uoh", "… large, pinned", Kind::bytes}},
                                 std::move(rows));
  table.notes = {"allocated: what the thread's contexts handed out since it began, the unused rest included"};
  return table;
}

// Sums by heap, kind and size of region, because there may be thousands of regions.
report::Table free_regions_table(const Gc &gc, std::vector<std::string> &problems) {
  struct Sum {
    u64 regions = 0, bytes = 0;
  };
  std::map<std::tuple<u32, FreeRegionKind, std::optional<RegionSize>>, Sum> sums;
  Sum all;
  for (const GCMemoryRegionData &region : gc.get_gc_free_regions(problems))
    for (Sum *sum : {&sums[{region.heap, region.kind, region.region_size}], &all}) {
      ++sum->regions;
      sum->bytes += region.size;
    }
  std::vector<report::Row> rows;
  for (const auto &[key, sum] : sums) {
    auto [heap, kind, size] = key;
    bool global = kind == FreeRegionKind::global_huge_region || kind == FreeRegionKind::global_region;
    rows.push_back({global ? Cell("all") : Cell(heap), name_of(kind), size ? Cell(name_of(*size)) : Cell(), sum.regions,
                    sum.bytes, static_cast<u32>(kind), size ? Cell(static_cast<u32>(*size)) : Cell()});
  }
  report::Table table = table_of("free_regions", "Free regions",
                                 {{"heap", "Heap", Kind::text},
                                  {"kind", "Kind", Kind::text},
                                  {"size", "Size", Kind::text},
                                  {"regions", "Regions", Kind::count},
                                  {"committed_bytes", "Committed", Kind::bytes},
                                  {"kind_number", "", Kind::number, Shown::in_data},
                                  {"size_number", "", Kind::number, Shown::in_data}},
                                 std::move(rows));
  table.total = report::Row{"all", "total", Cell(), all.regions, all.bytes, Cell(), Cell()};
  table.notes = {"global_region: to be given back to the system (decommitted)"};
  return table;
}

report::Table bookkeeping_table(const Gc &gc, std::vector<std::string> &problems) {
  std::vector<report::Row> rows;
  for (const GCMemoryRegionData &r :
       gc.get_gc_bookkeeping_memory_regions(problems).value_or(std::vector<GCMemoryRegionData>()))
    rows.push_back({"card_table", Cell(), r.start, r.size});
  try {
    for (const GCMemoryRegionData &r : gc.get_handle_table_memory_regions(problems))
      rows.push_back({"handle_table", r.heap, r.start, r.size});
  } catch (const Error &e) {
    problems.push_back(e.what());
  }
  return table_of("bookkeeping", "Bookkeeping",
                  {{"kind", "Kind", Kind::text},
                   {"table", "Table", Kind::number},
                   {"start", "Start", Kind::address},
                   {"reserved_bytes", "Reserved", Kind::bytes}},
                  std::move(rows));
}

report::Table oom_table(const Gc &gc, const std::vector<OneHeap> &heaps, const GCSetting *limit,
                        std::vector<std::string> &problems) {
  std::vector<report::Row> rows;
  for (const auto &[number, h] : heaps)
    try {
      GCOomData oom = gc.get_oom_data(h.address);
      rows.push_back({number, oom.happened(), oom_text(oom, limit), oom.reason, oom_reason_text(oom.reason), oom.fgm,
                      failure_get_memory_text(oom.fgm), oom.alloc_size, oom.size, oom.loh_p, oom.gc_index,
                      oom.available_pagefile_mb, oom.reserved, oom.allocated});
    } catch (const Error &e) {
      problems.push_back("heap " + std::to_string(number) + ", out of memory: " + e.what());
    }
  return table_of("oom", "Out of memory",
                  {{"heap", "Heap", Kind::number},
                   {"happened", "Happened", Kind::boolean, Shown::in_data},
                   {"words", "The last time", Kind::text},
                   {"reason", "", Kind::number, Shown::in_data},
                   {"reason_text", "", Kind::text, Shown::in_data},
                   {"get_memory_failure", "", Kind::number, Shown::in_data},
                   {"get_memory_failure_text", "", Kind::text, Shown::in_data},
                   {"asked_bytes", "", Kind::bytes, Shown::in_data},
                   {"failed_bytes", "", Kind::bytes, Shown::in_data},
                   {"large_object", "", Kind::boolean, Shown::in_data},
                   {"gc_index", "", Kind::number, Shown::in_data},
                   {"available_pagefile_mib", "", Kind::number, Shown::in_data},
                   {"reserved", "", Kind::address, Shown::in_data},
                   {"allocated", "", Kind::address, Shown::in_data}},
                  std::move(rows));
}

report::Table problems_table(const std::vector<std::string> &problems) {
  std::vector<report::Row> rows;
  for (const std::string &problem : problems)
    rows.push_back({problem});
  return table_of("problems", "Could not be read", {{"problem", "Problem", Kind::text}}, std::move(rows));
}

report::Table settings_table(const GCSettings &settings) {
  std::vector<report::Row> rows;
  for (const GCSetting &one : settings.list)
    rows.push_back({one.name, one.value, one.is_environment ? "environment" : "runtimeconfig.json",
                    one.hard_limit ? Cell(*one.hard_limit) : Cell()});
  return table_of("settings", "Settings that the process was started with",
                  {{"setting", "Setting", Kind::text},
                   {"value", "Value", Kind::text},
                   {"source", "Source", Kind::text},
                   {"limit_bytes", "Heap's limit", Kind::bytes}},
                  std::move(rows));
}

std::vector<report::Table> gc_tables(const Runtime &runtime, const GCSettings &settings,
                                     std::vector<std::string> &problems) {
  const Gc &gc = runtime.gc();
  const std::vector<OneHeap> heaps = all_heaps(gc, problems);
  const bool mechanisms = records_mechanisms(gc, heaps);
  return {state_table(gc, mechanisms, problems),
          settings_table(settings),
          heaps_table(heaps),
          generations_table(heaps),
          contexts_table(runtime, heaps, problems),
          background_table(heaps),
          finalization_table(heaps, runtime.memory().format().pointer_size),
          internal_roots_table(heaps),
          mechanisms_table(gc, heaps, mechanisms),
          free_regions_table(gc, problems),
          bookkeeping_table(gc, problems),
          oom_table(gc, heaps, settings.hard_limit(), problems)};
}

} // namespace

report::Answer answer_gc(Snapshot &snapshot, const Question &question) {
  const Runtime &runtime = snapshot.runtime();
  report::Answer answer;
  answer.command = "gc";
  answer.target = target_facts(snapshot.target(), &runtime);
  answer.headline = target_headline(snapshot.target(), &runtime);
  std::vector<std::string> problems;
  if (const GcNf16 *gc = runtime.gc_nf16())
    answer.tables = corert_gc_tables(runtime, *gc, problems);
  else {
    const GCSettings settings = find_gc_settings(snapshot);
    problems.insert(problems.end(), settings.problems.begin(), settings.problems.end());
    answer.tables = gc_tables(runtime, settings, problems);
  }
  const std::vector<std::string> missing = missing_parts(runtime.descriptor(), gc_answer_parts, problems).notes;
  problems.insert(problems.end(), missing.begin(), missing.end());
  answer.tables.push_back(problems_table(problems));
  answer.next_command = "dnheap segments " + shell_word(question.target);
  return answer;
}

} // namespace dnheap
