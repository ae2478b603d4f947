// AccountMap: the purpose of each byte of a process. Every mapped byte gets exactly one MemoryClass, by a fixed order
// of precedence (claim_order.cc), so the classes always add up to the mapped bytes. Costs the heap's tally, a walk over
// malloc's chunks, and n log n in mappings, segments and threads. For a live process ask for resident_pages() first,
// because the process must be suspended for that. Not for several threads at once.
#pragma once
#include "analysis/process/malloc_arenas.h"
#include "analysis/process/memory_class.h"
#include "analysis/process/resident_pages.h"
#include "base/enum_set.h"
#include "base/notes.h"
#include "runtime/facts/runtime_block.h"
#include "snapshot/snapshot.h"

#include <array>
#include <optional>

namespace dnheap {

struct ClassSum {
  u64 bytes = 0;  // mapped
  u64 stored = 0; // how many of these the dump has
  // Bounds of the resident bytes, if known. They differ because several classes share pages.
  u64 resident_low = 0, resident_high = 0;
  u64 pieces = 0; // regions, heaps of malloc, threads, or stretches, depending on the class

  void add(const ClassSum &other);
};

// A stretch whose purpose is unknown.
struct UnknownStretch {
  Address start = 0, end = 0;
  u64 stored = 0;
  bool readable = false, writable = false, executable = false;
  std::string name; // of its mapping, if it has a name
};

// A stretch of accessible memory of one class. A heap of malloc is one stretch, of class malloc_in_use; a segment of
// the GC is one, of class objects.
struct ClassStretch {
  Address start = 0, end = 0;
  MemoryClass memory = MemoryClass::not_identified;
  bool writable = false;
};

struct AccountMap {
  std::array<ClassSum, memory_class_count> classes;
  u64 mapped = 0, stored = 0; // sums; `mapped` includes reserved memory
  // Lower and upper bound; an estimate for dumps: pages with a non-zero byte were resident, and memory that the GC
  // committed may have been, as far as the GC has used it. For files it is unknown.
  std::optional<std::pair<u64, u64>> resident;
  bool is_estimate = false;
  std::vector<ClassStretch> stretches; // what is accessible, by address
  std::vector<UnknownStretch> unknown; // by address
  MallocArenas malloc;
  std::string other_allocators; // allocators of native code other than `malloc`: "jemalloc (libjemalloc.so.2)"
  // Bytes that these allocators may have given to native code: not identified, or known to be theirs.
  u64 perhaps_theirs = 0;
  u64 mimalloc_segments = 0;
  Notes notes;                             // what is unknown, in whole phrases
  std::vector<RuntimeBlock> loader_blocks; // blocks of loader heaps, by address

  const ClassSum &of(MemoryClass memory) const { return classes[static_cast<u8>(memory)]; }
  // Returns the sum over some classes.
  u64 sum_of(EnumSet<MemoryClass> some, u64 ClassSum::*figure = &ClassSum::bytes) const;
};

// True if it is unknown how much of the class is resident in a dump, because it is memory of files.
bool is_of_files(MemoryClass memory);

// `live`: tally of the live objects, without frozen ones; absent: live and dead objects are not distinguished. Only its
// aligned bytes by segment are used.
AccountMap make_account_map(const Snapshot &snapshot, const std::optional<ResidentPages> &resident,
                            const std::optional<HeapTally> &live);

} // namespace dnheap
