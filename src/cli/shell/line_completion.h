// What TAB offers in `dnheap shell`: verbs and SOS' names, the options of the verb that stands in front, the words that
// these take, types of the open heap, addresses of the last answer. A ms; asks for types only where one can stand.
#pragma once
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dnheap::cli {

// What only the open dump knows.
struct KnownNames {
  std::function<std::vector<std::string>()> types; // full names, those that matter most first
  std::span<const std::string> addresses;          // as they were shown
};

struct Completion {
  std::size_t begin = 0;            // what stands from here to the cursor …
  std::string text;                 // … becomes this
  std::vector<std::string> choices; // where there are several
};

// `before`: the line up to the cursor.
Completion complete(std::string_view before, const KnownNames &known);

} // namespace dnheap::cli
