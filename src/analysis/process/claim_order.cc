#include "analysis/process/claim_order.h"

#include "algorithms/coloring.h"

#include <algorithm>

namespace dnheap {

namespace {

constexpr u32 by_class = colour_of_segment + 1; // from here on: by_class + index in claim_order

// The order in which bytes are claimed, most reliable first: the runtime's own records; a thread's own record of its
// stack; malloc's lists; container and system on files; a mapping that contains a stack pointer; memory beside such
// memory; memory that looks like a block of malloc.
constexpr MemoryClass claim_order[] = {
    MemoryClass::gc_behind_objects,
    MemoryClass::gc_to_decommit,
    MemoryClass::gc_free_regions,
    MemoryClass::gc_bookkeeping,
    MemoryClass::handle_tables,
    MemoryClass::jit_code,
    MemoryClass::runtime_stubs,
    MemoryClass::loader_heaps,
    MemoryClass::stacks_in_use,
    MemoryClass::stacks_below,
    MemoryClass::malloc_in_use,
    MemoryClass::malloc_top,
    MemoryClass::kernel,
    MemoryClass::images,
    MemoryClass::mapped_files,
    MemoryClass::shared_memory,
    MemoryClass::runtime_other,
    MemoryClass::gc_other,
    MemoryClass::malloc_large,
    MemoryClass::malloc_not_walked, // whole segments of mimalloc
};
// A less certain claim adds this to its place in the order, so that it comes after all certain claims.
constexpr u32 guessed = 100;

} // namespace

u32 colour_of(MemoryClass memory, bool is_guess) {
  const u64 place = static_cast<u64>(std::find(std::begin(claim_order), std::end(claim_order), memory) - claim_order);
  return by_class + static_cast<u32>(place) + (is_guess ? guessed : 0);
}

MemoryClass class_of(u32 colour) {
  if (colour == Coloring::none)
    return MemoryClass::not_identified;
  return colour == colour_of_segment ? MemoryClass::objects : claim_order[(colour - by_class) % guessed];
}

} // namespace dnheap
