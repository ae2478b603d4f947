#include "analysis/process/memory_class.h"

namespace dnheap {

namespace {

struct ClassRow {
  const char *name, *group, *text;
};
constexpr ClassRow class_rows[memory_class_count] = {
    {"objects", "gc", "heap: objects"},
    {"live_objects", "gc", "heap: objects that something keeps alive"},
    {"dead_objects", "gc", "heap: dead objects, which the next full collection frees"},
    {"frozen_objects", "gc", "heap: frozen objects, which are never collected"},
    {"free_objects", "gc", "heap: free, between objects"},
    {"allocation_contexts", "gc", "heap: allocation contexts, for each thread's next objects"},
    {"gc_not_walked", "gc", "heap: not walked, so what it holds is not known"},
    {"gc_behind_objects", "gc", "GC: committed, behind the last object of a region"},
    {"gc_free_regions", "gc", "GC: committed, in free regions"},
    {"gc_to_decommit", "gc", "GC: committed, in regions about to be given back"},
    {"gc_bookkeeping", "gc", "GC: card tables, mark array and the like"},
    {"gc_other", "gc", "GC: other memory in its range"},
    {"handle_tables", "runtime", "runtime: tables of GC handles"},
    {"jit_code", "runtime", "runtime: code compiled while it ran"},
    {"runtime_stubs", "runtime", "runtime: stubs and precode"},
    {"loader_heaps", "runtime", "runtime: types and methods (loader heaps)"},
    {"runtime_other", "runtime", "runtime: more of its executable memory"},
    {"malloc_in_use", "malloc", "malloc: in use"},
    {"malloc_large", "malloc", "malloc: in use, large blocks, each in its own mapping"},
    {"malloc_cached", "malloc", "malloc: freed, kept for the next block of that size"},
    {"malloc_free", "malloc", "malloc: freed, between blocks in use"},
    {"malloc_top", "malloc", "malloc: not handed out yet, or given back"},
    {"malloc_not_walked", "malloc", "malloc: could not be followed"},
    {"stacks_in_use", "stacks", "stacks: in use"},
    {"stacks_below", "stacks", "stacks: below the stack pointer, mostly never touched"},
    {"images", "files", "programs, libraries and assemblies"},
    {"mapped_files", "files", "other mapped files"},
    {"shared_memory", "files", "shared memory"},
    {"kernel", "other", "the kernel's pages (vdso, vvar)"},
    {"not_identified", "other", "not identified"},
    {"reserved", "other", "address space only: reserved, without access"},
};

} // namespace

const char *name_of(MemoryClass memory) { return class_rows[static_cast<u8>(memory)].name; }
const char *group_of(MemoryClass memory) { return class_rows[static_cast<u8>(memory)].group; }
const char *text_of(MemoryClass memory) { return class_rows[static_cast<u8>(memory)].text; }

} // namespace dnheap
