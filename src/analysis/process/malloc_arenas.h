// MallocArenas: the memory of glibc's malloc (2.31 to 2.43 were looked at), found without symbols. The main arena is
// found in libc's data by the shape of its lists, the others by their chain or, without libc's data, by their heaps at
// multiples of 64 MiB; each heap's chunks are walked from end to end. Nothing is trusted: invalid data end the walk,
// and the rest is not counted. Costs a load or two per chunk, and no memory per chunk unless blocks are listed. 64-bit
// Linux only. Not for several threads at once.
#pragma once
#include "base/notes.h"
#include "target/target.h"

#include <string>
#include <vector>

namespace dnheap {

// A range that an arena cuts into chunks: for the main arena the range that sbrk gave; for another arena one of its
// heaps.
struct MallocHeap {
  Address start = 0, end = 0; // of chunks, and the arena's data before them
  Address mapped_end = 0;     // end of the memory that is still accessible because the heap was larger once; 0: the
                              // heap was not
  u32 arena = 0;              // index in MallocArenas::arenas
  Address first_chunk = 0;
  // Bytes, which add up to end − start unless the walk ended early. `in_use`: in chunks in use. `free`: in free chunks.
  // `cached`: in free chunks that a thread keeps (or that are in lists that do not merge); malloc itself counts these
  // as in use. `top`: at the end, never handed out.
  u64 in_use = 0, free = 0, cached = 0, top = 0;
  u64 chunks = 0; // in use
  bool is_whole = false;
};

struct MallocArena {
  Address address = 0; // 0: the main arena, if its data are missing
  bool is_main = false;
};

struct MallocBlock {
  Address start = 0, end = 0;
};

// Bytes of a separately mapped block of glibc before the address that malloc returned.
inline constexpr u64 large_block_header = 16;

struct MallocArenas {
  std::vector<MallocArena> arenas; // the main one first
  std::vector<MallocHeap> heaps;
  std::vector<MallocBlock> blocks; // separately mapped blocks
  bool lists_blocks = false;       // true for musl; otherwise find_large_blocks() has to search for them
  // Blocks in use inside of heaps, by heap: from the address that malloc returned to the end of their room. Only if
  // they were asked for.
  std::vector<MallocBlock> in_use;
  // The main arena's own counts of separately mapped blocks.
  std::optional<u64> large_blocks, large_bytes;
  Notes problems;
};

// Reads glibc's malloc, or musl's (mallocng.h). `most_blocks`: how many blocks in use to list.
MallocArenas find_malloc_arenas(const Target &target, u64 most_blocks = 0);

// True if the module is glibc.
bool is_glibc(const Module &module);
// True if the module is musl, whose loader is also its libc.
bool is_musl(const Module &module);

// Returns separately mapped blocks in [start, end), which must be unclaimed memory. They are recognized by their
// headers at the beginning of pages.
std::vector<MallocBlock> find_large_blocks(const Memory &memory, Address start, Address end);

// Returns other allocators among the modules, each by name and file: "jemalloc (libjemalloc.so.2)"; mimalloc, tcmalloc,
// snmalloc, musl. Allocators linked into a program are not found.
std::vector<std::string> other_allocators(const Target &target);

// Returns the mapped parts of mimalloc 2's segments if its library is loaded: 32 MiB each, at multiples of that. Each
// segment has, at the same offset, its own address mixed with one random word of the process.
std::vector<MallocBlock> find_mimalloc_segments(const Target &target);

} // namespace dnheap
