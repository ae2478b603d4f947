#include "heap/heap.h"

#include "base/text.h"

#include <algorithm>

namespace dnheap {

namespace {

constexpr u64 most_notes = 1000;

} // namespace

Heap::Heap(const Runtime &runtime) : memory_(&runtime.memory()), min_object_size_(runtime.min_object_size()) {
  collect_absent(runtime.target());
  try {
    add_segments(runtime.heap_segments(notes_));
    collect_contexts(runtime);
  } catch (const Error &e) {
    if (runtime.why_no_heap().empty())
      throw;
    notes_.add(Subject::heap, Effect::numbers, "the place of the heap is unknown: ", e);
  }
  Notes said_elsewhere;
  is_planned_ = runtime.gc_structures_valid(said_elsewhere) == false;
  segment_context_bytes_.resize(segments_.size());
  for (u32 i = 0; i < segments_.size(); ++i)
    cut_segment(i);
  for (const Context &context : contexts_)
    if (!context.in_segment)
      add_problem("the allocation context " + hex(context.pointer) + " to " + hex(context.limit) +
                  " lies in no segment");
  if (more_problems_)
    notes_.add(Subject::heap, Effect::numbers,
               "and " + count_text(more_problems_) + (more_problems_ == 1 ? " more problem" : " more problems") +
                   " of these kinds");
  std::sort(ranges_.begin(), ranges_.end(), [](const auto &a, const auto &b) { return a.address < b.address; });
  std::sort(gaps_.begin(), gaps_.end(), [](const auto &a, const auto &b) { return a.start < b.start; });
}

// The target's ranges are sorted; where two overlap, the first one counts.
void Heap::collect_absent(const Target &target) {
  for (AbsentRange range : target.absent) {
    if (!absent_.empty())
      range.start = std::max(range.start, absent_.back().end);
    if (range.start < range.end)
      absent_.push_back(std::move(range));
  }
}

void Heap::add_segments(std::vector<HeapSegment> segments) {
  segments_ = std::move(segments);
  if (segments_.empty()) // every started runtime has segments
    add_problem("the GC's lists of segments are empty: the process had not started, or the dump is damaged");
  // A segment with impossible bounds, or one that overlaps another, would count objects twice: leave it out, and report
  // it.
  std::vector<const HeapSegment *> by_start;
  for (const HeapSegment &s : segments_)
    by_start.push_back(&s);
  std::stable_sort(by_start.begin(), by_start.end(), [](auto a, auto b) { return a->start < b->start; });
  std::vector<bool> bad(segments_.size());
  Address covered = 0;
  for (const HeapSegment *s : by_start) {
    bool is_aligned = s->start % memory_->format().pointer_size == 0; // as every object is
    bool sound = s->is_sound() && is_aligned && (s->start >= covered || s->start == s->end);
    if (sound)
      covered = std::max(covered, s->end);
    else {
      add_problem(std::string("segment ") + hex(s->segment) + " of " + name_of(s->generation) + " (" + hex(s->start) +
                  " to " + hex(s->end) + ") has unsound bounds and was left out");
      bad[static_cast<u64>(s - segments_.data())] = true;
    }
  }
  u64 i = 0;
  std::erase_if(segments_, [&](const HeapSegment &) { return bad[i++]; });
  for (const HeapSegment &s : segments_) {
    segment_bytes_ += s.end - s.start;
    if (s.start >= s.end)
      continue;
    extents_.emplace_back(s.start, s.end);
    if (s.generation == GCSegmentGeneration::frozen)
      frozen_extents_.push_back(extents_.back());
  }
  std::sort(extents_.begin(), extents_.end());
  std::sort(frozen_extents_.begin(), frozen_extents_.end());
}

void Heap::add_problem(std::string problem) {
  if (notes_.size() < most_notes)
    notes_.add(Subject::heap, Effect::numbers, std::move(problem));
  else
    ++more_problems_;
}

bool Heap::is_in(const Extents &extents, Address address) {
  auto next = std::upper_bound(extents.begin(), extents.end(), address,
                               [](Address a, const std::pair<Address, Address> &extent) { return a < extent.first; });
  return next != extents.begin() && address < std::prev(next)->second;
}

bool Heap::holds(Address address) const { return is_in(extents_, address); }

bool Heap::is_frozen(Address address) const { return is_in(frozen_extents_, address); }

void Heap::collect_contexts(const Runtime &runtime) {
  for (const AllocationContext &context : runtime.allocation_contexts(notes_))
    contexts_.push_back({context});
  std::erase_if(contexts_, [](const AllocationContext &c) { return c.pointer == 0; });
  std::sort(contexts_.begin(), contexts_.end(), [](const auto &a, const auto &b) { return a.pointer < b.pointer; });
  auto same = [](const auto &a, const auto &b) { return a.pointer == b.pointer && a.limit == b.limit; };
  contexts_.erase(std::unique(contexts_.begin(), contexts_.end(), same), contexts_.end());
}

// The GC gives a thread [pointer, limit) to allocate from, and keeps room for one smallest object after it, so that the
// unused rest can become a Free object. That stretch holds no objects.
void Heap::cut_segment(u32 index) {
  const HeapSegment &segment = segments_[index];
  Format format = memory_->format();
  bool large = segment.generation == GCSegmentGeneration::loh || segment.generation == GCSegmentGeneration::poh;
  ObjectRange like;
  like.segment = index;
  like.generation = segment.generation;
  like.alignment = large ? 8 : format.pointer_size;
  u64 smallest = align_up(min_object_size_, like.alignment);

  Address at = segment.start;
  auto context = std::lower_bound(contexts_.begin(), contexts_.end(), segment.start,
                                  [](const AllocationContext &c, Address a) { return c.pointer < a; });
  for (; context != contexts_.end() && context->pointer < segment.end; ++context) {
    context->in_segment = true;
    const bool is_aligned = (context->pointer | context->limit) % format.pointer_size == 0;
    if (!is_aligned || context->pointer < at || context->limit < context->pointer || context->limit > segment.end) {
      add_problem("the allocation context " + hex(context->pointer) + " to " + hex(context->limit) +
                  " does not fit its segment and was not skipped");
      continue;
    }
    cut_stretch(like, at, context->pointer);
    at = std::min(add_clamped(context->limit, smallest), segment.end);
    segment_context_bytes_[index] += at - context->pointer;
    context_bytes_ += at - context->pointer;
    ++context_count_;
  }
  cut_stretch(like, at, segment.end);
}

// Adds gaps for [start, end), of which nothing is known, split where the reasons differ.
void Heap::add_gaps(Address start, Address end) {
  auto it = std::partition_point(absent_.begin(), absent_.end(), [&](const AbsentRange &a) { return a.end <= start; });
  while (start < end) {
    bool explained = it != absent_.end() && it->start <= start;
    Address until = it == absent_.end() ? end : std::min(end, explained ? it->end : it->start);
    gaps_.push_back({start, until, explained ? std::string_view(it->reason) : "not in this dump"});
    start = until;
    if (explained)
      ++it;
  }
}

// [start, end) begins with an object. The dump may contain it whole, in adjacent pieces, with holes, or not at all.
// Pieces may begin anywhere; ranges begin where an object can.
void Heap::cut_stretch(const ObjectRange &like, Address start, Address end) {
  bool follows_gap = false;
  const Address first = start;
  auto memory = memory_->ranges();
  auto piece =
      std::upper_bound(memory.begin(), memory.end(), start, [](Address a, const Range &r) { return a < r.address; });
  if (piece != memory.begin() && std::prev(piece)->end() > start)
    --piece;
  while (start < end) {
    while (piece != memory.end() && piece->end() <= start)
      ++piece;
    Address known = piece == memory.end() ? end : std::clamp(piece->address, start, end);
    if (known > start) {
      const u64 beyond =
          (known - first) % like.alignment; // may be at the end of the address space; written so that nothing wraps
      known += std::min(end - known, beyond ? like.alignment - beyond : 0);
      add_gaps(start, known);
      start = known;
      follows_gap = true;
      continue;
    }
    ObjectRange range = like;
    range.address = start;
    range.starts_with_object = !follows_gap;
    range.bytes = memory_->place(start, end - start);
    Address until = range.address + range.bytes.size();
    for (++piece; until < end && piece != memory.end() && piece->address == until; ++piece) {
      until = std::min(end, piece->end());
      range.bytes = {};
    }
    range.size = until - start;
    ranges_.push_back(range);
    start = until;
  }
}

} // namespace dnheap
