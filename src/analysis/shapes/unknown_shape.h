// Makes an inspector's note about objects with a known type name but other fields; their contents are never guessed at.
#pragma once
#include "base/text.h"

#include <fmt/format.h>
#include <string>
#include <string_view>

namespace dnheap {

// `what`: "it", "such a cache".
inline std::string unknown_shape_note(u64 count, std::string_view type, std::string_view what) {
  return fmt::format("{} object{} of the type {} {} not have the fields that {} should have: {} left out",
                     count_text(count), count == 1 ? "" : "s", type, count == 1 ? "does" : "do", what,
                     count == 1 ? "it is" : "they are");
}

} // namespace dnheap
