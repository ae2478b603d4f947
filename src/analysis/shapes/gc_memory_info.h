// GCMemoryInfo: the GC's last report about memory to the program: its limit, the load, the heap after a collection.
// GC.GetGCMemoryInfo() puts that into an object, System.GCMemoryInfoData, and the runtime's own code calls it, too:
// pools of arrays after collections, counters, caches. Such an object, alive or garbage, is often the only place in a
// dump that has the limit which the GC took from a container. Not for several threads at once. Throws Error,
// Interrupted.
#pragma once
#include "analysis/shapes/gc_settings.h"
#include "snapshot/snapshot.h"

#include <optional>
#include <string>

namespace dnheap {

struct GCMemoryInfo {
  Address object = 0;
  u64 collection = 0; // all other figures except the limit are as of this collection; 0: before the first
  u32 generation = 0; // of that collection
  bool is_compacting = false, is_concurrent = false;
  u64 limit = 0;     // the hard limit of the heap; if there is none: the memory of the machine or container
  u64 high_load = 0; // from this load on, the GC treats memory as scarce
  u64 load = 0;      // in use in the machine or container
  u64 heap = 0, fragmented = 0, committed = 0, promoted = 0;
  u64 pinned_objects = 0, finalization_pending = 0;
  std::optional<u64> pause_ns;    // both pauses of a concurrent collection
  std::optional<u64> pause_share; // hundredths of a percent of the time since the process started

  // A full collection that compacts or sweeps while the program stands still: what it leaves is alive, or a hole.
  bool is_full_blocking() const { return collection && generation == 2 && !is_concurrent; }
  // True if the limit is less than the memory of the machine or container, and so certainly a limit for the heap.
  bool has_own_limit() const;
  // Returns the memory of a container, if the limit is the share of it that the GC takes by default.
  std::optional<u64> container() const;
};

struct FoundMemoryInfo {
  std::optional<GCMemoryInfo> newest;
  u64 unknown = 0;           // objects of a type of that name with other fields; they are left out
  bool is_everything = true; // false: some objects were not looked at, since there are too many
};

// Finds the newest one among all objects; a walk only if the tally has such objects. Kept: asking again costs nothing.
FoundMemoryInfo find_gc_memory_info(const Snapshot &snapshot);
// Finds the newest one among the objects in gen0 and gen1 by a walk of these alone, of half a GiB at most: needs no
// tally.
FoundMemoryInfo find_recent_gc_memory_info(const Snapshot &snapshot);

// Returns the newest plausible one of these objects.
FoundMemoryInfo newest_gc_memory_info(const Snapshot &snapshot, std::span<const Address> objects);

// Returns where the limit comes from: "DOTNET_GCHeapHardLimit=C800000", "75 % of a container's 256.0 MiB".
std::string origin_of_limit(const GCMemoryInfo &info, const GCSettings &settings);

} // namespace dnheap
