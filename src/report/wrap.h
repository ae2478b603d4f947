// Texts in lines that fit a screen, broken between words. Words that are too long by themselves, as paths of fields and
// files are, are broken in front of a dot or behind a comma or slash, or wherever they must. Nothing is lost but the
// spaces at a break. Linear; any thread.
#pragma once
#include "base/integers.h"

#include <string>
#include <string_view>
#include <vector>

namespace dnheap::report {

// `text` (valid UTF-8) in lines of at most `width` columns, every line but the first with `indent` spaces in front.
// 0: no limit, one line. Always at least one line; a single character may be wider than the width.
std::vector<std::string> wrap(std::string_view text, u64 width, u64 indent = 0);

} // namespace dnheap::report
