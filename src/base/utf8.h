// Validates UTF-8. No state, any thread.
#pragma once
#include "base/integers.h"

#include <string_view>

namespace dnheap {

// Returns the length in bytes of the character at the start of `text` (not empty), or 0 if it is invalid: bad first
// byte, too short, longer than necessary, a surrogate or beyond U+10FFFF.
inline u64 utf8_length(std::string_view text) {
  auto byte = [&](u64 i) { return static_cast<u8>(text[i]); };
  u8 lead = byte(0);
  if (lead < 0x80)
    return 1;
  u64 length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < length)
    return 0;
  for (u64 i = 1; i < length; ++i)
    if ((byte(i) & 0xc0) != 0x80)
      return 0;
  u8 second = byte(1);
  bool overlong = (lead == 0xe0 && second < 0xa0) || (lead == 0xf0 && second < 0x90);
  bool surrogate = lead == 0xed && second >= 0xa0;
  bool beyond = lead == 0xf4 && second >= 0x90;
  return overlong || surrogate || beyond ? 0 : length;
}

} // namespace dnheap
