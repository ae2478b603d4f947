// Memory: what of the target's address space is known, as sorted ranges that do not overlap, each pointing at bytes of
// the host (usually inside a mapped file; nothing is copied). What is not known has no bytes: it never reads as zero.
// A look-up is a binary search over the ranges. All const functions may be called from any number of threads.
// Reads can be recorded: then whoever scans ranges() by itself says with note_read() what its answer rests on.
#pragma once
#include "base/bytes.h"
#include "base/error.h"
#include "base/mapping_faults.h"
#include "target/read_record.h"

#include <optional>
#include <string>
#include <vector>

namespace dnheap {

struct Range {
  Address address = 0;
  Bytes bytes;

  Address end() const { return address + bytes.size(); }
};

struct LostRange {
  Address start = 0, end = 0;
  u64 cause = 0; // index into what was lost
};

class Memory {
public:
  Memory() = default;
  // Sorts and flattens: where ranges overlap the one that comes first in `ranges` wins. Ranges that are adjacent both
  // in the target and in the host become one. O(n log n).
  Memory(Format format, std::vector<Range> ranges);

  Format format() const { return format_; }
  std::span<const Range> ranges() const { return ranges_; }
  u64 size() const;                                  // bytes known
  u64 known_bytes(Address start, Address end) const; // how many of [start, end); O(log n + ranges in between)

  // Adds what is not yet known: existing bytes stay in front of new ones. O((n + m) log (n + m)): collect, then call
  // once.
  void lay_under(std::vector<Range> ranges);

  // Takes out what lies in `lost`, which is sorted by host address; that is unknown from now on. Nobody else may be
  // reading. O(ranges × log lost + what is lost).
  std::vector<LostRange> take_out(std::span<const LostBytes> lost);

  // From now on each read is noted in `record`, which must outlive this; null: no longer. What was found to be unknown
  // is not, nor is what ranges(), known_bytes() and the peeks give.
  void record_reads(ReadRecord *record) { record_ = record; }
  void note_read(Address address, u64 size) const {
    if (record_) [[unlikely]]
      record_->add(address, size);
  }

  // That memory is there matters, not what it holds.
  void note_place(Address address, u64 size) const {
    if (record_) [[unlikely]]
      record_->add_place(address, size);
  }

  // The range that holds `address`, or null.
  const Range *find(Address address) const {
    const Range *range = locate(address);
    if (range)
      note_read(address, 1);
    return range;
  }

  // `size` bytes without a copy; empty when they are not all known or do not lie in one range.
  Bytes view(Address address, u64 size) const {
    const Range *range = locate(address);
    Bytes out = range ? slice(range->bytes, address - range->address, size) : Bytes{};
    note_read(address, out.size());
    return out;
  }
  // Everything known from `address` to the end of its range, at most `limit`.
  Bytes view_up_to(Address address, u64 limit) const {
    Bytes out = peek_up_to(address, limit);
    note_read(address, out.size());
    return out;
  }
  // The same, and read(), not recorded: for the heap and stacks, of which is kept what must be by what they are.
  Bytes peek_up_to(Address address, u64 limit) const;
  bool peek(Address address, std::span<std::byte> out) const;
  // Copies across ranges. False, and `out` unspecified, when any byte is unknown.
  bool read(Address address, std::span<std::byte> out) const {
    bool known = peek(address, out);
    if (known)
      note_read(address, out.size());
    return known;
  }

  template <std::unsigned_integral T> std::optional<T> try_load(Address address) const {
    if (Bytes at = view(address, sizeof(T)); !at.empty())
      return load<T>(at.data(), format_.byte_order);
    std::byte copy[sizeof(T)]; // the value lies across two ranges, or is unknown
    if (!read(address, copy))
      return std::nullopt;
    return load<T>(copy, format_.byte_order);
  }
  std::optional<u64> try_pointer(Address address) const {
    if (format_.pointer_size == 8)
      return try_load<u64>(address);
    return try_load<u32>(address);
  }
  // Text up to a NUL, at most `limit` bytes; nullopt when it is not all known or does not end.
  std::optional<std::string> try_text(Address address, u64 limit) const;
  // The same for UTF-16 text, returned as UTF-8. `limit` counts code units.
  std::optional<std::string> try_text16(Address address, u64 limit) const;

  // The same, for values without which one cannot go on: throw Error("cannot read WHAT at ADDRESS: …").
  u64 pointer(Address address, const char *what) const;
  u32 u32_at(Address address, const char *what) const;

private:
  const Range *locate(Address address) const;

  Format format_;
  std::vector<Range> ranges_;
  ReadRecord *record_ = nullptr;
};

// UTF-16 code units in the given byte order to UTF-8; lone surrogates become U+FFFD.
std::string utf16_to_utf8(Bytes text, ByteOrder order);

} // namespace dnheap
