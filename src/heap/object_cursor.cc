#include "heap/object_cursor.h"

#include "base/text.h"

namespace dnheap {

ObjectCursor::ObjectCursor(const Heap &heap, const Runtime &runtime)
    : heap_(heap), memory_(runtime.memory()), types_(runtime.types(), heap) {}

const Object *ObjectCursor::next() {
  while (position_ == batch_.size())
    if (!fill())
      return nullptr;
  return &batch_[position_++];
}

// Walks a MiB further, or to the next range; asking more often whether memory was lost would cost a system call per
// mapped file each time. Returns false at the heap's end.
bool ObjectCursor::fill() {
  constexpr u64 stretch = 1 << 20;
  batch_.clear();
  position_ = 0;
  Format format = memory_.format();
  const std::span<const ObjectRange> ranges = heap_.ranges();
  if (!started_ || (range_ < ranges.size() && at_ >= ranges[range_].size)) {
    range_ = started_ ? range_ + 1 : 0;
    started_ = true;
    if (range_ < ranges.size()) {
      bytes_.emplace(ranges[range_], memory_, buffer_);
      at_ = ranges[range_].size;
      if (bytes_->are_known())
        at_ = bytes_->first_object(types_, format).value_or(at_);
    }
  }
  if (range_ >= ranges.size())
    return false; // also on every further call
  const ObjectRange &range = ranges[range_];
  if (at_ < range.size) {
    bool bad = false;
    at_ = walk_block(range, bytes_->block(at_, 2 * stretch), at_, std::min(at_ + stretch, range.size), types_, format,
                     bad, [&](const Object &object) { batch_.push_back(object); });
    if (bad)
      at_ = bytes_->next_object(at_, types_, format).value_or(range.size);
  }
  check_memory();
  return true;
}

void ObjectCursor::check_memory() {
  u64 losses = count_losses();
  if (losses == losses_)
    return;
  losses_ = losses;
  std::vector<LostBytes> lost = find_lost_bytes();
  Memory memory = memory_;
  if (std::vector<LostRange> out = memory.take_out(lost); !out.empty())
    throw Error("the list of objects ends before " + hex(heap_.ranges()[range_].address + at_) +
                ": part of the dump was lost meanwhile: " + lost[out.front().cause].reason);
}

} // namespace dnheap
