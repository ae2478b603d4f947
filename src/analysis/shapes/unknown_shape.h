// Makes an inspector's note about objects with a known type name but other fields; their contents are never guessed at.
#pragma once
#include "base/text.h"

#include <fmt/format.h>
#include <string>
#include <string_view>

namespace dnheap {

// `what`: "it", "such a cache".
inline std::string unknown_shape_note(u64 count, std::string_view type, std::string_view what) {
  return fmt::format("{} objects of the type {} do not have the fields that {} should have: they are left out",
                     count_text(count), type, what);
}

} // namespace dnheap
