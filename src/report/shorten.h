// Long names made to fit a column, the same name always in the same way: what stands in angle brackets and parentheses
// loses its namespaces, then .NET's own generic types lose theirs, then what is in brackets goes, the innermost first;
// what is still too long loses its middle. `…` stands for what is gone, so that the ends of a name are there. Some µs a
// name; any thread.
#pragma once
#include "base/integers.h"

#include <string>
#include <string_view>

namespace dnheap::report {

// `name` (valid UTF-8) in at most `width` columns of a screen; unchanged where it fits. Spaces and lines of trees in
// front of a name stay where there is room for both.
std::string shorten(std::string_view name, u64 width);

} // namespace dnheap::report
