// Output: where the answer goes: standard output, or the file of -o. A file is replaced only once its answer is whole:
// half an answer must not look like a whole one, nor take the place of the last one.
#pragma once
#include "dnheap/program.h"

#include <cstdio>
#include <optional>
#include <string>
#include <vector>

namespace dnheap::cli {

class Output {
public:
  // `path` empty: standard output. Private: what others must not read, contents of strings. Throws Error when the file
  // could not be written, UsageError when it is a target itself; before hours of work rather than after.
  Output(std::string path, const std::vector<std::string> &targets, bool is_private, const char *option = "--output");
  ~Output();
  Output(const Output &) = delete;
  Output &operator=(const Output &) = delete;

  bool is_standard_output() const { return path_.empty(); }
  // What to write to, and what to call it in errors.
  std::FILE *begin();
  std::string name() const { return path_.empty() ? "standard output" : path_; }
  void finish();

private:
  std::string path_;
  std::optional<WholeFile> whole_; // of a file; not of a pipe or a device
  std::FILE *file_ = nullptr;
};

// To standard output; a closed pipe is no failure: false, nobody reads it any more. Throws Error.
bool print_text(const std::string &text);

} // namespace dnheap::cli
