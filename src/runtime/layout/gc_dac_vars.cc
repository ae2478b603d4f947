#include "runtime/layout/gc_dac_vars.h"

#include "base/text.h"

#include <algorithm>

namespace dnheap {

namespace {

// Members of GcDacVars that are pointers to the GC's variables, in order, in .NET 5 and later (5.0 to 10.0 agree; later
// versions append). `global`: the contract's name for a member that is one global; none for others.
enum Variable : u8 {
  build_variant,
  built_with_svr,
  global_mechanisms,
  generation_table,
  max_gen,
  mark_array,
  current_c_gc_state,
  ephemeral_heap_segment,
  saved_sweep_ephemeral_seg,
  saved_sweep_ephemeral_start,
  background_saved_lowest,
  background_saved_highest,
  alloc_allocated,
  next_sweep_obj,
  oom_info,
  finalize_queue,
  internal_root_array,
  internal_root_array_index,
  heap_analyze_success,
  n_heaps,
  g_heaps,
  gc_structures_invalid_cnt,
  interesting_data,
  compact_reasons,
  expand_mechanisms,
  interesting_mechanism_bits,
  handle_table_map,
  gc_heap_field_offsets,
  generation_field_offsets,
  bookkeeping_start,
  global_regions_to_decommit,
  global_free_huge_regions,
  free_regions,
  freeable_soh_segment,
  freeable_uoh_segment,
  variable_count
};
static_assert(variable_count == 35);

struct NamedVariable {
  Variable variable;
  const char *global;
};
constexpr NamedVariable named_variables[] = {
    {global_mechanisms, "GCGlobalMechanisms"},
    {max_gen, "MaxGeneration"},
    {current_c_gc_state, "CurrentGCState"},
    {n_heaps, "NumHeaps"},
    {g_heaps, "Heaps"},
    {gc_structures_invalid_cnt, "StructureInvalidCount"},
    {handle_table_map, "HandleTableMap"},
    {bookkeeping_start, "BookkeepingStart"},
    {global_regions_to_decommit, "GlobalRegionsToDecommit"},
    {global_free_huge_regions, "GlobalFreeHugeRegions"},
    {generation_table, "GCHeapGenerationTable"},
    {mark_array, "GCHeapMarkArray"},
    {ephemeral_heap_segment, "GCHeapEphemeralHeapSegment"},
    {saved_sweep_ephemeral_seg, "GCHeapSavedSweepEphemeralSeg"},
    {saved_sweep_ephemeral_start, "GCHeapSavedSweepEphemeralStart"},
    {background_saved_lowest, "GCHeapBackgroundMinSavedAddr"},
    {background_saved_highest, "GCHeapBackgroundMaxSavedAddr"},
    {alloc_allocated, "GCHeapAllocAllocated"},
    {next_sweep_obj, "GCHeapNextSweepObj"},
    {oom_info, "GCHeapOomData"},
    {finalize_queue, "GCHeapFinalizeQueue"},
    {internal_root_array, "GCHeapInternalRootArray"},
    {internal_root_array_index, "GCHeapInternalRootArrayIndex"},
    {heap_analyze_success, "GCHeapHeapAnalyzeSuccess"},
    {interesting_data, "GCHeapInterestingData"},
    {compact_reasons, "GCHeapCompactReasons"},
    {expand_mechanisms, "GCHeapExpandMechanisms"},
    {interesting_mechanism_bits, "GCHeapInterestingMechanismBits"},
    {free_regions, "GCHeapFreeRegions"},
    {freeable_soh_segment, "GCHeapFreeableSohSegment"},
    {freeable_uoh_segment, "GCHeapFreeableUohSegment"},
};

// Order of the i32 offsets behind gc_heap_field_offsets; -1 = the build has no such member.
constexpr const char *heap_fields[] = {"AllocAllocated",
                                       "EphemeralHeapSegment",
                                       "FinalizeQueue",
                                       "OomData",
                                       "InterestingData",
                                       "CompactReasons",
                                       "ExpandMechanisms",
                                       "InterestingMechanismBits",
                                       "InternalRootArray",
                                       "InternalRootArrayIndex",
                                       "HeapAnalyzeSuccess",
                                       "CardTable",
                                       "MarkArray",
                                       "NextSweepObj",
                                       "BackgroundMinSavedAddr",
                                       "BackgroundMaxSavedAddr",
                                       "SavedSweepEphemeralSeg",
                                       "SavedSweepEphemeralStart",
                                       "GenerationTable",
                                       "FreeableSohSegment",
                                       "FreeableUohSegment",
                                       "FreeRegions"};

// Members of heap_segment, one pointer each (dac_heap_segment).
constexpr const char *segment_fields[] = {"Allocated", "Committed",           "Reserved", "Used", "Mem", "Flags",
                                          "Next",      "BackgroundAllocated", "Heap"};

class VariableTable {
public:
  VariableTable(const Memory &memory, Address address)
      : memory_(memory), p_(memory.format().pointer_size), address_(address) {}

  u64 generation_size() const { return memory_.try_pointer(address_ + (p_ == 8 ? 8 : 4)).value_or(0); }
  u64 generation_count() const { return memory_.try_pointer(address_ + (p_ == 8 ? 16 : 8)).value_or(0); }
  std::optional<u64> variable(unsigned index) const { return memory_.try_pointer(address_ + 3 * p_ + index * p_); }
  // Behind the pointers: two i32, one size_t; in .NET 10 and later also a pointer, see gcinterface.dacvars.def.
  Address tail() const { return address_ + 3 * p_ + variable_count * p_; }
  std::optional<u32> free_region_kinds() const { return memory_.try_load<u32>(tail() + 4); }
  std::optional<u64> card_table_info_size() const { return memory_.try_pointer(tail() + 8); }
  std::optional<u64> dynamic_adaptation_mode() const { return memory_.try_pointer(tail() + 8 + p_); }
  // 4 in .NET 10 and later, which have that pointer; 0 or 1 in earlier versions. In NativeAOT always 1.
  u8 minor_version() const { return memory_.try_load<u8>(address_ + 1).value_or(0); }

  // True if the memory here looks like the table. On real targets exactly one place passes.
  bool has_signature() const {
    auto major = memory_.try_load<u8>(address_), minor = memory_.try_load<u8>(address_ + 1);
    if (!major || !minor || *major < 1 || *major > 8 || *minor > 64)
      return false;
    for (u64 i = 2; i < (p_ == 8 ? 8 : 4); ++i)
      if (memory_.try_load<u8>(address_ + i) != u8{0})
        return false;
    u64 size = generation_size();
    if (size < 64 || size > 2048 || size % p_ || generation_count() != 5)
      return false;
    unsigned set = 0;
    for (unsigned i = 0; i < variable_count; ++i) {
      std::optional<u64> value = variable(i);
      if (!value || (*value && *value < 0x10000))
        return false;
      set += *value != 0;
    }
    return set >= 8; // server GC without regions sets the fewest pointers: 11
  }

  // Returns the variable that points back at the table. It lies directly behind the table, whose end depends on the
  // version.
  Address self_pointer() const {
    for (Address at = tail(); at < tail() + 24 * p_; at += p_)
      if (memory_.try_pointer(at) == address_)
        return at;
    return 0;
  }

private:
  const Memory &memory_;
  const u64 p_;
  const Address address_;
};

struct FoundTable {
  Address table = 0, pointer = 0; // g_gcDacGlobals, which points at it
};

FoundTable find_table(const Derivation &derivation) {
  std::vector<Address> with_signature;
  std::vector<FoundTable> confirmed;
  for (const Range &range : derivation.data())
    for (Address at = align_up(range.address, derivation.pointer_size); at + 320 <= range.end();
         at += derivation.pointer_size) {
      // A cheap test before the whole signature: most words of .data are not a small major version.
      u8 major = static_cast<u8>(range.bytes[at - range.address]);
      if (major == 0 || major > 8)
        continue;
      VariableTable table(derivation.memory, at);
      if (!table.has_signature())
        continue;
      with_signature.push_back(at);
      if (Address pointer = table.self_pointer())
        confirmed.push_back({at, pointer});
    }
  if (confirmed.size() == 1)
    return confirmed[0];
  // Other linkers put g_gcDacGlobals elsewhere.
  if (confirmed.empty())
    derivation.scan_data([&](Address at, u64 word) {
      if (std::find(with_signature.begin(), with_signature.end(), word) != with_signature.end())
        confirmed.push_back({word, at});
    });
  if (confirmed.size() == 1)
    return confirmed[0];
  std::string what = "GcDacVars, the GC's table for debuggers, was not found in " + derivation.module.path + ": " +
                     std::to_string(with_signature.size()) +
                     (with_signature.size() == 1 ? " place has" : " places have") +
                     " its signature, and pointers to such a place: " + std::to_string(confirmed.size());
  if (derivation.data().empty())
    what = "the variables of " + derivation.module.path + ", by which the heap is found, are not in this dump";
  throw Error(what);
}

// The GC never writes to its lists of offsets, though they lie among its variables; so the module's file has them, too.
std::optional<u32> constant(const Derivation &d, Address at) {
  std::optional<u32> here = d.memory.try_load<u32>(at);
  return here ? here : d.target.initial.try_load<u32>(at);
}

void set_identifiers(Derivation &d, const VariableTable &table) {
  auto offsets = table.variable(generation_field_offsets);
  std::string text = table.variable(g_heaps).value_or(0) ? "server" : "workstation";
  // With regions, a generation has no allocation start. The build variant cannot be used: it is always 2 in 8.0 and
  // 9.0.
  std::optional<u32> start = offsets ? constant(d, *offsets + 8) : std::nullopt;
  if (!start)
    throw Error("GcDacVars.generation_field_offsets is not in this dump");
  text += *start == 0xffffffff ? ", regions" : ", segments";
  if (table.variable(current_c_gc_state).value_or(0))
    text += ", background";
  d.descriptor.set_text("GCIdentifiers", text, Origin::discovered);
}

void set_types(Derivation &d, const VariableTable &table) {
  ContractDescriptor &to = d.descriptor;
  i64 p = static_cast<i64>(d.pointer_size);
  auto set_listed = [&](Variable list, const char *type, std::span<const char *const> fields) {
    Address at = table.variable(list).value_or(0);
    for (u64 i = 0; at && i < fields.size(); ++i) {
      std::optional<u32> offset = constant(d, at + 4 * i);
      if (!offset)
        throw Error(std::string("the GC's offsets of ") + type + ", at " + hex(at) + ", are not in this dump");
      i64 value = static_cast<i32>(*offset);
      if (value >= 0 && to.try_offset(type, fields[i]) != value)
        to.set_field(type, fields[i], value, Origin::discovered);
    }
  };
  constexpr const char *generation_fields[] = {"AllocationContext", "StartSegment", "AllocationStart"};
  set_listed(generation_field_offsets, "Generation", generation_fields);
  set_listed(gc_heap_field_offsets, "GCHeap", heap_fields);
  to.types["Generation"].size = static_cast<u32>(table.generation_size());
  bool server = table.variable(g_heaps).value_or(0) != 0;
  for (i64 i = 0; i < static_cast<i64>(std::size(segment_fields)); ++i)
    if ((i < 8 || server) && !to.find_field("HeapSegment", segment_fields[i]))
      to.set_field("HeapSegment", segment_fields[i], i * p, Origin::discovered);
  // gc_alloc_context begins with these two in every version (gc/gcinterface.h).
  if (!to.find_field("GCAllocContext", "Pointer")) {
    to.set_field("GCAllocContext", "Pointer", 0, Origin::discovered);
    to.set_field("GCAllocContext", "Limit", p, Origin::discovered);
  }
}

} // namespace

void derive_gc_at(Derivation &d, Address address, Address end) {
  VariableTable table(d.memory, address);
  if (!table.has_signature())
    throw Error("GcDacVars, the GC's table for debuggers, is not at " + hex(address) +
                ": the process had not started, or the dump is damaged");
  set_identifiers(d, table);
  for (const NamedVariable &named : named_variables)
    if (u64 variable = table.variable(named.variable).value_or(0))
      d.descriptor.set_number(named.global, variable, true, Origin::discovered);
  d.descriptor.set_number("TotalGenerationCount", table.generation_count(), false, Origin::discovered);
  set_types(d, table);
  if (u32 kinds = table.free_region_kinds().value_or(0); kinds >= 1 && kinds <= 16)
    d.descriptor.set_number("CountFreeRegionKinds", kinds, false, Origin::discovered);
  if (u64 size = table.card_table_info_size().value_or(0); size >= 3 * d.pointer_size && size <= 4096)
    d.descriptor.set_number("CardTableInfoSize", size, false, Origin::discovered);
  // A struct that is longer by one pointer has the dynamic adaptation mode (.NET 10); only server GC sets it. If its
  // end is unknown, as on Windows, its version shows it.
  constexpr u8 has_mode = 4;
  if (end ? end >= table.tail() + 8 + 2 * d.pointer_size : table.minor_version() >= has_mode)
    if (u64 mode = table.dynamic_adaptation_mode().value_or(0); mode && d.memory.try_load<u32>(mode).value_or(0) <= 1) {
      d.descriptor.set_number("DynamicAdaptationMode", mode, true, Origin::discovered);
      d.descriptor.globals["GCIdentifiers"].text += ", dynamic_heap";
    }
  d.descriptor.contracts.try_emplace("GC", "c1");
  d.descriptor.contract_origin.try_emplace("GC", Origin::discovered);
}

Address derive_gc(Derivation &d) {
  FoundTable found = find_table(d);
  bool adjacent = VariableTable(d.memory, found.table).self_pointer() == found.pointer;
  derive_gc_at(d, found.table, adjacent ? found.pointer : 0);
  return found.pointer;
}

} // namespace dnheap
