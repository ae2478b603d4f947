// Block: a stretch of a synthetic target's memory that grows while it is written. What was not set is zero.
#pragma once
#include "support/elf_writer.h"
#include "target/memory.h"

namespace dnheap::test {

class Block {
public:
  Block(Format format, Address address) : address_(address), bytes_(format) {}

  Format format() const { return bytes_.format(); }
  Address address() const { return address_; }
  Address end() const { return address_ + bytes_.size(); }
  const std::vector<std::byte> &bytes() const { return bytes_.bytes(); }
  Range range() const { return {address_, bytes_.bytes()}; }

  // `size` zero bytes at the end, aligned; returns where they lie.
  Address reserve(u64 size, u64 alignment = 8) {
    bytes_.fill_to(align_up(end(), alignment) - address_);
    Address at = end();
    bytes_.fill_to(bytes_.size() + size);
    return at;
  }
  Address append(Bytes content, u64 alignment = 8) {
    Address at = reserve(0, alignment);
    bytes_.append(content);
    return at;
  }
  Address append(std::string_view text) { return append(std::as_bytes(std::span(text)), 1); }
  // Pointer-sized words.
  Address words(const std::vector<u64> &values) {
    Address at = reserve(0);
    for (u64 value : values)
      bytes_.pointer(value);
    return at;
  }
  void put(Address at, u64 value, u64 size) { bytes_.put_at(at - address_, value, size); }
  void pointer(Address at, u64 value) { put(at, value, format().pointer_size); }
  void half(Address at, u64 value) { put(at, value, 2); }
  void word(Address at, u64 value) { put(at, value, 4); }

private:
  Address address_;
  FormatWriter bytes_;
};

} // namespace dnheap::test
