// AccountMap: what each byte of a process is there for. Every mapped byte gets exactly one MemoryClass, by a fixed
// order of precedence (account_map.cc), so that the classes add up to what is mapped, always. Costs the heap's tally, a
// walk over malloc's chunks, and n log n in mappings, segments and threads. Of a live process ask for resident() first,
// as it must stand still for that. Call from one thread.
#pragma once
#include "analysis/process/malloc_arenas.h"
#include "analysis/process/memory_class.h"
#include "snapshot/snapshot.h"

#include <array>
#include <optional>

namespace dnheap {

struct ClassSum {
  u64 bytes = 0;  // mapped
  u64 stored = 0; // of these in the dump
  // How many of them had memory at the least and the most, where that is known: pages that hold several classes.
  u64 resident_low = 0, resident_high = 0;
  u64 pieces = 0; // regions, heaps of malloc, threads, stretches, as the class has it

  void add(const ClassSum &other);
};

// A stretch that nothing explains.
struct UnknownStretch {
  Address start = 0, end = 0;
  u64 stored = 0;
  bool readable = false, writable = false, executable = false;
  std::string name; // of its mapping, where it has one
};

struct AccountMap {
  std::array<ClassSum, memory_class_count> classes;
  u64 mapped = 0, stored = 0; // all of them; `mapped` with what is only reserved
  // At the least and the most. Of dumps an estimate: what holds a byte that is not zero had memory; of what the GC
  // committed all may have had some, up to where it has used it; how much of files had, nothing tells.
  std::optional<std::pair<u64, u64>> resident;
  bool is_estimate = false;
  std::vector<UnknownStretch> unknown; // by address
  MallocArenas malloc;
  std::string other_allocators; // "jemalloc (libjemalloc.so.2)": what native code has memory from beside `malloc`
  u64 perhaps_theirs = 0;       // bytes that native code may have from these: not identified, or known as theirs
  u64 mimalloc_segments = 0;
  std::vector<std::string> notes; // what could not be told, in whole phrases

  const ClassSum &of(MemoryClass memory) const { return classes[static_cast<u8>(memory)]; }
};

// Which pages had memory: of a live process as the system says. Of a dump those written; see written_pages.h.
struct ResidentPages {
  std::vector<std::pair<Address, Address>> pages; // [start, end), by address
  bool is_estimate = false;                       // of a dump
};
// Of a dump: reads it whole. Nullopt where it would say nothing: of what an extracted core has left out.
std::optional<ResidentPages> resident_pages(Snapshot &snapshot);
// Can nothing be said of its memory?
bool is_of_files(MemoryClass memory);

// `live`: of the objects that are alive, without frozen ones, where somebody asked which those are; only its aligned
// bytes by segment count.
AccountMap make_account_map(Snapshot &snapshot, const std::optional<ResidentPages> &resident,
                            const std::optional<HeapTally> &live);

} // namespace dnheap
