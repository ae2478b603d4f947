// Compresses texts in zlib's format, which browsers call "deflate": for texts inside pages, and for cached answers. Any
// thread.
#pragma once
#include "base/integers.h"

#include <optional>
#include <string>
#include <string_view>

namespace dnheap::explore {

// `level`: 1, the quickest, to 9, the smallest. Throws std::bad_alloc.
std::string deflated(std::string_view text, int level);
// `size`: the text's size. Nullopt: the bytes are not a deflated text, or the text is longer.
std::optional<std::string> inflated(std::string_view bytes, u64 size);

} // namespace dnheap::explore
