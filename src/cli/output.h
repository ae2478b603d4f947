// Output: the destination of the answer: standard output, or the file of -o. A file is replaced only when its answer is
// complete: half an answer must neither look like a whole one, nor replace the previous one.
#pragma once
#include "dnheap/program.h"

#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dnheap::cli {

class Output {
public:
  // `path` empty: standard output. `is_private`: contents of strings, which others must not read. Throws Error if the
  // file cannot be written, UsageError if it is a target itself: both before hours of work rather than after.
  Output(std::string path, const std::vector<std::string> &targets, bool is_private, const char *option = "--output");
  ~Output();
  Output(const Output &) = delete;
  Output &operator=(const Output &) = delete;

  bool is_standard_output() const { return path_.empty(); }
  // Returns the stream to write to; name() is its name in errors.
  std::FILE *begin();
  std::string name() const { return path_.empty() ? "standard output" : path_; }
  void finish();

private:
  std::string path_;
  std::optional<WholeFile> whole_; // for files; not for pipes and devices
  std::FILE *file_ = nullptr;
};

// Prints to standard output. Returns false if the pipe is closed: nobody reads it any more, which is no failure. Throws
// Error.
bool print_text(const std::string &text);

// Prints a line for people to standard error.
void say(std::string_view message);

} // namespace dnheap::cli
