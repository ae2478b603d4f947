#include "runtime/vm/nibble_map.h"

#include <algorithm>

namespace dnheap {

namespace {

constexpr u64 bucket_size = 32, nibbles = 8;
constexpr u64 max_groups = 1 << 20; // limit of groups that one method covers: 256 MiB of code

// Returns the last nibble of a group that is set, at or before `at`; the first has number 0.
std::optional<u64> last_before(u32 group, u64 at) {
  for (u64 i = at + 1; i-- > 0;)
    if (group >> (28 - 4 * i) & 15)
      return i;
  return std::nullopt;
}

} // namespace

std::optional<Address> NibbleMap::find(Address ip) const {
  if (ip < base_)
    return std::nullopt;
  const u64 relative = ip - base_, bucket = relative / bucket_size;
  const u32 word = static_cast<u32>(relative % bucket_size / 4 + 1);
  u64 group = bucket / nibbles;
  auto begin_in = [&](u32 value, u64 i) {
    return base_ + (group * nibbles + i) * bucket_size + 4 * ((value >> (28 - 4 * i) & 15) - 1);
  };
  auto pointed = [&](u32 value) { return base_ + (value & ~u32{15}) + 4 * u64{(value & 15) - 9}; };
  u32 value = memory_->u32_at(map_ + 4 * group, "a map of compiled code");
  if (is_pointer(value))
    return pointed(value);
  const u64 own = bucket % nibbles;
  if (const u32 nibble = value >> (28 - 4 * own) & 15; nibble && nibble <= word)
    return begin_in(value, own);
  if (own)
    if (std::optional<u64> i = last_before(value, own - 1))
      return begin_in(value, *i);
  for (u64 i = 0; group-- > 0 && i < max_groups; ++i) {
    value = memory_->u32_at(map_ + 4 * group, "a map of compiled code");
    if (is_pointer(value))
      return pointed(value);
    if (std::optional<u64> last = last_before(value, nibbles - 1))
      return begin_in(value, *last);
    if (constant_time_)
      break;
  }
  return std::nullopt;
}

std::optional<std::vector<Address>> NibbleMap::starts(Address end) const {
  constexpr u64 most_in_map = 1 << 22; // 1 GiB of code
  std::vector<Address> out;
  const u64 groups = end > base_ ? std::min((end - base_) / (bucket_size * nibbles) + 1, most_in_map) : 0;
  for (u64 group = 0; group < groups; ++group) {
    const std::optional<u32> value = memory_->try_load<u32>(map_ + 4 * group);
    if (!value)
      return std::nullopt;
    for (u64 i = 0; *value && !is_pointer(*value) && i < nibbles; ++i)
      if (const u32 nibble = *value >> (28 - 4 * i) & 15; nibble && nibble <= bucket_size / 4)
        out.push_back(base_ + (group * nibbles + i) * bucket_size + 4 * (u64{nibble} - 1));
  }
  return out;
}

} // namespace dnheap
