#include "dump/zstd_frames.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace dnheap {

namespace {

constexpr u64 most_frames = 1 << 16; // found at a time: a frame may have only a few bytes
constexpr u64 largest_block = 128 << 10;

// Reads consecutive little-endian numbers; once one is missing, all further ones are, too.
class Cursor {
public:
  explicit Cursor(Bytes bytes) : bytes_(bytes) {}
  u64 number(u64 size) {
    u64 out = 0;
    for (u64 i = 0, at = skip(size); i < size && ok_; ++i)
      out |= std::to_integer<u64>(bytes_[at + i]) << 8 * i;
    return out;
  }
  u64 skip(u64 size) { // returns the offset of these bytes
    ok_ = ok_ && size <= bytes_.size() - at_;
    return ok_ ? std::exchange(at_, at_ + size) : at_;
  }
  u64 at() const { return at_; }
  bool ok() const { return ok_; }

private:
  Bytes bytes_;
  u64 at_ = 0;
  bool ok_ = true;
};

std::optional<ZstdFrame> find_frame(Bytes rest) {
  Cursor cursor(rest);
  const u64 magic = cursor.number(4);
  if ((magic & ~u64{15}) == 0x184d2a50) { // a skippable frame
    cursor.skip(cursor.number(4));
    return cursor.ok() ? std::optional(ZstdFrame{rest.first(cursor.at()), 0, 0, 0}) : std::nullopt;
  }
  const u64 about = cursor.number(1);
  const bool is_one_segment = about & 0x20, has_checksum = about & 4;
  if (magic != 0xfd2fb528 || (about & 8) != 0)
    return std::nullopt;
  ZstdFrame out;
  if (!is_one_segment) {
    const u64 window = cursor.number(1), base = u64{1} << (10 + (window >> 3));
    out.window = base + base / 8 * (window & 7);
  }
  constexpr u8 dictionary_bytes[] = {0, 1, 2, 4}, content_bytes[] = {1, 2, 4, 8};
  cursor.skip(dictionary_bytes[about & 3]);
  if (about >> 6 != 0 || is_one_segment)
    out.content = cursor.number(content_bytes[about >> 6]) + (about >> 6 == 1 ? 256 : 0);
  if (is_one_segment)
    out.window = *out.content;
  for (bool is_last = false; !is_last && cursor.ok(); out.most += largest_block) {
    const u64 block = cursor.number(3), type = block >> 1 & 3;
    constexpr u64 repeated = 1, reserved = 3;
    if (type == reserved)
      return std::nullopt;
    is_last = block & 1;
    cursor.skip(type == repeated ? 1 : block >> 3);
  }
  cursor.skip(has_checksum ? 4 : 0);
  if (!cursor.ok() || out.content.value_or(0) > out.most)
    return std::nullopt;
  out.bytes = rest.first(cursor.at());
  return out;
}

} // namespace

std::vector<ZstdFrame> find_zstd_frames(Bytes file, u64 reach) {
  std::vector<ZstdFrame> out;
  for (Bytes rest = file.first(std::min<u64>(reach, file.size())); out.size() < most_frames && !rest.empty();) {
    std::optional<ZstdFrame> frame = find_frame(rest);
    if (!frame)
      break;
    rest = rest.subspan(frame->bytes.size());
    out.push_back(*frame);
  }
  return out;
}

} // namespace dnheap
