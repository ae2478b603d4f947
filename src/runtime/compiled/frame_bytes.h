// FrameBytes: reads call frame information from its front on, value by value: LEB128 numbers, integers, pointers. After
// the first failure all values are zero, so one test of ok() at the end is enough. Not for several threads at once.
#pragma once
#include "base/bytes.h"

#include <string_view>

namespace dnheap {

class FrameBytes {
public:
  // `at`: address of the first byte in the target, for pointers that are relative to their own place.
  FrameBytes(Bytes bytes, Address at, Format format) : rest_(bytes), at_(at), format_(format) {}

  bool ok() const { return ok_; }
  bool empty() const { return rest_.empty(); }
  Bytes rest() const { return rest_; }
  Address at() const { return at_; }
  Format format() const { return format_; }
  void fail() {
    ok_ = false;
    rest_ = {};
  }

  template <std::unsigned_integral T> T integer() {
    const Bytes taken = bytes(sizeof(T));
    return taken.empty() ? T{} : load<T>(taken.data(), format_.byte_order);
  }
  u64 uleb128();
  i64 sleb128();
  Bytes bytes(u64 count); // empty: fewer bytes are left
  std::string_view text();
  // Reads a pointer in the form `encoding` (DW_EH_PE_*). `data` is the base of data-relative pointers. Indirect ones
  // fail.
  u64 pointer(u8 encoding, Address data);

private:
  Bytes rest_;
  Address at_;
  Format format_;
  bool ok_ = true;
};

} // namespace dnheap
