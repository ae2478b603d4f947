#include "analysis/process/memory_claims.h"

#include "analysis/process/claim_order.h"
#include "analysis/process/thread_memory.h"
#include "base/text.h"
#include "image/module_image.h"
#include "runtime/facts/runtime_block.h"
#include "runtime/library_names.h"

#include <algorithm>
#include <fmt/format.h>

namespace dnheap {

namespace {

constexpr u64 page_bytes = 4096;
constexpr Address round_to_page(Address at) { return at / page_bytes * page_bytes; }

bool is_shared_memory(std::string_view path) {
  return path.starts_with("/dev/shm/") || path.starts_with("/SYSV") || path.starts_with("/memfd:") ||
         path.starts_with("/dev/zero");
}

class Claims {
public:
  Claims(const Snapshot &snapshot, std::span<const MappedPlace> places, Coloring &coloring, AccountMap &out)
      : snapshot_(snapshot), target_(snapshot.target()), places_(places), coloring_(coloring), out_(out) {}

  void make() {
    claim_heap();
    claim_gc();
    claim_code();
    claim_stacks();
    claim_malloc();
    claim_modules();
    claim_special_mappings();
    claim_large_blocks();
  }

private:
  using enum MemoryClass;

  void claim(MemoryClass memory, Address start, Address end, bool is_guess = false, u32 tag = 0) {
    coloring_.claim(start, end, colour_of(memory, is_guess), tag);
  }
  ClassSum &sum(MemoryClass memory) { return out_.classes[static_cast<u8>(memory)]; }
  // Runs one step; if it throws, records why and goes on.
  template <class Part> void try_part(const char *what, Part part) {
    Notes problems;
    try {
      part(problems);
    } catch (const Error &e) {
      problems.add(Subject::memory, Effect::none, std::string(what) + ": ", e);
    }
    out_.notes.add_all(problems.up_to(Effect::none)); // such memory is in the account, as not identified
  }

  void claim_heap() {
    const Heap &heap = snapshot_.heap();
    const bool regions = snapshot_.runtime().gc_flavour().regions;
    for (u32 i = 0; i < heap.segments().size(); ++i) {
      const HeapSegment &s = heap.segments()[i];
      coloring_.claim(s.start, s.end, colour_of_segment, i);
      if (s.generation == GCSegmentGeneration::frozen) { // perhaps inside of an image
        claim(gc_behind_objects, round_to_page(s.start), s.committed_end.value_or(s.end), true, i);
        continue;
      }
      // There is some room before the first object; without regions it contains the segment's own record, too.
      Address from = round_to_page(s.start);
      if (!regions && s.segment < s.start && s.start - s.segment <= 2 * page_bytes)
        from = round_to_page(s.segment);
      claim(gc_behind_objects, from, s.committed_end.value_or(s.end), false, i);
    }
  }

  void claim_gc() {
    const Runtime &runtime = snapshot_.runtime();
    const Gc &gc = runtime.gc();
    try_part("free regions", [&](Notes &problems) {
      for (const GCMemoryRegionData &region : gc.get_gc_free_regions(problems)) {
        const bool is_leaving = region.kind == FreeRegionKind::global_region;
        const MemoryClass memory = is_leaving ? gc_to_decommit : gc_free_regions;
        claim(memory, round_to_page(region.start), region.start + region.size);
        ++sum(memory).pieces;
      }
    });
    try_part("card tables", [&](Notes &problems) {
      for (const GCMemoryRegionData &region :
           gc.get_gc_bookkeeping_memory_regions(problems).value_or(std::vector<GCMemoryRegionData>()))
        claim(gc_bookkeeping, round_to_page(region.start), align_up(region.start + region.size, page_bytes));
    });
    try_part("handle tables", [&](Notes &problems) {
      for (const GCMemoryRegionData &region : gc.get_handle_table_memory_regions(problems)) {
        claim(handle_tables, region.start, region.start + region.size);
        ++sum(handle_tables).pieces;
      }
    });
    // Without regions the range contains memory of others.
    if (runtime.gc_flavour().regions)
      try_part("the GC's range", [&](Notes &) {
        if (std::optional<std::pair<Address, Address>> bounds = gc.get_gc_bounds())
          claim(gc_other, bounds->first, bounds->second);
      });
  }

  // The loader heaps are those of all modules that are listed as loaded, or have a type on the heap.
  void claim_code() {
    std::vector<Address> types;
    for (const TypeTally &type : snapshot_.tally().types)
      types.push_back(type.method_table);
    for (const RuntimeBlock &block : snapshot_.runtime().own_blocks(types)) {
      const MemoryClass memory = block.kind == RuntimeBlock::Kind::code    ? jit_code
                                 : block.kind == RuntimeBlock::Kind::stubs ? runtime_stubs
                                                                           : loader_heaps;
      claim(memory, block.start, block.end);
      ++sum(memory).pieces;
      if (memory == loader_heaps)
        out_.loader_blocks.push_back(block);
    }
  }

  void claim_stacks() {
    const std::vector<ThreadMemory> stacks = find_thread_memory(target_);
    for (const ThreadMemory &stack : stacks) {
      claim(stacks_in_use, stack.in_use, stack.end, !stack.is_certain);
      claim(stacks_below, stack.start, stack.in_use, !stack.is_certain);
    }
    sum(stacks_in_use).pieces = sum(stacks_below).pieces = stacks.size();
    if (stacks.size() < target_.threads.size() && !target_.extraction) // an extracted core has no stacks of native
                                                                       // threads
      out_.notes.add(Subject::memory, Effect::none,
                     fmt::format("the stacks of {} of {} threads were not found",
                                 target_.threads.size() - stacks.size(), target_.threads.size()));
  }

  void claim_malloc() {
    out_.malloc = find_malloc_arenas(target_);
    std::vector<std::string> others = other_allocators(target_);
    if (out_.malloc.lists_blocks)
      std::erase_if(others, [](const std::string &name) { return name.starts_with("musl "); });
    out_.other_allocators = fmt::format("{}", fmt::join(others, ", "));
    if (out_.malloc.arenas.empty() && !others.empty()) // these replace libc's malloc, which has no arena in that case
      out_.malloc.problems = {};
    const std::vector<MallocBlock> segments = find_mimalloc_segments(target_);
    for (const MallocBlock &one : segments)
      claim(malloc_not_walked, one.start, one.end);
    out_.mimalloc_segments = sum(malloc_not_walked).pieces = segments.size();
    for (const MallocBlock &block : out_.malloc.blocks)
      claim(malloc_large, block.start, block.end);
    sum(malloc_large).pieces = out_.malloc.blocks.size();
    for (u32 i = 0; i < out_.malloc.heaps.size(); ++i) {
      const MallocHeap &heap = out_.malloc.heaps[i];
      claim(malloc_in_use, heap.start, heap.end, false, i);
      claim(malloc_top, heap.end, heap.mapped_end);
    }
    if (!target_.extraction) // an extracted core has little memory of native code
      out_.notes.add_all(out_.malloc.problems);
  }

  void claim_modules() {
    constexpr u64 largest_image = u64{4} << 30;
    for (const Module &module : target_.modules) {
      const std::optional<ModuleImage> image = ModuleImage::at(target_.memory, module.base);
      const bool is_image = image || module.path.ends_with(".dll") || module.path.ends_with(".so") ||
                            module.path.ends_with(".exe") || module.path.find(".so.") != std::string::npos;
      const MemoryClass memory = is_made_code(module.path)       ? runtime_other
                                 : is_shared_memory(module.path) ? shared_memory
                                 : is_image                      ? images
                                                                 : mapped_files;
      sum(memory).pieces += 1;
      for (const Extent &extent : module.extents)
        claim(memory, extent.start, extent.end);
      if (memory != images)
        continue;
      // Memory that starts as zeros (.bss) lies after the file's pages, or between them.
      Address end = module.end();
      if (image && image->end() > end && image->end() - module.base < largest_image)
        end = align_up(image->end(), page_bytes);
      if (end - module.base < largest_image)
        claim(images, module.base, end, true);
    }
  }

  void claim_special_mappings() {
    constexpr u64 vdso = 33; // AT_SYSINFO_EHDR
    const auto code_of_kernel = target_.auxv.find(vdso);
    const bool is_core_clr = std::string_view(snapshot_.runtime().kind()) == "coreclr";
    for (const MappedPlace &place : places_) {
      const Mapping &m = place.mapping;
      const bool holds_vdso =
          code_of_kernel != target_.auxv.end() && code_of_kernel->second >= m.start && code_of_kernel->second < m.end;
      if (m.name.starts_with("[v") || holds_vdso)
        claim(kernel, m.start, m.end);
      else if (is_made_code(m.name) || (is_core_clr && m.executable && !place.is_file && !m.is_shared))
        claim(runtime_other, m.start, m.end, true);
      else if (m.is_shared && (m.name.empty() || is_shared_memory(m.name)))
        claim(shared_memory, m.start, m.end);
      else if (place.is_file)
        claim(mapped_files, m.start, m.end, true);
    }
  }

  // Runs last: finds blocks that malloc mapped one by one, in memory that nobody claimed, or that only seems to belong
  // to an image: a file that is mapped as it is ends before the size that its headers state.
  void claim_large_blocks() {
    if (out_.malloc.arenas.empty() || out_.malloc.lists_blocks)
      return;
    u64 bytes = 0;
    auto look_at = [&](Address start, Address end) {
      for (const MallocBlock &block : find_large_blocks(target_.memory, start, end)) {
        claim(malloc_large, block.start, block.end);
        out_.malloc.blocks.push_back(block);
        bytes += block.end - block.start;
      }
    };
    Address start = 0, end = 0; // of stretches that follow each other in one place
    u32 of = 0;
    for (const ColouredStretch &stretch : coloring_.stretches()) {
      const MappedPlace &place = places_[stretch.place];
      const bool may_be = stretch.colour == Coloring::none || stretch.colour == colour_of(images, true);
      if (!may_be || !place.mapping.writable || place.mapping.executable || place.is_file)
        continue;
      if (stretch.start != end || stretch.place != of) {
        look_at(start, end);
        start = stretch.start;
        of = stretch.place;
      }
      end = std::min(stretch.end, place.mapping.stored_end);
    }
    look_at(start, end);
    const u64 blocks = out_.malloc.blocks.size();
    sum(malloc_large).pieces = blocks;
    const MallocArenas &malloc = out_.malloc;
    if (malloc.large_bytes && (*malloc.large_bytes != bytes || *malloc.large_blocks != blocks))
      out_.notes.add(Subject::memory, Effect::none,
                     fmt::format("found {} of malloc's {} blocks with a mapping of their own ({} of {})",
                                 count_text(blocks), count_text(*malloc.large_blocks), bytes_text(bytes),
                                 bytes_text(*malloc.large_bytes)));
  }

  const Snapshot &snapshot_;
  const Target &target_;
  const std::span<const MappedPlace> places_;
  Coloring &coloring_;
  AccountMap &out_;
};

} // namespace

void claim_memory(const Snapshot &snapshot, std::span<const MappedPlace> places, Coloring &coloring, AccountMap &out) {
  Claims(snapshot, places, coloring, out).make();
}

} // namespace dnheap
