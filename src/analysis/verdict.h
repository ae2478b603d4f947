// The verdict: what is wrong with a process's memory, in one sentence, by explicit rules. Each rule is a row of a table
// in verdict.cc: when it applies, how many bytes it explains, what it says. The one that explains most wins; where none
// applies nothing is wrong. Plain numbers in, text out; any thread.
#pragma once
#include "base/integers.h"

#include <string>

namespace dnheap {

struct VerdictFacts {
  u64 process = 0;        // accessible bytes of the process, as far as the dump tells
  u64 heap = 0;           // what the GC has committed
  u64 live = 0, dead = 0; // objects
  u64 free_inside = 0;    // between objects
  u64 gc_empty = 0;       // committed and empty: free regions, to be given back, behind the last objects
  u64 malloc_in_use = 0, malloc_free = 0;
  u64 stacks = 0, threads = 0;
  u64 finalizers = 0; // bytes that only objects whose finalizer is due hold
  u64 finalizer_objects = 0;
  u64 pinned = 0; // objects that cannot be moved
  // The largest suspect that the program itself, or its container of services, holds.
  u64 suspect = 0, suspect_elements = 0;
  std::string suspect_text, suspect_way;
};

struct MemoryVerdict {
  std::string rule; // "one_owner", … "nothing": a word for scripts
  std::string text; // one or two sentences
  u64 bytes = 0;    // that it explains
};

MemoryVerdict judge(const VerdictFacts &facts);

} // namespace dnheap
