// MemoryClass: the purpose of a byte of a process, as `account` counts it. A table of names; plain data.
#pragma once
#include "base/integers.h"

namespace dnheap {

// In the order of the table.
enum class MemoryClass : u8 {
  objects, // used if live and dead objects are not distinguished
  live_objects,
  dead_objects,
  frozen_objects,
  free_objects,
  allocation_contexts,
  gc_not_walked,
  gc_behind_objects,
  gc_free_regions,
  gc_to_decommit,
  gc_bookkeeping,
  gc_other,
  handle_tables,
  jit_code,
  runtime_stubs,
  loader_heaps,
  runtime_other,
  malloc_in_use,
  malloc_large,
  malloc_cached,
  malloc_free,
  malloc_top,
  malloc_not_walked,
  stacks_in_use,
  stacks_below,
  images,
  mapped_files,
  shared_memory,
  kernel,
  not_identified,
  reserved,
};
inline constexpr u32 memory_class_count = 31;

const char *name_of(MemoryClass memory);  // "gc_free_regions"
const char *group_of(MemoryClass memory); // "gc", "runtime", "malloc", "stacks", "files", "other"
const char *text_of(MemoryClass memory);  // "GC: free regions, committed but empty"

} // namespace dnheap
