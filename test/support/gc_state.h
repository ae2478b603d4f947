// What a HeapBuilder's GC says of itself beside segments and objects: handles, counters, finalization queues, failed
// allocations, free regions. What is not set is zero or empty.
#pragma once
#include "runtime/facts/gc_data.h"
#include "runtime/facts/handle_data.h"

#include <array>
#include <map>

namespace dnheap::test {

struct HandleWriter {
  HandleType type = HandleType::strong;
  Address object = 0;
  std::optional<u64> secondary = {}; // its block then has a block of second words
  u32 table = 0, segment = 0;        // of that table
  Address address = 0;               // filled in when the target is made
};

struct FreeRegionWriter {
  u64 mem = 0, committed = 0;
};

struct GcHeapState {
  Address mark_array = 0, next_sweep = 0, saved_min = 0, saved_max = 0, card_table = 0;
  Address saved_sweep_segment = 0, saved_sweep_start = 0; // without regions
  Address internal_roots = 0;
  u64 internal_root_index = 0;
  bool analyze_success = false;
  std::vector<u64> interesting = {}, compact = {}, expand = {}, bits = {};
  GCOomData oom = {};
  std::vector<u64> finalize_counts = {0, 0, 0, 0, 0, 0, 0}; // POH, LOH, gen2, gen1, gen0, critical, ready
  std::vector<Address> finalize_due = {};                   // what the last slots of these hold
  std::array<std::vector<FreeRegionWriter>, 3> free_regions = {};
  std::vector<FreeRegionWriter> freeable_soh = {}, freeable_uoh = {};
};

struct GcState {
  std::map<u32, GcHeapState> heaps = {};
  std::vector<HandleWriter> handles = {};
  u32 processors = 1;     // of server GC: as many handle tables
  bool text_only = false; // .NET 11: publishes what the GC contract's text lists (gc_text.h) and no more
  u64 background_state = 2, adaptation_mode = 1;
  std::vector<u64> global_mechanisms = {};
  std::vector<FreeRegionWriter> huge = {};
  std::array<std::vector<FreeRegionWriter>, 3> to_decommit = {};
  std::vector<u64> card_table_bytes = {0x300000}; // the newest first
  // What .NET 11 publishes besides: "FeatureJavaMarshal" and the like; fields of types; addresses of variables.
  std::map<std::string, u64> features = {};
  std::map<std::string, std::map<std::string, i64>> types = {};
  std::map<std::string, Address> pointers = {};
};

} // namespace dnheap::test
