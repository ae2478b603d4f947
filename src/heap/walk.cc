#include "heap/walk.h"

#include "heap/plug_words.h"

#include <array>

namespace dnheap {

namespace {

constexpr unsigned longest_chain = 64;
constexpr u64 searched = 1 << 20; // bytes searched at a time in a live process

// Remembers how many valid objects follow each other from a word on, for words shortly ahead of a search. Chains of
// objects that broke off have shown these numbers. Later chains run into the same objects and need not follow them
// again, so garbage full of short chains takes time proportional to its size.
class BrokenChains {
public:
  explicit BrokenChains(u64 alignment) : alignment_(alignment) {}

  // Returns how many objects follow from `position` on; nullopt: unknown. `at`: the position of the search.
  std::optional<unsigned> length(u64 at, u64 position) const {
    u8 known = in_reach(at, position) ? lengths_[slot(position)] : 0;
    return known ? std::optional(known - 1u) : std::nullopt;
  }
  void record(u64 at, u64 position, unsigned length) {
    if (in_reach(at, position))
      lengths_[slot(position)] = static_cast<u8>(length + 1);
  }
  // The search moves on from `at`, so its slot becomes free for a word further ahead.
  void leave(u64 at) { lengths_[slot(at)] = 0; }

private:
  static constexpr u64 reach = 1024; // words
  bool in_reach(u64 at, u64 position) const { return position - at < reach * alignment_; }
  u64 slot(u64 position) const { return position / alignment_ % reach; }

  const u64 alignment_;
  std::array<u8, reach> lengths_{};
};

} // namespace

std::optional<u64> guess_object_start(Bytes bytes, u64 from, u64 window, u64 alignment, TypeTable &types, Format format,
                                      unsigned chain) {
  u64 last = std::min<u64>(add_clamped(from, window), bytes.size());
  const u64 until = bytes.size();
  BrokenChains broken(alignment);
  std::array<u64, longest_chain> positions;
  chain = std::min(chain, longest_chain);
  for (u64 at = align_up(from, alignment); at < last; broken.leave(at), at += alignment) {
    unsigned seen = 0;  // objects walked
    unsigned known = 0; // objects known to follow after these
    u64 position = at;
    // A chain from a false start soon runs into the chain from a true start. So the far end is returned.
    while (seen < chain && position < until) {
      if (std::optional<unsigned> length = broken.length(at, position); length && seen + *length < chain) {
        known = *length;
        break;
      }
      u64 next = walk_objects(bytes, 0, position, position + 1, until, alignment, types, format, [](const Object &) {});
      if (next == position)
        break;
      positions[seen++] = position;
      position = next;
    }
    if (seen == chain)
      return position;
    if (seen > 0 && position == until)
      return at;
    for (unsigned i = 0; i < seen; ++i)
      broken.record(at, positions[i], seen - i + known);
  }
  return std::nullopt;
}

namespace {

// True if a valid object with its zeros is at `at`. Before a Free object old data may remain: a group of survivors is
// copied without its last object's padding.
bool begins_object(Bytes bytes, u64 at, u64 limit, u64 alignment, TypeTable &types, Format format) {
  const u64 p = format.pointer_size;
  if (at > bytes.size() || bytes.size() - at < smallest_object(format))
    return false;
  const TypeRow *type = types.find(method_table_in(load_pointer(bytes.data() + at, format), format));
  if (!type)
    return false;
  const bool has_zeros = at < p || load<u32>(bytes.data() + at - p, format.byte_order) == 0;
  if (!has_zeros && !(p == 8 && types.is_free(*type)))
    return false;
  const u32 components = load<u32>(bytes.data() + at + p, format.byte_order);
  if (align_up(object_size(type->base_size, type->component_size, components, format), alignment) > limit - at)
    return false;
  // A string's characters follow its length at once; its smaller base size shows that.
  bool has_room = p == 8 && type->component_size && type->base_size >= smallest_object(format);
  return !has_room || load<u32>(bytes.data() + at + p + 4, format.byte_order) == 0;
}

} // namespace

bool has_lost_length(Bytes bytes, u64 at, u64 next, u64 limit, u64 alignment, TypeTable &types, Format format) {
  const u64 p = format.pointer_size, plug = at + (1 + PlugWords::words) * p;
  if (!begins_object(bytes, plug, limit, alignment, types, format))
    return false;
  const PlugWords words = PlugWords::read(bytes.data() + at + p, format);
  if (!words.are_sound(plug - at, format) || words.gap > plug ||
      !begins_object(bytes, plug - words.gap, limit, alignment, types, format))
    return false;
  // On 64 bits, the distance in `words` proves enough, as array contents seldom look like one. On 32 bits, no object
  // may begin where the array would end, though among small objects one length in five leads to an object by chance.
  if (p == 8 && words.reloc >= p)
    return true;
  return next < std::min<u64>(bytes.size(), limit) && !begins_object(bytes, next, limit, alignment, types, format);
}

std::optional<u64> find_object_start(Bytes bytes, u64 from, u64 until, u64 limit, u64 alignment, TypeTable &types,
                                     Format format) {
  until = std::min<u64>(until, bytes.size());
  for (u64 at = align_up(from, alignment); at < until; at += alignment)
    if (begins_object(bytes, at, limit, alignment, types, format))
      return at;
  return std::nullopt;
}

RangeBytes::RangeBytes(const ObjectRange &range, const Memory &memory, std::vector<std::byte> &buffer)
    : range_(range), memory_(memory), buffer_(buffer), whole_(range.bytes) {
  if (!whole_.empty()) {
    streams_ = !memory.is_here(whole_);
    return;
  }
  buffer_.resize(range.size);
  if (memory.peek(range.address, buffer_))
    whole_ = Bytes(buffer_).first(range.size);
}

RangeBytes::Block RangeBytes::block(u64 at, u64 size) {
  if (!streams_)
    return {whole_, 0};
  size = std::min(size, range_.size - at);
  if (buffer_.size() < size)
    buffer_.resize(size);
  return {Bytes(buffer_).first(memory_.copy(whole_.subspan(at, size), buffer_.data())), at};
}

std::optional<u64> RangeBytes::guess(u64 from, u64 window, TypeTable &types, Format format) {
  if (!streams_)
    return guess_object_start(whole_, from, window, range_.alignment, types, format);
  const Block at = block(from, 2 * window);
  std::optional<u64> found = guess_object_start(at.bytes, 0, window, range_.alignment, types, format);
  return found ? std::optional(at.start + *found) : std::nullopt;
}

// Searches to the end of the range. A live process's memory is searched block by block; each block overlaps the next by
// an object's first words, and the previous one by a header.
std::optional<u64> RangeBytes::search(u64 from, TypeTable &types, Format format) {
  const u64 p = format.pointer_size;
  from = align_up(from, range_.alignment);
  if (!streams_)
    return find_object_start(whole_, from, range_.size, range_.size, range_.alignment, types, format);
  for (u64 at = from; at < range_.size; at += searched) {
    const u64 before = std::min(at, align_up(p, range_.alignment));
    const Block in = block(at - before, before + searched + 4 * p);
    std::optional<u64> found =
        find_object_start(in.bytes, before, before + searched, range_.size - in.start, range_.alignment, types, format);
    if (found)
      return in.start + *found;
  }
  return std::nullopt;
}

std::optional<u64> RangeBytes::first_object(TypeTable &types, Format format) {
  return range_.starts_with_object ? std::optional<u64>(0) : search(0, types, format);
}

std::optional<u64> RangeBytes::next_object(u64 bad, TypeTable &types, Format format) {
  return search(bad + range_.alignment, types, format);
}

std::vector<HeapWalk::Chunk> HeapWalk::cut_ranges(bool cut) const {
  std::vector<Chunk> chunks;
  for (const ObjectRange &range : heap_.ranges()) {
    // Large objects are few: their ranges are cheap to walk, and a guess inside a large array would fail anyway.
    bool large = range.generation == GCSegmentGeneration::loh || range.generation == GCSegmentGeneration::poh;
    if (!cut || threads_ == 1 || large || range.size < 2 * chunk_size_ || range.bytes.empty()) {
      chunks.push_back({&range, 0, range.size});
      continue;
    }
    for (u64 begin = 0; begin < range.size; begin += chunk_size_)
      chunks.push_back({&range, begin, std::min(begin + chunk_size_, range.size)});
  }
  return chunks;
}

std::optional<u64> HeapWalk::start_of(RangeBytes &bytes, u64 begin, TypeTable &types) const {
  constexpr u64 window = 64 << 10;
  return begin == 0 ? bytes.first_object(types, format_) : bytes.guess(begin, window, types, format_);
}

WalkResult HeapWalk::gather(std::span<const ChunkResult> results, std::span<const GapList> gaps) {
  WalkResult out;
  for (const ChunkResult &r : results) {
    out.objects += r.objects;
    out.bytes += r.bytes;
    out.bad_objects += r.bad_objects;
  }
  for (const GapList &list : gaps)
    out.gaps.merge(list);
  return out;
}

} // namespace dnheap
