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

// SOS' name in our words, and its own if there is none: "!DumpHeap -stat" → "stat". Throws UsageError with a sentence
// that says what to ask instead, where there is nothing like it.
std::vector<std::string> our_words(const std::vector<std::string> &words);

} // namespace dnheap::cli
