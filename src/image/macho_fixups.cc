#include "image/macho_fixups.h"

#include <algorithm>
#include <optional>

namespace dnheap {

namespace {

// DYLD_CHAINED_PTR_64: a target is an address in the file. …_OFFSET: it counts from the image's header.
enum : u16 { pointers_by_address = 2, pointers_by_offset = 6 };
constexpr u16 no_chain = 0xffff;
constexpr auto little_endian = ByteOrder::little;

// One word of a chain: 36 bits of target, 8 for the top of the address, 7 that are reserved, 12 for the distance to the
// next one in units of 4 bytes, and the top bit: it needs another module's symbol.
u64 value_of(u64 word, u16 format, MachoPlace place) {
  const u64 target = word & ((u64{1} << 36) - 1), top = (word >> 36 & 0xff) << 56;
  return (format == pointers_by_offset ? place.base : place.bias) + target + top;
}

// Follows one chain up to its page's end, so that no word belongs to two chains.
void follow_chain(std::span<std::byte> copy, u64 at, u64 end, u16 format, MachoPlace place, std::vector<u64> &unknown) {
  for (u64 step = 1; step && at < end && end - at >= 8; at += step) {
    const u64 word = load<u64>(copy.data() + at, little_endian);
    step = (word >> 51 & 0xfff) * 4;
    if (word >> 63) {
      unknown.push_back(at);
      continue;
    }
    const u64 value = value_of(word, format, place);
    for (unsigned i = 0; i < 8; ++i)
      copy[at + i] = static_cast<std::byte>(value >> 8 * i);
  }
}

// struct dyld_chained_starts_in_segment: u32 size, u16 page size, u16 format, u64 offset, u32 limit, u16 pages, then
// where each page's chain begins.
bool apply_to_segment(Bytes starts, MachoPlace place, std::span<std::byte> copy, std::vector<u64> &unknown) {
  const u64 page = load_at<u16>(starts, 4, little_endian).value_or(0),
            pages = load_at<u16>(starts, 20, little_endian).value_or(0);
  const u16 format = load_at<u16>(starts, 6, little_endian).value_or(0);
  if ((page != 0x1000 && page != 0x4000) || (format != pointers_by_address && format != pointers_by_offset))
    return false;
  for (u64 i = 0; i < pages && i * page < copy.size(); ++i) {
    const std::optional<u16> start = load_at<u16>(starts, 22 + i * 2, little_endian);
    if (!start || (*start != no_chain && *start >= page))
      return false;
    if (*start != no_chain)
      follow_chain(copy, i * page + *start, std::min<u64>((i + 1) * page, copy.size()), format, place, unknown);
  }
  return true;
}

} // namespace

bool apply_chained_fixups(Bytes fixups, u64 segment, MachoPlace place, std::span<std::byte> copy,
                          std::vector<u64> &unknown) {
  const std::optional<u32> starts = load_at<u32>(fixups, 4, little_endian);
  const std::optional<u32> count = starts ? load_at<u32>(fixups, *starts, little_endian) : std::nullopt;
  if (!count)
    return false;
  if (segment >= *count)
    return true;
  const std::optional<u32> own = load_at<u32>(fixups, *starts + 4 + segment * 4, little_endian);
  if (!own || *own == 0)
    return own.has_value();
  const u64 at = u64{*starts} + *own;
  return at < fixups.size() && apply_to_segment(fixups.subspan(at), place, copy, unknown);
}

} // namespace dnheap
