// has_compressed_name: whether a file's name ends as those of compressed dumps do. A dump is opened by its content, so
// this is for what is said before it is opened.
#pragma once
#include <algorithm>
#include <string_view>

namespace dnheap {

inline constexpr std::string_view compressed_endings[] = {".zst", ".gz", ".xz", ".lz4"};

inline bool has_compressed_name(std::string_view name) {
  return std::any_of(std::begin(compressed_endings), std::end(compressed_endings),
                     [&](std::string_view ending) { return name.ends_with(ending); });
}

} // namespace dnheap
