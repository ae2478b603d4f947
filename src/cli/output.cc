#include "cli/output.h"

#include "dnheap/error.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

namespace dnheap::cli {

namespace {

[[noreturn]] void fail(const std::string &path) {
  if (errno == EINTR)
    throw Interrupted();
  throw Error("cannot write to " + path + ": " + std::strerror(errno));
}

// What is there, and not a symbolic link that leads to it.
void remove_file(const std::string &path) {
  std::error_code error;
  if (const std::filesystem::path file = std::filesystem::canonical(path, error); !error)
    std::filesystem::remove(file, error);
}

} // namespace

Output::Output(std::string path, const std::vector<std::string> &targets, const char *option) : path_(std::move(path)) {
  if (path_ == "-") // as ever: standard output
    path_.clear();
  if (path_.empty())
    return;
  std::error_code ignored;
  for (const std::string &target : targets)
    if (std::filesystem::equivalent(path_, target, ignored))
      throw UsageError(std::string(option) + ": '" + path_ + "' is the dump itself");
  bool exists = std::filesystem::exists(path_, ignored);
  is_regular_ = !exists || std::filesystem::is_regular_file(path_, ignored);
  if (!is_regular_)
    return;
  std::FILE *probe = std::fopen(path_.c_str(), "ab");
  if (!probe)
    fail(path_);
  std::fclose(probe);
  if (!exists)
    remove_file(path_);
}

Output::~Output() {
  if (!file_ || path_.empty())
    return;
  std::fclose(file_);
  if (is_regular_)
    remove_file(path_);
}

std::FILE *Output::begin() {
  file_ = path_.empty() ? stdout : std::fopen(path_.c_str(), "wb");
  if (!file_)
    fail(path_);
  return file_;
}

void Output::finish() {
  std::FILE *file = std::exchange(file_, nullptr);
  if (!path_.empty() && std::fclose(file) != 0)
    fail(path_);
}

bool print_text(const std::string &text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0)
    return true;
  if (errno != EPIPE)
    throw Error(std::string("cannot write to standard output: ") + std::strerror(errno));
  return false;
}

} // namespace dnheap::cli
