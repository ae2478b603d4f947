// Completes words with TAB in `dnheap shell`: verbs and SOS' names, the options of the verb at the start of the line,
// their values, types of the open heap, addresses of the last answer. A ms; asks for types only where one can follow.
#pragma once
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dnheap::cli {

// Names that only the open dump knows.
struct KnownNames {
  std::function<std::vector<std::string>()> types; // full names, the largest types first
  std::span<const std::string> addresses;          // as they were shown
};

struct Completion {
  std::size_t begin = 0;            // the text from here to the cursor …
  std::string text;                 // … becomes this
  std::vector<std::string> choices; // if there are several
};

// `before`: the line up to the cursor.
Completion complete(std::string_view before, const KnownNames &known);

} // namespace dnheap::cli
