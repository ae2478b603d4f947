// Texts in zlib's format, which browsers call "deflate": what a page holds, and answers that are kept. Any thread.
#pragma once
#include "base/integers.h"

#include <optional>
#include <string>
#include <string_view>

namespace dnheap::explore {

// `level`: 1, the quickest, to 9, the smallest. Throws std::bad_alloc.
std::string deflated(std::string_view text, int level);
// `size`: of the text. Nullopt: it is not that.
std::optional<std::string> inflated(std::string_view bytes, u64 size);

} // namespace dnheap::explore
