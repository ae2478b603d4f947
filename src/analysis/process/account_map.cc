#include "analysis/process/account_map.h"

#include "algorithms/coloring.h"
#include "analysis/process/thread_memory.h"
#include "analysis/process/written_pages.h"
#include "base/text.h"
#include "image/module_image.h"
#include "runtime/facts/runtime_block.h"
#include "runtime/library_names.h"
#include "snapshot/attached_process.h"

#include <algorithm>
#include <fmt/format.h>

namespace dnheap {

namespace {

constexpr u64 page_bytes = 4096;
constexpr Address round_to_page(Address at) { return at / page_bytes * page_bytes; }

// The order in which bytes are claimed, most reliable first: the runtime's own records; a thread's own record of its
// stack; malloc's lists; container and system on files; a mapping that contains a stack pointer; memory beside such
// memory; memory that looks like a block of malloc.
enum Claimant : u32 {
  by_segment, // objects and the gaps between them: tag is the segment, and the walk finds the classes
  by_class,   // from here on: by_class + index in claim_order
};
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

u32 colour_of(MemoryClass memory, bool is_guess = false) {
  const u64 place = static_cast<u64>(std::find(std::begin(claim_order), std::end(claim_order), memory) - claim_order);
  return by_class + static_cast<u32>(place) + (is_guess ? guessed : 0);
}
MemoryClass class_of(u32 colour) {
  if (colour == Coloring::none)
    return MemoryClass::not_identified;
  return colour == by_segment ? MemoryClass::objects : claim_order[(colour - by_class) % guessed];
}
// malloc's heaps are claimed as in use; their chunks are split later.
bool is_malloc_heap(u32 colour) { return colour == colour_of(MemoryClass::malloc_in_use); }

// A mapped range as the container lists it.
struct Place {
  Mapping mapping;
  bool is_file = false;
};

// Returns everything that is mapped: the container's mappings, or if it has none its ranges of bytes, and extents of
// modules that lie elsewhere.
std::vector<Place> places_of(const Target &target) {
  std::vector<Place> out;
  for (const Mapping &mapping : target.mappings)
    out.push_back({mapping, mapping.name.starts_with('/')});
  if (target.mappings.empty())
    for (const Range &range : target.memory.ranges())
      out.push_back({{range.address, range.end(), range.end()}, false});
  for (const Module &module : target.modules)
    for (const Extent &extent : module.extents) {
      Mapping mapping{extent.start, extent.end, extent.start};
      mapping.writable = false;
      out.push_back({mapping, true});
    }
  return out;
}

bool is_shared_memory(std::string_view path) {
  return path.starts_with("/dev/shm/") || path.starts_with("/SYSV") || path.starts_with("/memfd:") ||
         path.starts_with("/dev/zero");
}

class MapMaker {
public:
  MapMaker(const Snapshot &snapshot, const std::optional<ResidentPages> &resident, const std::optional<HeapTally> &live)
      : snapshot_(snapshot), target_(snapshot.target()), resident_(resident), live_(live), places_(places_of(target_)) {
  }

  AccountMap make() {
    for (const Place &place : places_)
      coloring_.add_place(place.mapping.start, place.mapping.end);
    claim_heap();
    claim_gc();
    claim_code();
    claim_stacks();
    claim_malloc();
    claim_modules();
    claim_special_mappings();
    claim_large_blocks();
    count(coloring_.stretches());
    if (target_.container == "process" && !resident_)
      out_.notes.add(Subject::memory, Effect::none,
                     "resident bytes are unknown: the process already ran again, or more than 1 TiB is mapped");
    note_other_allocators();
    return std::move(out_);
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
      coloring_.claim(s.start, s.end, by_segment, i);
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
    for (const Place &place : places_) {
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
      const Place &place = places_[stretch.place];
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

  // Returns the bytes of a stretch: mapped, in the container, and resident. Stretches must come in order of addresses.
  ClassSum sum_of(const ColouredStretch &stretch) {
    const Mapping &mapping = places_[stretch.place].mapping;
    ClassSum out;
    out.bytes = stretch.end - stretch.start;
    out.stored = stretch.start < mapping.stored_end ? std::min(stretch.end, mapping.stored_end) - stretch.start : 0;
    if (!resident_)
      return out;
    const std::vector<std::pair<Address, Address>> &pages = resident_->pages;
    while (next_page_ < pages.size() && pages[next_page_].second <= stretch.start)
      ++next_page_;
    for (u64 i = next_page_; i < pages.size() && pages[i].first < stretch.end; ++i)
      out.resident_low += std::min(pages[i].second, stretch.end) - std::max(pages[i].first, stretch.start);
    out.resident_high = out.resident_low;
    if (resident_->is_estimate)
      out.resident_high = std::max(out.resident_low, std::min(out.stored, at_most_resident(stretch)));
    return out;
  }

  // Returns how many bytes of a stretch in a dump may be resident, apart from non-zero pages.
  u64 at_most_resident(const ColouredStretch &stretch) const {
    const u64 all = stretch.end - stretch.start;
    if (stretch.colour == by_segment)
      return all;
    if (stretch.colour == Coloring::none)
      return 0;
    switch (class_of(stretch.colour)) {
    case gc_behind_objects: {
      const HeapSegment &segment = snapshot_.heap().segments()[stretch.tag];
      const Address used = segment.used_end.value_or(stretch.end);
      return std::min(std::max(used, stretch.start), stretch.end) - stretch.start;
    }
    case gc_to_decommit:
    case gc_free_regions:
    case gc_bookkeeping:
    case gc_other: return all;
    default: return 0;
    }
  }

  void count(const std::vector<ColouredStretch> &stretches) {
    std::vector<ClassSum> segments(snapshot_.heap().segments().size()), heaps(out_.malloc.heaps.size());
    std::pair<u64, u64> resident;
    for (const ColouredStretch &stretch : stretches) {
      const ClassSum bytes = sum_of(stretch);
      out_.mapped += bytes.bytes;
      out_.stored += bytes.stored;
      resident.first += bytes.resident_low;
      resident.second += bytes.resident_high;
      const Mapping &mapping = places_[stretch.place].mapping;
      if (mapping.is_accessible())
        out_.stretches.push_back({stretch.start, stretch.end, class_of(stretch.colour), mapping.writable});
      if (!mapping.is_accessible())
        sum(reserved).add(bytes);
      else if (stretch.colour == by_segment)
        segments[stretch.tag].add(bytes);
      else if (is_malloc_heap(stretch.colour))
        heaps[stretch.tag].add(bytes);
      else if (stretch.colour != Coloring::none)
        sum(class_of(stretch.colour)).add(bytes);
      else {
        sum(not_identified).add(bytes);
        ++sum(not_identified).pieces;
        out_.unknown.push_back({stretch.start, stretch.end, bytes.stored, mapping.readable, mapping.writable,
                                mapping.executable, mapping.name});
      }
    }
    if (resident_) {
      out_.resident = resident;
      out_.is_estimate = resident_->is_estimate;
    }
    split_segments(segments);
    split_malloc(heaps);
  }

  struct Part {
    MemoryClass memory;
    u64 bytes;
  };
  // Distributes the bytes of `whole` to its parts; the remaining bytes go to `rest`, or all if the parts do not fit. If
  // the container lacks some bytes, the first parts are taken as stored, because their objects or chunks were walked.
  void split(const ClassSum &whole, std::initializer_list<Part> parts, MemoryClass rest) {
    u64 known = 0;
    for (const Part &part : parts)
      known += part.bytes;
    const bool fits = known <= whole.bytes;
    u64 stored = whole.stored;
    auto give = [&](MemoryClass memory, u64 bytes) {
      ClassSum one;
      one.bytes = bytes;
      one.stored = std::min(bytes, stored);
      stored -= one.stored;
      const u64 others = whole.bytes - bytes;
      // In a page with several classes, any of them may have the non-zero byte.
      one.resident_low = whole.resident_low > others ? whole.resident_low - others : 0;
      one.resident_high = std::min(bytes, whole.resident_high);
      sum(memory).add(one);
    };
    for (const Part &part : parts)
      give(part.memory, fits ? part.bytes : 0);
    give(rest, fits ? whole.bytes - known : whole.bytes);
  }

  void split_segments(const std::vector<ClassSum> &segments) {
    const Heap &heap = snapshot_.heap();
    const HeapTally &tally = snapshot_.tally();
    for (u32 i = 0; i < segments.size(); ++i) {
      const bool is_frozen = heap.segments()[i].generation == GCSegmentGeneration::frozen;
      const u64 of_objects = tally.segments[i].objects.aligned_bytes, free = tally.segments[i].free.aligned_bytes;
      // An allocation context may lie in memory that is not known as mapped.
      const u64 walked = of_objects + free, rest = segments[i].bytes > walked ? segments[i].bytes - walked : 0;
      const u64 contexts = std::min(heap.context_bytes(i), rest);
      if (is_frozen || !live_) {
        const MemoryClass memory = is_frozen ? frozen_objects : objects;
        split(segments[i], {{memory, of_objects}, {free_objects, free}, {allocation_contexts, contexts}},
              gc_not_walked);
        ++sum(memory).pieces;
      } else {
        const u64 live = std::min(live_->segments[i].objects.aligned_bytes, of_objects);
        split(segments[i],
              {{live_objects, live},
               {dead_objects, of_objects - live},
               {free_objects, free},
               {allocation_contexts, contexts}},
              gc_not_walked);
      }
    }
  }

  void split_malloc(const std::vector<ClassSum> &heaps) {
    for (u32 i = 0; i < heaps.size(); ++i) {
      const MallocHeap &heap = out_.malloc.heaps[i];
      split(heaps[i],
            {{malloc_in_use, heap.in_use},
             {malloc_cached, heap.cached},
             {malloc_free, heap.free},
             {malloc_top, heap.top}},
            malloc_not_walked);
      sum(malloc_in_use).pieces += heap.chunks;
    }
  }

  void note_other_allocators() {
    if (out_.other_allocators.empty())
      return;
    for (const UnknownStretch &one : out_.unknown)
      if (one.writable && !one.executable)
        out_.perhaps_theirs += one.end - one.start;
    const u64 in_segments = out_.mimalloc_segments ? sum(malloc_not_walked).bytes : 0;
    out_.notes.add(
        Subject::memory, Effect::none,
        fmt::format("the process uses {}, whose blocks are not counted: they may be in {}the {} that are not "
                    "identified{}",
                    out_.other_allocators,
                    in_segments ? bytes_text(in_segments) + " of mimalloc's segments, and in " : "",
                    bytes_text(out_.perhaps_theirs),
                    out_.malloc.arenas.empty() ? "" : "; the rows of malloc show libc's own malloc only"));
    out_.perhaps_theirs += in_segments;
  }

  const Snapshot &snapshot_;
  const Target &target_;
  const std::optional<ResidentPages> &resident_;
  const std::optional<HeapTally> &live_;
  const std::vector<Place> places_;
  Coloring coloring_;
  AccountMap out_;
  u64 next_page_ = 0;
};

} // namespace

void ClassSum::add(const ClassSum &other) {
  bytes += other.bytes;
  stored += other.stored;
  resident_low += other.resident_low;
  resident_high += other.resident_high;
  pieces += other.pieces;
}

u64 AccountMap::sum_of(EnumSet<MemoryClass> some, u64 ClassSum::*figure) const {
  u64 out = 0;
  for (u32 i = 0; i < memory_class_count; ++i)
    if (some.has(static_cast<MemoryClass>(i)))
      out += classes[i].*figure;
  return out;
}

bool is_of_files(MemoryClass memory) { return memory == MemoryClass::images || memory == MemoryClass::mapped_files; }

std::optional<ResidentPages> resident_pages(const Snapshot &snapshot) {
  const Target &target = snapshot.target();
  if (target.container == "process") {
    if (const AttachedProcess *process = snapshot.process(); process && process->resident())
      return ResidentPages{*process->resident(), false};
    return std::nullopt;
  }
  if (target.extraction)
    return std::nullopt;
  std::vector<std::pair<Address, Address>> among;
  Address end = 0; // end of the last place added
  std::vector<Place> places = places_of(target);
  std::sort(places.begin(), places.end(),
            [](const Place &a, const Place &b) { return a.mapping.start < b.mapping.start; });
  for (const Place &place : places) {
    const Address from = std::max(end, place.mapping.start),
                  until = std::min(place.mapping.end, place.mapping.stored_end);
    // gcore writes memory that is only reserved, hundreds of GiB in a sparse file, as read-only.
    const bool can_be_written = place.mapping.writable || place.mapping.executable;
    if (!place.is_file && can_be_written && place.mapping.is_accessible() && from < until)
      among.emplace_back(from, until);
    end = std::max(end, place.mapping.end);
  }
  return ResidentPages{written_pages(target.memory, among, snapshot.threads()), true};
}

AccountMap make_account_map(const Snapshot &snapshot, const std::optional<ResidentPages> &resident,
                            const std::optional<HeapTally> &live) {
  return MapMaker(snapshot, resident, live).make();
}

} // namespace dnheap
