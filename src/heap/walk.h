// The walk: visits every object of the heap once, in parallel, without copying. This loop determines the speed of
// dnheap: per object one load of the MethodTable, one look-up, one load of the component count, one visit.
//
// A long range is cut into chunks so that several threads share it. Object starts are known only at the beginning of a
// range, so a chunk begins at a *guess*: a position from which a long chain of valid objects leads on. This is fast,
// and also correct, because each chunk is walked up to the very position at which the next one began. If any walk steps
// over that position instead of landing on it, a guess was wrong; everything is discarded and walked again uncut. So
// the result never depends on the number of threads, whatever the heap contains and however damaged it is.
#pragma once
#include "base/parallel.h"
#include "base/watch.h"
#include "heap/gap_list.h"
#include "heap/heap.h"
#include "heap/type_table.h"
#include "runtime/object_1.h"

#include <memory>

namespace dnheap {

// One object, valid during one visit. `size` is the size that ClrMD and SOS report: not rounded up.
struct Object {
  Address address = 0;
  u32 type = 0; // id in the walking thread's TypeTable
  u64 size = 0;
  u64 aligned_size = 0; // its size in the heap
  // The bytes from its MethodTable on: all but its header. For a live process only MethodTable and component count are
  // there.
  const std::byte *bytes = nullptr;
};

// The reason of a Gap where the walk had to stop.
inline constexpr std::string_view no_sound_object = "no valid object here";

// True if a planning collection has overwritten the length of the array that seems to be at offset `at`, since another
// object begins where the collection's words end. `next`: where the array would end.
bool has_lost_length(Bytes bytes, u64 at, u64 next, u64 limit, u64 alignment, TypeTable &types, Format format);

// Visits objects from offset `at` until an offset >= `until` is reached or an object is not valid. Returns the offset
// reached; if it is < `until`, no valid object lies there. Reads only `bytes`, but objects may extend up to `limit`.
template <class Visit>
u64 walk_objects(Bytes bytes, Address address, u64 at, u64 until, u64 limit, u64 alignment, TypeTable &types,
                 const Format format, Visit &&visit) {
  const u64 smallest = smallest_object(format);
  const bool is_planned = types.is_planned();
  const std::byte *p = bytes.data();
  while (at < until && bytes.size() - at >= smallest) {
    const TypeRow *type = types.find(method_table_in(load_pointer(p + at, format), format));
    if (!type)
      break;
    // Types without components multiply by 0: no branch to mispredict.
    u32 components = load<u32>(p + at + format.pointer_size, format.byte_order);
    u64 size = object_size(type->base_size, type->component_size, components, format);
    u64 aligned = align_up(size, alignment);
    if (aligned > limit - at)
      break;
    const u32 id = type->id;
    if (is_planned && type->component_size && has_lost_length(bytes, at, at + aligned, limit, alignment, types, format))
      break;
    visit(Object{address + at, id, size, aligned, p + at});
    at += aligned;
  }
  return at;
}

// Returns a position >= `from` that is probably an object start: the end of a chain of `chain` valid objects, or the
// start of a chain that ends exactly at the end of `bytes`. Looks at `window` bytes at most. For a start in the middle
// of a range, which another walk will prove or disprove.
std::optional<u64> guess_object_start(Bytes bytes, u64 from, u64 window, u64 alignment, TypeTable &types, Format format,
                                      unsigned chain = 64);

// Returns the first position in [from, until) where an object begins that ends by `limit` and has zeros where every
// valid object has them. On 64 bits, zeros are in that half of the word before the object that is not its header, and
// after an array's length. On 32 bits, the header is zero unless it has a lock or a hash code. Used to resume a walk:
// after a half-made object, only few valid objects may come before the next half-made one, and each counts. Looks at
// each word once.
std::optional<u64> find_object_start(Bytes bytes, u64 from, u64 until, u64 limit, u64 alignment, TypeTable &types,
                                     Format format);

// A range's bytes: whole if they are contiguous here; gathered if they lie in several pieces; for a live process one
// block at a time, so that only that much of the heap is ever held. Not for several threads at once; each needs a
// `buffer` of its own.
class RangeBytes {
public:
  RangeBytes(const ObjectRange &range, const Memory &memory, std::vector<std::byte> &buffer);

  // Returns false if the range lies in several pieces and they cannot be gathered.
  bool are_known() const { return !whole_.empty(); }
  struct Block {
    Bytes bytes;
    u64 start = 0; // offset in the range
    u64 end() const { return start + bytes.size(); }
  };
  // Returns a block that contains `at`; it may begin before it. Empty if nothing can be read there. Valid until the
  // next call.
  Block block(u64 at, u64 size = block_size);
  // Returns the offset of the range's first object: 0, or, after missing memory, the first that can be found.
  std::optional<u64> first_object(TypeTable &types, Format format);
  // Returns a probable object start at `from` or shortly after.
  std::optional<u64> guess(u64 from, u64 window, TypeTable &types, Format format);
  // Returns where to resume after the invalid object at `bad`.
  std::optional<u64> next_object(u64 bad, TypeTable &types, Format format);

private:
  static constexpr u64 block_size = 256 << 10; // for a live process: stays in the processor's cache
  std::optional<u64> search(u64 from, TypeTable &types, Format format);

  const ObjectRange &range_;
  const Memory &memory_;
  std::vector<std::byte> &buffer_;
  Bytes whole_;
  bool streams_ = false;
};

// Walks from `at` to `until` inside a block, or to the block's end; returns the offset reached in the range. Sets `bad`
// if the object there is not valid, or cannot be read.
template <class Visit>
u64 walk_block(const ObjectRange &range, const RangeBytes::Block &block, u64 at, u64 until, TypeTable &types,
               const Format format, bool &bad, Visit &&visit) {
  const u64 stop = block.start + walk_objects(block.bytes, range.address + block.start, at - block.start,
                                              std::min(until, block.end()) - block.start, range.size - block.start,
                                              range.alignment, types, format, std::forward<Visit>(visit));
  const bool runs_out = block.end() < range.size && stop + smallest_object(format) > block.end() && stop > at;
  bad = stop < until && stop < block.end() && !runs_out;
  bad |= stop == at && at < until; // nothing there, not even the beginning of an object
  return stop;
}

struct WalkResult {
  u64 objects = 0, bytes = 0; // walked, Free included; bytes aligned
  u64 bad_objects = 0;        // places without a valid object
  GapList gaps;               // together with Heap::gaps() everything that was not walked
};

// The result of walking one chunk; also given to Visitor::end_chunk.
struct ChunkResult {
  const ObjectRange *range = nullptr;
  u64 objects = 0, bytes = 0, bad_objects = 0;
};

// Cuts the ranges, hands the chunks out to threads and gathers results. One Visitor per thread:
//   TypeTable &types();                  its own
//   void begin_chunk(const ObjectRange&);
//   void operator()(const Object &);
//   void end_chunk(const ChunkResult &);
// `make` builds a Visitor; it is called once per thread, and again should a guess have been wrong.
class HeapWalk {
public:
  // `chunk_size`: the size of the pieces into which longer ranges are cut; tests make it small.
  HeapWalk(const Heap &heap, const Memory &memory, unsigned threads, const Watch &watch, u64 chunk_size = 8 << 20)
      : heap_(heap), format_(memory.format()), memory_(memory), threads_(std::max(threads, 1u)), watch_(watch),
        chunk_size_(chunk_size) {}

  template <class Visitor, class Make> WalkResult run(std::vector<std::unique_ptr<Visitor>> &visitors, Make make) {
    for (bool cut = true;; cut = false) {
      Timer timer(watch_, "walk", heap_.segment_bytes());
      std::vector<Chunk> chunks = cut_ranges(cut);
      std::vector<ChunkResult> results(chunks.size());
      std::vector<GapList> gaps(threads_); // chunks are handed out in order, so each thread's come by address
      visitors.clear();
      std::vector<std::vector<std::byte>> buffers(threads_);
      for (unsigned i = 0; i < threads_; ++i)
        visitors.push_back(make());
      std::atomic<bool> wrong_guess{false};
      parallel_for(chunks.size(), threads_, [&](u64 i, unsigned worker) {
        watch_.check();
        if (wrong_guess.load(std::memory_order_relaxed))
          return;
        if (!walk_chunk(chunks[i], *visitors[worker], buffers[worker], results[i], gaps[worker]))
          wrong_guess = true;
      });
      if (!wrong_guess)
        return gather(results, gaps);
    }
  }

private:
  struct Chunk {
    const ObjectRange *range;
    u64 begin, end; // offsets; the chunk has the objects that start in between
  };

  std::vector<Chunk> cut_ranges(bool cut) const;
  static WalkResult gather(std::span<const ChunkResult> results, std::span<const GapList> gaps);
  // Returns where the walk of the chunk that begins at `begin` starts; nullopt if it has no recognisable start.
  std::optional<u64> start_of(RangeBytes &bytes, u64 begin, TypeTable &types) const;

  // Returns false if the walk stepped over the next chunk's start.
  template <class Visitor>
  bool walk_chunk(const Chunk &chunk, Visitor &visitor, std::vector<std::byte> &buffer, ChunkResult &result,
                  GapList &gaps) const {
    const ObjectRange &range = *chunk.range;
    result.range = &range;
    RangeBytes bytes(range, memory_, buffer);
    if (!bytes.are_known()) {
      gaps.add({range.address, range.end(), "not in this dump"});
      return true;
    }
    TypeTable &types = visitor.types();
    std::optional<u64> start = start_of(bytes, chunk.begin, types);
    if (!start && chunk.begin > 0)
      return true; // the walk of the previous chunk continues through this one
    u64 end = range.size;
    for (u64 next = chunk.end; next < range.size; next += chunk_size_)
      if (std::optional<u64> found = start_of(bytes, next, types)) {
        end = *found;
        break;
      }
    u64 at = start.value_or(end);
    auto gap = [&](u64 from, u64 to, std::string_view reason) {
      gaps.add({range.address + from, range.address + to, reason});
    };
    if (chunk.begin == 0 && at > 0)
      gap(0, at, "behind missing memory, where no object start is known");
    visitor.begin_chunk(range);
    u64 objects = 0, walked = 0, told = 0;
    while (at < end) {
      watch_.check(); // a chunk may be a whole segment
      const u64 until = std::min(at + chunk_size_, end);
      bool bad = false;
      const u64 stop = walk_block(range, bytes.block(at), at, until, types, format_, bad, [&](const Object &object) {
        ++objects;
        visitor(object);
      });
      walked += stop - at;
      if (Progress *p = watch_.progress) {
        p->done += stop - at;
        p->objects += objects - told;
        told = objects;
      }
      at = stop;
      if (!bad)
        continue;
      ++result.bad_objects;
      u64 next = bytes.next_object(at, types, format_).value_or(range.size);
      gap(at, next, no_sound_object);
      at = next;
    }
    result.objects = objects;
    result.bytes = walked;
    visitor.end_chunk(result);
    return at == end;
  }

  const Heap &heap_;
  const Format format_;
  const Memory &memory_;
  const unsigned threads_;
  const Watch watch_;
  const u64 chunk_size_;
};

} // namespace dnheap
