#include "runtime/compiled/frame_bytes.h"

namespace dnheap {

namespace {

constexpr unsigned most_leb128_bytes = 10;

} // namespace

Bytes FrameBytes::bytes(u64 count) {
  if (!ok_ || count > rest_.size()) {
    fail();
    return {};
  }
  const Bytes out = rest_.first(count);
  rest_ = rest_.subspan(count);
  at_ += count;
  return out;
}

u64 FrameBytes::uleb128() {
  u64 out = 0;
  for (unsigned i = 0; i < most_leb128_bytes; ++i) {
    const u8 byte = integer<u8>();
    out |= u64{byte & 0x7fu} << (7 * i);
    if (!(byte & 0x80))
      return ok_ ? out : 0;
  }
  fail();
  return 0;
}

i64 FrameBytes::sleb128() {
  u64 out = 0;
  for (unsigned i = 0; i < most_leb128_bytes; ++i) {
    const u8 byte = integer<u8>();
    const unsigned shift = 7 * i;
    out |= u64{byte & 0x7fu} << shift;
    if (byte & 0x80)
      continue;
    if ((byte & 0x40) && shift + 7 < 64)
      out |= ~u64{0} << (shift + 7);
    return ok_ ? static_cast<i64>(out) : 0;
  }
  fail();
  return 0;
}

std::string_view FrameBytes::text() {
  const std::string_view all = as_text(rest_);
  const std::size_t end = all.find('\0');
  if (end == all.npos) {
    fail();
    return {};
  }
  bytes(end + 1);
  return all.substr(0, end);
}

u64 FrameBytes::pointer(u8 encoding, Address data) {
  enum : u8 { form_mask = 0x0f, relation_mask = 0x70, indirect = 0x80 };
  enum : u8 { to_itself = 0x10, to_data = 0x30 };
  const Address here = at_;
  auto widened = [](auto value) { return static_cast<u64>(static_cast<i64>(value)); };
  u64 out = 0;
  switch (encoding & form_mask) {
  case 0x00: out = format_.pointer_size == 8 ? integer<u64>() : integer<u32>(); break;
  case 0x01: out = uleb128(); break;
  case 0x02: out = integer<u16>(); break;
  case 0x03: out = integer<u32>(); break;
  case 0x04:
  case 0x0c: out = integer<u64>(); break;
  case 0x09: out = static_cast<u64>(sleb128()); break;
  case 0x0a: out = widened(static_cast<std::int16_t>(integer<u16>())); break;
  case 0x0b: out = widened(static_cast<i32>(integer<u32>())); break;
  default: fail();
  }
  switch (encoding & relation_mask) {
  case 0: break;
  case to_itself: out += here; break;
  case to_data: out += data; break;
  default: fail();
  }
  if (encoding & indirect)
    fail();
  return ok_ ? out : 0;
}

} // namespace dnheap
