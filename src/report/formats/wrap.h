// Breaks texts between words into lines that fit a screen. A word that is longer than a line, such as a path of fields
// or of a file, is broken before a dot, after a comma or slash, or anywhere if necessary. Nothing is lost except the
// spaces at a break. Linear; any thread.
#pragma once
#include "base/integers.h"

#include <string>
#include <string_view>
#include <vector>

namespace dnheap::report {

// Returns `text` (valid UTF-8) in lines of at most `width` columns, with `indent` spaces before every line but the
// first. 0: no limit, one line. Returns at least one line; a single character may be wider than the width.
std::vector<std::string> wrap(std::string_view text, u64 width, u64 indent = 0);

} // namespace dnheap::report
