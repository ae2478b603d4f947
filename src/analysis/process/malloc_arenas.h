// MallocArenas: what malloc of glibc (2.31 to 2.43 were looked at) keeps in the process, without symbols: the main
// arena is found in libc's data by the shape of its lists, the others by their chain, and where libc's data are missing
// by their heaps at multiples of 64 MiB; the chunks of each are walked from end to end. Nothing is trusted: what is not
// sound ends the walk, and the rest is not counted. Costs a load or two per chunk, and nothing per chunk in memory.
// 64-bit Linux only. Call from one thread.
#pragma once
#include "target/target.h"

#include <string>
#include <vector>

namespace dnheap {

// A stretch that an arena cuts into chunks: the main arena's one, which sbrk gave, or a heap of another.
struct MallocHeap {
  Address start = 0, end = 0; // of chunks, and what the arena needs in front of them
  Address mapped_end = 0;     // it was larger once: up to here still accessible; 0: was not
  u32 arena = 0;              // index
  Address first_chunk = 0;
  // Bytes that sum to end − start, unless the walk came to an end before: in chunks in use; free; free, but kept by a
  // thread (or in lists that do not merge), which malloc itself counts as in use; at the end, not handed out yet.
  u64 in_use = 0, free = 0, cached = 0, top = 0;
  u64 chunks = 0; // in use
  bool is_whole = false;
};

struct MallocArena {
  Address address = 0; // 0: of the main arena, whose data are missing
  bool is_main = false;
};

// A block so large that malloc mapped it by itself.
struct MallocBlock {
  Address start = 0, end = 0;
};

struct MallocArenas {
  std::vector<MallocArena> arenas; // the main one first
  std::vector<MallocHeap> heaps;
  std::vector<MallocBlock> blocks; // mapped by themselves; known where lists_blocks
  bool lists_blocks = false;       // of musl; else find_large_blocks() looks for them
  // What the main arena says of blocks mapped by themselves.
  std::optional<u64> large_blocks, large_bytes;
  std::vector<std::string> problems;
};

// Of glibc, or of musl (mallocng.h).
MallocArenas find_malloc_arenas(const Target &target);

// Is this musl? Its loader is its libc, too.
bool is_musl(const Module &module);

// Blocks mapped by themselves that lie in [start, end), memory that nothing else claims: told by their heads, at the
// beginning of pages.
std::vector<MallocBlock> find_large_blocks(const Memory &memory, Address start, Address end);

// Other allocators among the modules, each by name and file: "jemalloc (libjemalloc.so.2)"; mimalloc, tcmalloc,
// snmalloc, musl. One that is linked into a program is not known.
std::vector<std::string> other_allocators(const Target &target);

// Segments of mimalloc 2 where its library is loaded: 32 MiB each, at multiples of that, as far as they are mapped.
// Each has, at the same place of its head, its own address mixed with one random word of the process.
std::vector<MallocBlock> find_mimalloc_segments(const Target &target);

} // namespace dnheap
