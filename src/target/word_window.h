// WordWindow: reads pointer-sized words and bytes of a target's memory, mostly in address order: for malloc's data
// between its blocks. In a dump a step is a few loads; from a live process, whose memory it does not keep, it copies
// 256 KiB at a time. Nothing is recorded in a ReadRecord. Not for several threads at once.
#pragma once
#include "target/memory.h"

#include <vector>

namespace dnheap {

class WordWindow {
public:
  explicit WordWindow(const Memory &memory) : memory_(&memory) {}

  // Returns nullopt if the word is unknown.
  std::optional<u64> word(Address address) {
    const u64 size = memory_->format().pointer_size;
    if (address - start_ < bytes_.size() && bytes_.size() - (address - start_) >= size)
      return load_pointer(bytes_.data() + (address - start_), memory_->format());
    return move_to(address) >= size ? std::optional(load_pointer(bytes_.data(), memory_->format())) : std::nullopt;
  }

private:
  u64 move_to(Address address) {
    constexpr u64 most = 256 << 10;
    start_ = address;
    bytes_ = memory_->place(address, most);
    if (memory_->is_here(bytes_))
      return bytes_.size();
    copy_.resize(bytes_.size());
    bytes_ = Bytes(copy_).first(memory_->copy(bytes_, copy_.data()));
    return bytes_.size();
  }

  const Memory *memory_;
  Address start_ = 0;
  Bytes bytes_;
  std::vector<std::byte> copy_;
};

} // namespace dnheap
