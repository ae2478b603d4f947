// Splits one line of `dnheap shell` into words and the answer's destination. A µs; any thread.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace dnheap::cli {

struct ShellLine {
  std::vector<std::string> words;
  std::string file;     // after > or >>; empty: none
  bool appends = false; // >>
  std::string program;  // everything after |; empty: none
};

// Words are separated by spaces. '…' and "…" protect spaces, |, > and #, which begins a comment. Throws UsageError.
ShellLine parse_line(std::string_view line);

} // namespace dnheap::cli
