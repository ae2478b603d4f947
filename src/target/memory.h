// Memory: the known parts of the target's address space, as sorted ranges that do not overlap, each pointing at bytes
// of the host (usually inside a mapped file; nothing is copied). Unknown memory has no bytes: it never reads as zero. A
// look-up is a binary search over the ranges. All const functions may be called from any number of threads. Reads can
// be recorded: code that scans ranges() directly must then call note_read() for the memory its answer depends on.
//
// The ranges of a live process point at places of the host that are filled when they are first asked for
// (BytesOnDemand). The functions below take care of that; code that takes bytes from ranges() or place() must call
// fetched() before looking at them.
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

// A source of bytes that are copied when they are needed. Any thread.
class BytesOnDemand {
public:
  virtual ~BytesOnDemand() = default;
  // Fetches `bytes` from the front on and returns how many of them are available; these then stay available. Bytes that
  // do not belong to this source always are.
  virtual u64 fetch(Bytes bytes) = 0;
  // True if all these bytes are available already, without fetching.
  virtual bool is_here(Bytes bytes) const = 0;
  // Copies as many of these bytes as possible, from the front on, without keeping them; returns how many.
  virtual u64 copy(Bytes bytes, std::byte *out) = 0;
};

struct Range {
  Address address = 0;
  Bytes bytes;

  Address end() const { return address + bytes.size(); }
};

struct LostRange {
  Address start = 0, end = 0;
  u64 cause = 0; // index into the LostBytes
};

class Memory {
public:
  Memory() = default;
  // Sorts and flattens: where ranges overlap the one that comes first in `ranges` wins. Ranges adjacent both in the
  // target and in the host are joined. O(n log n).
  Memory(Format format, std::vector<Range> ranges);

  Format format() const { return format_; }
  std::span<const Range> ranges() const { return ranges_; }
  u64 size() const;                                  // known bytes
  u64 known_bytes(Address start, Address end) const; // known bytes in [start, end); O(log n + ranges in between)

  // From now on look-ups ignore the top byte of an address: on arm64 the hardware ignores it, and allocators store tags
  // there (TBI, MTE). Words that are read keep their tags.
  void ignore_top_byte() { keep_address_bits(56); }
  // The same where more of the upper bits are none of the address, as arm64's signatures of pointers (PAC) on macOS.
  void keep_address_bits(unsigned count) { address_bits_ = ~u64{0} >> (64 - count); }

  // Adds ranges where memory is not known yet: existing bytes win over new ones. O((n + m) log (n + m)): collect
  // ranges, then call once.
  void lay_under(std::vector<Range> ranges);

  // Removes the bytes of `lost`, which is sorted by host address: they become unknown. No other thread may read at the
  // same time. O(ranges × log lost + lost bytes).
  std::vector<LostRange> take_out(std::span<const LostBytes> lost);

  // From now on each read is recorded in `record`, which must outlive this object; null stops that. Not recorded:
  // unknown addresses, and results of ranges(), known_bytes(), place(), peek() and peek_up_to(). Searches are recorded
  // in `searches`, since they also read many wrong candidates.
  void record_reads(ReadRecord *record, ReadRecord *searches) {
    record_ = reads_ = record;
    searches_ = searches;
  }
  void record_reads(ReadRecord *record) { record_reads(record, record); }
  // Everything that `read` reads, nested calls included, is recorded as a search. If reads are recorded, no other
  // thread may read at the same time.
  template <class Read> void as_searched(Read read) const {
    if (!record_) // without a record other threads may be reading
      return read();
    const Restored restored(*this, searches_, searches_deep_ + 1);
    read();
  }
  // Call it after a successful search, with a function that reads the result again: these reads are recorded as reads,
  // not as a search. Inside two or more enclosing searches it still counts as a search. (One enclosing search is
  // ignored: the threads' layout is searched for as a whole.)
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
  // Records that an answer depends on this memory being known, whatever its contents.
  void note_place(Address address, u64 size) const {
    if (record_) [[unlikely]]
      record_->add_place(address & address_bits_, size);
  }

  // Returns the range that contains `address`, or null. The address may have a tag: see ignore_top_byte().
  const Range *find(Address address) const {
    const Range *range = locate(address);
    if (range)
      note_read(address, 1);
    return range;
  }

  // Returns `size` bytes without a copy; empty if they are not all known or do not lie in one range.
  Bytes view(Address address, u64 size) const {
    const Range *range = locate(address);
    Bytes out = range ? slice(range->bytes, (address & address_bits_) - range->address, size) : Bytes{};
    if (on_demand_) [[unlikely]]
      if (fetched(out).size() != size)
        out = {};
    note_read(address, out.size());
    return out;
  }
  // Returns everything known from `address` to the end of its range, at most `limit`.
  Bytes view_up_to(Address address, u64 limit) const {
    Bytes out = peek_up_to(address, limit);
    note_read(address, out.size());
    return out;
  }
  // view_up_to() and read() without recording: for the heap and stacks, of which `extract` copies what it needs without
  // a record.
  Bytes peek_up_to(Address address, u64 limit) const;
  bool peek(Address address, std::span<std::byte> out) const;
  // peek_up_to() without fetching: bytes of a live process may not be available yet; see fetched().
  Bytes place(Address address, u64 limit) const;
  // Fetches these bytes of one Range if necessary; returns the available ones, from the front on.
  Bytes fetched(Bytes bytes) const { return on_demand_ ? bytes.first(on_demand_->fetch(bytes)) : bytes; }
  bool is_here(Bytes bytes) const { return !on_demand_ || on_demand_->is_here(bytes); }
  // Copies the available ones of these bytes to `out`, from the front on, and keeps none; returns how many.
  u64 copy(Bytes bytes, std::byte *out) const;
  void fill_from(std::shared_ptr<BytesOnDemand> source) { on_demand_ = std::move(source); }

  // Copies across ranges. Returns false, with `out` unspecified, if any byte is unknown.
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
  // Returns the text up to a NUL, at most `limit` bytes; nullopt if it is not all known or does not end.
  std::optional<std::string> try_text(Address address, u64 limit) const;
  // The same for UTF-16 text, returned as UTF-8. `limit` counts code units.
  std::optional<std::string> try_text16(Address address, u64 limit) const;

  // The same for values that are indispensable: throw Error("cannot read WHAT at ADDRESS: …").
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
  mutable ReadRecord *record_ = nullptr; // the record in use at the moment
  mutable unsigned searches_deep_ = 0;
  ReadRecord *reads_ = nullptr, *searches_ = nullptr;
  std::shared_ptr<BytesOnDemand> on_demand_; // null: everything is available
};

// Converts UTF-16 code units in the given byte order to UTF-8; lone surrogates become U+FFFD.
std::string utf16_to_utf8(Bytes text, ByteOrder order);

} // namespace dnheap
