// `gc`: what does the GC record about itself? Shows all data of the GC contract except objects and handles, the
// settings that the process was started with, and what the GC last reported about memory. Only the latter needs
// objects, those in gen0 and gen1; so this verb also answers if no walk is possible.
#include "analysis/answer_head.h"
#include "analysis/missing_parts.h"
#include "analysis/shapes/gc_records.h"
#include "analysis/shapes/gc_settings.h"
#include "analysis/verbs/tables/gc_corert.h"
#include "analysis/verbs/tables/gc_memory_table.h"
#include "analysis/verbs/tables/gc_tables.h"
#include "analysis/verbs/verbs.h"
#include "analysis/verdict/oom_text.h"
#include "base/text.h"
#include "report/columns_of.h"
#include "runtime/gc/gc_mechanisms_1.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace dnheap {

namespace {

using report::Cell;
using report::ColumnsOf;
using report::Kind;
using report::Shown;

// One heap with its readable data.
struct OneHeap : GCHeapData {
  u32 number = 0;
};

std::vector<OneHeap> all_heaps(const Gc &gc, Notes &problems) {
  std::vector<OneHeap> out;
  std::vector<Address> heaps = gc.get_gc_heaps();
  for (u32 i = 0; i < heaps.size(); ++i)
    try {
      out.push_back({gc.get_heap_data(heaps[i]), i});
    } catch (const Error &e) {
      problems.add(Subject::gc, Effect::numbers, "heap " + std::to_string(i) + ": ", e);
    }
  return out;
}

// True if objects have survived a collection: only those are in gen1 and gen2.
bool has_collected(const Gc &gc, const std::vector<OneHeap> &heaps) {
  constexpr u64 first_object = 256; // a generation's first object begins within so many bytes
  Notes ignored;
  for (const OneHeap &heap : heaps)
    for (const GCHeapSegmentInfo &s : gc.enumerate_heap_segments(heap, ignored))
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
  for (const OneHeap &h : heaps)
    for (const auto *counts :
         {&h.compact_reasons, &h.expand_mechanisms, &h.interesting_data, &h.interesting_mechanism_bits})
      look(*counts);
  return any_count || (any_array && !has_collected(gc, heaps));
}

report::Table state_table(const Gc &gc, bool mechanisms, Notes &problems) {
  std::vector<GcStateLine> lines;
  // `value` returns a text or nullopt; unreadable values are absent, with a note. `raw`: the number for the word.
  auto add = [&](const char *datum, const char *meaning, const auto &value, Cell raw = {}) {
    Cell cell;
    try {
      cell = Cell(std::optional<std::string>(value()));
    } catch (const Error &e) {
      problems.add(Subject::gc, Effect::numbers, "", e);
    }
    lines.push_back({datum, cell, meaning, raw});
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
  add("structures_valid", "false: the dump was taken inside a collection, and what follows may be wrong in places",
      [&] { return gc.get_gc_structures_valid() ? "true" : "false"; });
  std::optional<std::pair<Address, Address>> bounds = gc.get_gc_bounds();
  add("lowest_address", "start of the range of addresses that the GC manages",
      [&] { return bounds ? Text(hex(bounds->first)) : Text(); });
  add("highest_address", "its end", [&] { return bounds ? Text(hex(bounds->second)) : Text(); });
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
  return gc_state_table(lines);
}

report::Table heaps_table(const std::vector<OneHeap> &heaps) {
  std::vector<GcHeapLine> lines;
  for (const OneHeap &h : heaps)
    lines.push_back(
        {h.number, h.address ? Cell(h.address) : Cell(), h.alloc_allocated, h.ephemeral_heap_segment, h.card_table});
  return gc_heaps_table(lines);
}

std::string generation_name(u64 generation) {
  static constexpr const char *names[] = {"gen0", "gen1", "gen2", "loh", "poh"};
  return generation < std::size(names) ? names[generation] : "generation " + std::to_string(generation);
}

report::Table generations_table(const std::vector<OneHeap> &heaps) {
  std::vector<GcGenerationLine> lines;
  for (const OneHeap &h : heaps)
    for (u64 g = 0; g < h.generation_table.size(); ++g) {
      const GCGenerationData &data = h.generation_table[g];
      lines.push_back({h.number, generation_name(g), data.start_segment, data.allocation_start,
                       data.allocation_context_pointer, data.allocation_context_limit});
    }
  return gc_generations_table(lines);
}

report::Table background_table(const std::vector<OneHeap> &heaps) {
  using H = OneHeap;
  return ColumnsOf<H>{
      {{"heap", "Heap", Kind::number}, &H::number},
      {{"mark_array", "Mark array", Kind::address}, &H::mark_array},
      {{"saved_min_address", "Saved lowest", Kind::address}, &H::background_saved_min_address},
      {{"saved_max_address", "Saved highest", Kind::address}, &H::background_saved_max_address},
      {{"next_sweep_object", "Next to sweep", Kind::address}, &H::next_sweep_object},
      {{"saved_sweep_ephemeral_segment", "Ephemeral segment", Kind::address}, &H::saved_sweep_ephemeral_segment},
      {{"saved_sweep_ephemeral_start", "… from", Kind::address}, &H::saved_sweep_ephemeral_start}}
      .table("background", "Background collection", heaps);
}

report::Table finalization_table(const std::vector<OneHeap> &heaps, u64 pointer_size) {
  struct Part : GCFinalizeQueuePart {
    u32 heap;
  };
  std::vector<Part> parts;
  for (const OneHeap &h : heaps)
    for (const GCFinalizeQueuePart &part : finalize_queue_parts(h))
      parts.push_back({part, h.number});
  report::Table table = ColumnsOf<Part>{
      {{"heap", "Heap", Kind::number}, &Part::heap},
      {{"part", "Part", Kind::text}, &Part::name},
      {{"objects", "Objects", Kind::count}, [&](const Part &part) { return (part.end - part.start) / pointer_size; }},
      {{"start", "From", Kind::address}, &Part::start},
      {{"end", "To", Kind::address},
       &Part::end}}.table("finalization", "Finalization queue", parts);
  table.notes = {"the parts of generations have objects that were alive when the GC last looked; critical and ready "
                 "have unreachable objects, whose finalizers are due"};
  return table;
}

report::Table internal_roots_table(const std::vector<OneHeap> &heaps) {
  using H = OneHeap;
  return ColumnsOf<H>{{{"heap", "Heap", Kind::number}, &H::number},
                      {{"array", "Array", Kind::address}, &H::internal_root_array},
                      {{"index", "Filled", Kind::count}, &H::internal_root_array_index},
                      {{"analyze_success", "Analysis succeeded", Kind::boolean}, &H::heap_analyze_success}}
      .table("internal_roots", "Internal root array", heaps);
}

report::Table mechanisms_table(const Gc &gc, const std::vector<OneHeap> &heaps, bool recorded) {
  struct Mechanism {
    Cell heap;
    const char *group;
    std::string name;
    u64 count, index;
  };
  std::vector<Mechanism> all;
  auto add = [&](const Cell &heap, const char *group, const std::optional<std::vector<u64>> &counts,
                 std::string (*name)(u64)) {
    for (u64 i = 0; counts && i < counts->size(); ++i)
      all.push_back({heap, group, name(i), (*counts)[i], i});
  };
  add("all", "global_mechanism", gc.get_global_mechanisms(), global_mechanism_name);
  for (const OneHeap &h : heaps) {
    add(h.number, "compact_reason", h.compact_reasons, compact_reason_name);
    add(h.number, "expand_mechanism", h.expand_mechanisms, expand_mechanism_name);
    add(h.number, "interesting_data", h.interesting_data, interesting_data_point_name);
    add(h.number, "mechanism", h.interesting_mechanism_bits, interesting_mechanism_name);
  }
  using M = Mechanism;
  report::Table table = ColumnsOf<M>{
      {{"heap", "Heap", Kind::text}, &M::heap},
      {{"group", "Group", Kind::text}, &M::group},
      {{"name", "Name", Kind::text}, &M::name},
      {{"count", "Count", Kind::count}, [&](const M &m) { return recorded ? Cell(m.count) : Cell(); }},
      {{"index", "", Kind::number, Shown::in_data},
       &M::index}}.table("mechanisms", "Mechanisms", all);
  table.notes = {recorded ? "how often each occurred, in blocking collections since the process started"
                          : "not recorded: there were collections, but this GC does not count these"};
  return table;
}

// Lists the allocation contexts of threads and generations, and the global ones.
report::Table contexts_table(const Runtime &runtime, const std::vector<OneHeap> &heaps, Notes &problems) {
  struct OwnedContext {
    const char *owner;
    AllocationContext context;
    const ThreadData *thread = nullptr;
    Cell heap = {}, generation = {};
  };
  std::vector<OwnedContext> contexts;
  std::vector<ThreadData> threads;
  try {
    threads = runtime.threads(problems);
  } catch (const Error &e) {
    problems.add(Subject::gc, Effect::numbers, "threads: ", e);
  }
  for (const ThreadData &t : threads)
    contexts.push_back({"thread", t.allocation_context, &t});
  for (const OneHeap &h : heaps)
    for (u64 g = 0; g < h.generation_table.size(); ++g)
      contexts.push_back(
          {"generation",
           {h.generation_table[g].allocation_context_pointer, h.generation_table[g].allocation_context_limit},
           nullptr,
           h.number,
           generation_name(g)});
  try {
    if (std::optional<AllocationContext> global = runtime.gc().get_global_allocation_context())
      contexts.push_back({"all others", *global});
  } catch (const Error &e) {
    problems.add(Subject::gc, Effect::numbers, "", e);
  }
  using C = OwnedContext;
  auto of_thread = [](auto ThreadData::*member) {
    return [member](const C &c) { return c.thread ? Cell(c.thread->*member) : Cell(); };
  };
  report::Table table =
      ColumnsOf<C>{{{"owner", "Owner", Kind::text}, &C::owner},
                   {{"os_id", "Thread", Kind::number}, of_thread(&ThreadData::os_id)},
                   {{"managed_id", "Managed", Kind::number}, of_thread(&ThreadData::managed_id)},
                   {{"thread", "Thread at", Kind::address, Shown::in_data}, of_thread(&ThreadData::address)},
                   {{"heap", "Heap", Kind::number}, &C::heap},
                   {{"generation", "Gen", Kind::text}, &C::generation},
                   {{"pointer", "From", Kind::address}, [](const C &c) { return c.context.pointer; }},
                   {{"limit", "To", Kind::address}, [](const C &c) { return c.context.limit; }},
                   {{"unused_bytes", "Unused", Kind::bytes},
                    [](const C &c) {
                      return c.context.limit >= c.context.pointer ? Cell(c.context.limit - c.context.pointer) : Cell();
                    }},
                   {{"alloc_bytes", "Allocated", Kind::bytes}, of_thread(&ThreadData::alloc_bytes)},
                   {{"alloc_bytes_uoh", "… large, pinned", Kind::bytes}, of_thread(&ThreadData::alloc_bytes_uoh)}}
          .table("contexts", "Allocation contexts", contexts);
  table.notes = {"allocated: what the thread's contexts handed out since it began, the unused rest included"};
  return table;
}

// Sums by heap, kind and size of region, because there may be thousands of regions.
report::Table free_regions_table(const Gc &gc, Notes &problems) {
  struct Key {
    u32 heap;
    FreeRegionKind kind;
    std::optional<RegionSize> size;
    auto operator<=>(const Key &) const = default;
    bool is_global() const {
      return kind == FreeRegionKind::global_huge_region || kind == FreeRegionKind::global_region;
    }
  };
  struct Sum {
    u64 regions = 0, bytes = 0;
  };
  std::map<Key, Sum> sums;
  Sum all;
  for (const GCMemoryRegionData &region : gc.get_gc_free_regions(problems))
    for (Sum *sum : {&sums[{region.heap, region.kind, region.region_size}], &all}) {
      ++sum->regions;
      sum->bytes += region.size;
    }
  using S = std::pair<const Key, Sum>;
  report::Table table = ColumnsOf<S>{
      {{"heap", "Heap", Kind::text}, [](const S &s) { return s.first.is_global() ? Cell("all") : Cell(s.first.heap); }},
      {{"kind", "Kind", Kind::text}, [](const S &s) { return name_of(s.first.kind); }},
      {{"size", "Size", Kind::text}, [](const S &s) { return s.first.size ? Cell(name_of(*s.first.size)) : Cell(); }},
      {{"regions", "Regions", Kind::count}, [](const S &s) { return s.second.regions; }},
      {{"committed_bytes", "Committed", Kind::bytes}, [](const S &s) { return s.second.bytes; }},
      {{"kind_number", "", Kind::number, Shown::in_data}, [](const S &s) { return static_cast<u32>(s.first.kind); }},
      {{"size_number", "", Kind::number, Shown::in_data}, [](const S &s) {
         return s.first.size ? Cell(static_cast<u32>(*s.first.size)) : Cell();
       }}}.table("free_regions", "Free regions", sums);
  table.total =
      total_row(table, {{"heap", "all"}, {"kind", "total"}, {"regions", all.regions}, {"committed_bytes", all.bytes}});
  table.notes = {"global_region: to be given back to the system (decommitted)"};
  return table;
}

report::Table bookkeeping_table(const Gc &gc, Notes &problems) {
  struct Region : GCMemoryRegionData {
    bool is_of_handles;
  };
  std::vector<Region> regions;
  for (const GCMemoryRegionData &r :
       gc.get_gc_bookkeeping_memory_regions(problems).value_or(std::vector<GCMemoryRegionData>()))
    regions.push_back({r, false});
  try {
    for (const GCMemoryRegionData &r : gc.get_handle_table_memory_regions(problems))
      regions.push_back({r, true});
  } catch (const Error &e) {
    problems.add(Subject::gc, Effect::numbers, "", e);
  }
  using R = Region;
  return ColumnsOf<R>{
      {{"kind", "Kind", Kind::text}, [](const R &r) { return r.is_of_handles ? "handle_table" : "card_table"; }},
      {{"table", "Table", Kind::number}, [](const R &r) { return r.is_of_handles ? Cell(r.heap) : Cell(); }},
      {{"start", "Start", Kind::address}, &R::start},
      {{"reserved_bytes", "Reserved", Kind::bytes}, &R::size}}
      .table("bookkeeping", "Bookkeeping", regions);
}

report::Table oom_table(const Gc &gc, const std::vector<OneHeap> &heaps, const GCSetting *limit,
                        const GCMemoryInfo *info, Notes &problems) {
  struct HeapOom : GCOomData {
    u32 heap;
  };
  std::vector<HeapOom> all;
  for (const OneHeap &h : heaps)
    try {
      all.push_back({gc.get_oom_data(h.address), h.number});
    } catch (const Error &e) {
      problems.add(Subject::gc, Effect::numbers, "heap " + std::to_string(h.number) + ", out of memory: ", e);
    }
  using O = HeapOom;
  return ColumnsOf<O>{
      {{"heap", "Heap", Kind::number}, &O::heap},
      {{"happened", "Happened", Kind::boolean, Shown::in_data}, &O::happened},
      {{"words", "The last time", Kind::text}, [&](const O &o) { return oom_text(o, limit, info); }},
      {{"reason", "", Kind::number, Shown::in_data}, &O::reason},
      {{"reason_text", "", Kind::text, Shown::in_data}, [](const O &o) { return oom_reason_text(o.reason); }},
      {{"get_memory_failure", "", Kind::number, Shown::in_data}, &O::fgm},
      {{"get_memory_failure_text", "", Kind::text, Shown::in_data},
       [](const O &o) { return failure_get_memory_text(o.fgm); }},
      {{"asked_bytes", "", Kind::bytes, Shown::in_data}, &O::alloc_size},
      {{"failed_bytes", "", Kind::bytes, Shown::in_data}, &O::size},
      {{"large_object", "", Kind::boolean, Shown::in_data}, &O::loh_p},
      {{"gc_index", "", Kind::number, Shown::in_data}, &O::gc_index},
      {{"available_pagefile_mib", "", Kind::number, Shown::in_data}, &O::available_pagefile_mb},
      {{"reserved", "", Kind::address, Shown::in_data}, &O::reserved},
      {{"allocated", "", Kind::address, Shown::in_data}, &O::allocated}}
      .table("oom", "Out of memory", all);
}

report::Table collections_table(const GcRecords &records) {
  using R = GcRecord;
  report::Table table = ColumnsOf<R>{
      {{"collection", "Number", Kind::count}, &R::collection},
      {{"generation", "Gen", Kind::number}, &R::generation},
      {{"concurrent", "Background", Kind::boolean}, &R::is_concurrent},
      {{"compacting", "Compacts", Kind::boolean}, &R::is_compacting},
      {{"pause_us", "", Kind::number, Shown::in_data}, &R::pause_us},
      {{"pause", "Pause", Kind::text, Shown::in_text},
       [](const R &r) { return fmt::format("{:.2f} ms", static_cast<double>(r.pause_us) / 1000); }},
      {{"pause_share", "All pauses", Kind::percent}, &R::pause_share},
      {{"freed_bytes", "Freed", Kind::bytes}, &R::freed},
      {{"heap_bytes", "Heap", Kind::bytes}, &R::heap},
      {{"holes_bytes", "Holes", Kind::bytes}, &R::holes},
      {{"committed_bytes", "Committed", Kind::bytes}, &R::committed},
      {{"load_percent", "Load", Kind::number},
       &R::load}}.table("collections", "The last collections, as the GC recorded them", records.list);
  if (!records.list.empty())
    table.notes = {"the GC keeps the last one of gen0 or gen1, the last blocking one of gen2, and the last two in the "
                   "background; All pauses: of the time from the process's start to the end of that collection; Heap, "
                   "Holes: after it; Load: percent of the machine's or container's memory"};
  return table;
}

report::Table problems_table(const Notes &problems) {
  return ColumnsOf<std::string>{{{"problem", "Problem", Kind::text}, [](const std::string &text) { return text; }}}
      .table("problems", "Could not be read", problems.sentences());
}

report::Table settings_table(const GCSettings &settings) {
  using S = GCSetting;
  return ColumnsOf<S>{{{"setting", "Setting", Kind::text}, &S::name},
                      {{"value", "Value", Kind::text}, &S::value},
                      {{"source", "Source", Kind::text},
                       [](const S &s) { return s.is_environment ? "environment" : "runtimeconfig.json"; }},
                      {{"limit_bytes", "Heap's limit", Kind::bytes}, &S::hard_limit}}
      .table("settings", "Settings that the process was started with", settings.list);
}

std::vector<report::Table> gc_tables(const Snapshot &snapshot, const GCSettings &settings, Notes &problems) {
  const Runtime &runtime = snapshot.runtime();
  const Gc &gc = runtime.gc();
  const ReportedMemory reported = recent_reported_memory(snapshot);
  const GCMemoryInfo *info = reported.found.newest ? &*reported.found.newest : nullptr;
  const std::vector<OneHeap> heaps = all_heaps(gc, problems);
  const bool mechanisms = records_mechanisms(gc, heaps);
  return {state_table(gc, mechanisms, problems),
          settings_table(settings),
          gc_memory_table(reported, settings),
          collections_table(find_gc_records(snapshot)),
          heaps_table(heaps),
          generations_table(heaps),
          contexts_table(runtime, heaps, problems),
          background_table(heaps),
          finalization_table(heaps, runtime.memory().format().pointer_size),
          internal_roots_table(heaps),
          mechanisms_table(gc, heaps, mechanisms),
          free_regions_table(gc, problems),
          bookkeeping_table(gc, problems),
          oom_table(gc, heaps, settings.hard_limit(), info, problems)};
}

} // namespace

report::Answer answer_gc(const Snapshot &snapshot, const Question &question) {
  const Runtime &runtime = snapshot.runtime();
  report::Answer answer;
  answer.command = "gc";
  answer.target = target_facts(snapshot.target(), &runtime);
  answer.headline.what = target_headline(snapshot.target(), &runtime);
  Notes problems;
  if (const GcNf16 *gc = runtime.gc_nf16())
    answer.tables = corert_gc_tables(runtime, *gc, problems);
  else {
    const GCSettings settings = find_gc_settings(snapshot);
    problems.add_all(settings.problems);
    answer.tables = gc_tables(snapshot, settings, problems);
  }
  add_missing_parts(runtime.descriptor(), gc_answer_parts, problems);
  answer.tables.push_back(problems_table(problems));
  answer.next_command = "dnheap segments " + shell_word(question.target);
  return answer;
}

} // namespace dnheap
