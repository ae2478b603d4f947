// Memory: what of the target's address space is known, as sorted ranges that do not overlap, each pointing at bytes of
// the host (usually inside a mapped file; nothing is copied). What is not known has no bytes: it never reads as zero.
// A look-up is a binary search over the ranges. All const functions may be called from any number of threads.
// Reads can be recorded: then whoever scans ranges() by itself says with note_read() what its answer rests on.
//
// Of a live process the ranges point at places of the host that fill when they are first asked for (BytesOnDemand). The
// functions below see to that; who takes bytes from ranges() or place() asks fetched() before looking at them.
#pragma once
#include "base/bytes.h"
#include "base/error.h"
#include "base/host/mapping_faults.h"
#include "target/read_record.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace dnheap {

// Where bytes come from that are copied when they are needed. Any thread.
class BytesOnDemand {
public:
  virtual ~BytesOnDemand() = default;
  // Fetches `bytes` from the front on and returns how many of them are available, which they then stay. Bytes that do
  // not belong to this source always are.
  virtual u64 fetch(Bytes bytes) = 0;
  // Are they all available already, without fetching?
  virtual bool is_here(Bytes bytes) const = 0;
  // Copies as many as can be had, from the front on, without keeping them; returns how many.
  virtual u64 copy(Bytes bytes, std::byte *out) = 0;
};

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

  // From now on the top byte of an address does not count when it is looked up: on arm64 the hardware ignores it, and
  // allocators keep tags there (TBI, MTE). Words that are read keep their tags.
  void ignore_top_byte() { address_bits_ = ~u64{0} >> 8; }

  // Adds what is not yet known: existing bytes stay in front of new ones. O((n + m) log (n + m)): collect, then call
  // once.
  void lay_under(std::vector<Range> ranges);

  // Removes the bytes of `lost`, which is sorted by host address: from now on they are unknown. No other thread may be
  // reading meanwhile. O(ranges × log lost + what is lost).
  std::vector<LostRange> take_out(std::span<const LostBytes> lost);

  // From now on each read is noted in `record`, which must outlive this; null stops that. Not noted: addresses that
  // are unknown, and what ranges(), known_bytes(), place(), peek() and peek_up_to() give.
  // Searches are noted in another one, since they read whatever may be what they look for.
  void record_reads(ReadRecord *record, ReadRecord *searches) {
    record_ = reads_ = record;
    searches_ = searches;
  }
  void record_reads(ReadRecord *record) { record_reads(record, record); }
  // All that `read` reads is a search, as is all within it. No other thread may be reading meanwhile, if reads are
  // noted.
  template <class Read> void as_searched(Read read) const {
    if (!record_) // then others may be reading
      return read();
    const Restored restored(*this, searches_, searches_deep_ + 1);
    read();
  }
  // Once a search has an end: reads what it found again, if reads are noted, so that this is noted as read. Within a
  // search for something else it is a search still; that of the threads' layout is one as a whole, which does not
  // count.
  template <class Read> void as_found(Read read) const {
    if (!record_)
      return;
    const Restored restored(*this, searches_deep_ > 1 ? searches_ : reads_, searches_deep_);
    read();
  }
  void note_read(Address address, u64 size) const {
    if (record_) [[unlikely]]
      record_->add(address & address_bits_, size);
  }
  // Notes that an answer rests on this memory being known, whatever its contents.
  void note_place(Address address, u64 size) const {
    if (record_) [[unlikely]]
      record_->add_place(address & address_bits_, size);
  }

  // The range that holds `address`, or null. The address may have a tag: see ignore_top_byte().
  const Range *find(Address address) const {
    const Range *range = locate(address);
    if (range)
      note_read(address, 1);
    return range;
  }

  // `size` bytes without a copy; empty when they are not all known or do not lie in one range.
  Bytes view(Address address, u64 size) const {
    const Range *range = locate(address);
    Bytes out = range ? slice(range->bytes, (address & address_bits_) - range->address, size) : Bytes{};
    if (on_demand_) [[unlikely]]
      if (fetched(out).size() != size)
        out = {};
    note_read(address, out.size());
    return out;
  }
  // Everything known from `address` to the end of its range, at most `limit`.
  Bytes view_up_to(Address address, u64 limit) const {
    Bytes out = peek_up_to(address, limit);
    note_read(address, out.size());
    return out;
  }
  // view_up_to() and read() without a note in the record: for the heap and stacks, of which extract keeps what it must.
  Bytes peek_up_to(Address address, u64 limit) const;
  bool peek(Address address, std::span<std::byte> out) const;
  // peek_up_to() without fetching: of a live process the bytes may not be available yet; see fetched().
  Bytes place(Address address, u64 limit) const;
  // Fetches these bytes of one Range where need be; returns the available ones, from the front on.
  Bytes fetched(Bytes bytes) const { return on_demand_ ? bytes.first(on_demand_->fetch(bytes)) : bytes; }
  bool is_here(Bytes bytes) const { return !on_demand_ || on_demand_->is_here(bytes); }
  // Copies the available ones of them to `out`, from the front on, and keeps none; returns how many.
  u64 copy(Bytes bytes, std::byte *out) const;
  void fill_from(std::shared_ptr<BytesOnDemand> source) { on_demand_ = std::move(source); }

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
  class Restored {
  public:
    Restored(const Memory &memory, ReadRecord *record, unsigned deep)
        : memory_(memory), record_(std::exchange(memory.record_, record)),
          deep_(std::exchange(memory.searches_deep_, deep)) {}
    ~Restored() {
      memory_.record_ = record_;
      memory_.searches_deep_ = deep_;
    }
    Restored(const Restored &) = delete;

  private:
    const Memory &memory_;
    ReadRecord *const record_;
    const unsigned deep_;
  };

  const Range *locate(Address address) const;

  Format format_;
  u64 address_bits_ = ~u64{0};
  std::vector<Range> ranges_;
  mutable ReadRecord *record_ = nullptr; // the one in which reads are noted now
  mutable unsigned searches_deep_ = 0;
  ReadRecord *reads_ = nullptr, *searches_ = nullptr;
  std::shared_ptr<BytesOnDemand> on_demand_; // null: everything is there
};

// UTF-16 code units in the given byte order to UTF-8; lone surrogates become U+FFFD.
std::string utf16_to_utf8(Bytes text, ByteOrder order);

} // namespace dnheap
