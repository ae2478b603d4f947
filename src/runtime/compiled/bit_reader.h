// BitReader: a stream of bits in the target's memory, least significant bit of each byte first. It reads only the bytes
// that contain the requested bits: dumps may end directly after them. After the first failure all bits are zero, so
// loops that count to a number from the stream have to test ok(). Not for several threads at once.
#pragma once
#include "runtime/compiled/read_outcome.h"
#include "target/memory.h"

namespace dnheap {

class BitReader {
public:
  // Reads nothing at or behind start + `limit`: data that leads there is malformed.
  BitReader(const Memory &memory, Address start, u64 limit) : memory_(&memory), start_(start), limit_(limit) {}

  bool ok() const { return outcome_.kind == ReadOutcome::Kind::done; }
  const ReadOutcome &outcome() const { return outcome_; }
  void fail(const char *what) {
    if (ok())
      outcome_ = ReadOutcome::malformed(what);
  }

  u64 position() const { return position_; } // in bits from the start
  void seek(u64 position) { position_ = position; }
  // Skips `count` numbers of `bits_each` bits. Fails if that is more than the stream can have; then all later reads
  // fail, too.
  void skip(u64 count, u64 bits_each);

  u64 bits(unsigned count); // at most 32
  bool bit() { return bits(1) != 0; }
  // Reads numbers of any size, in groups of `base` bits, each with a bit that is set if another group follows.
  u64 number(unsigned base);
  i64 signed_number(unsigned base);
  u32 number32(unsigned base);

private:
  u64 byte(u64 index);

  const Memory *memory_;
  Address start_;
  u64 limit_, position_ = 0;
  Bytes window_; // the known bytes from window_at_ on
  u64 window_at_ = 0;
  ReadOutcome outcome_;
};

} // namespace dnheap
