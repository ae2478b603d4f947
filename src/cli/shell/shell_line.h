// One line of `dnheap shell`, taken apart: words, and where the answer goes. A µs; any thread.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace dnheap::cli {

struct ShellLine {
  std::vector<std::string> words;
  std::string file;     // behind > or >>; empty: none
  bool appends = false; // >>
  std::string program;  // all that stands behind |; empty: none
};

// Words lie between spaces; '…' and "…" keep spaces, |, > and #, which begins a comment. Throws UsageError.
ShellLine parse_line(std::string_view line);

} // namespace dnheap::cli
