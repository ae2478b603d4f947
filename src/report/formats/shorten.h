// Shortens long names to fit a column, always in the same way: names in angle brackets and parentheses lose their
// namespaces, then .NET's own generic types lose theirs, then the contents of brackets go, the innermost first; a name
// that is still too long loses its middle. `…` marks removed parts, so that the ends of a name stay visible. Some µs a
// name; any thread.
#pragma once
#include "base/integers.h"

#include <string>
#include <string_view>

namespace dnheap::report {

// Returns `name` (valid UTF-8) in at most `width` columns of a screen; unchanged if it fits. Spaces and lines of trees
// before a name stay if there is room for both.
std::string shorten(std::string_view name, u64 width);

} // namespace dnheap::report
