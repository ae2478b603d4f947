#include "analysis/process/account_map.h"

#include "algorithms/coloring.h"
#include "analysis/process/account_of_record.h"
#include "analysis/process/claim_order.h"
#include "analysis/process/mapped_places.h"
#include "analysis/process/memory_claims.h"
#include "base/text.h"

#include <algorithm>
#include <fmt/format.h>

namespace dnheap {

namespace {

// malloc's heaps are claimed as in use; their chunks are split later.
bool is_malloc_heap(u32 colour) { return colour == colour_of(MemoryClass::malloc_in_use); }

class MapMaker {
public:
  MapMaker(const Snapshot &snapshot, const std::optional<ResidentPages> &resident, const std::optional<HeapTally> &live)
      : snapshot_(snapshot), target_(snapshot.target()), resident_(resident), live_(live),
        places_(mapped_places(target_)) {}

  AccountMap make() {
    for (const MappedPlace &place : places_)
      coloring_.add_place(place.mapping.start, place.mapping.end);
    claim_memory(snapshot_, places_, coloring_, out_);
    count(coloring_.stretches());
    if (target_.container == "process" && !resident_)
      out_.notes.add(Subject::memory, Effect::none,
                     "resident bytes are unknown: the process already ran again, or more than 1 TiB is mapped");
    note_other_allocators();
    return std::move(out_);
  }

private:
  using enum MemoryClass;

  ClassSum &sum(MemoryClass memory) { return out_.classes[static_cast<u8>(memory)]; }

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
    if (stretch.colour == colour_of_segment)
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
      else if (stretch.colour == colour_of_segment)
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
  const std::vector<MappedPlace> places_;
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

AccountMap make_account_map(const Snapshot &snapshot, const std::optional<ResidentPages> &resident,
                            const std::optional<HeapTally> &live) {
  if (snapshot.target().record)
    return account_of_record(snapshot, live);
  return MapMaker(snapshot, resident, live).make();
}

} // namespace dnheap
