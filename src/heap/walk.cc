#include "heap/walk.h"

namespace dnheap {

std::optional<u64> guess_object_start(Bytes bytes, u64 from, u64 window, u64 alignment, TypeTable &types, Format format,
                                      unsigned chain) {
  u64 last = std::min<u64>(add_clamped(from, window), bytes.size());
  for (u64 at = align_up(from, alignment); at < last; at += alignment) {
    unsigned seen = 0;
    u64 until = bytes.size();
    u64 position = at;
    // Objects synchronise: a chain from a false start soon runs into a true one. So what is returned is the far end.
    while (seen < chain && position < until) {
      u64 next = walk_objects(bytes, 0, position, position + 1, alignment, types, format, [](const Object &) {});
      if (next == position)
        break;
      position = next;
      ++seen;
    }
    if (seen == chain)
      return position;
    if (seen > 0 && position == until)
      return at;
  }
  return std::nullopt;
}

Bytes bytes_of(const ObjectRange &range, const Memory &memory, std::vector<std::byte> &buffer) {
  if (!range.bytes.empty())
    return range.bytes;
  buffer.resize(range.size);
  return memory.read(range.address, buffer) ? Bytes(buffer) : Bytes();
}

std::optional<u64> first_object(const ObjectRange &range, Bytes bytes, TypeTable &types, Format format) {
  if (range.starts_with_object)
    return 0;
  return guess_object_start(bytes, 0, range.size, range.alignment, types, format);
}

std::optional<u64> next_object(const ObjectRange &range, Bytes bytes, u64 bad, TypeTable &types, Format format) {
  return guess_object_start(bytes, bad + range.alignment, range.size, range.alignment, types, format, 32);
}

std::vector<HeapWalk::Chunk> HeapWalk::cut_ranges(bool cut) const {
  std::vector<Chunk> chunks;
  for (const ObjectRange &range : heap_.ranges()) {
    // Large objects are few: their ranges are cheap to walk and a guess inside a large array would fail anyway.
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

std::optional<u64> HeapWalk::start_of(const ObjectRange &range, Bytes bytes, u64 begin, TypeTable &types) const {
  constexpr u64 window = 64 << 10;
  return begin == 0 ? first_object(range, bytes, types, format_)
                    : guess_object_start(bytes, begin, window, range.alignment, types, format_);
}

WalkResult HeapWalk::gather(std::vector<ChunkResult> &results) {
  WalkResult out;
  for (ChunkResult &r : results) {
    out.objects += r.objects;
    out.bytes += r.bytes;
    out.bad_objects += r.bad_objects;
    out.gaps.insert(out.gaps.end(), r.gaps.begin(), r.gaps.end());
  }
  return out;
}

} // namespace dnheap
