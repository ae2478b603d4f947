#include "cli/output.h"

#include "dnheap/error.h"
#include "dnheap/text.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>
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

#ifdef _WIN32
// C's own fopen() takes paths in the system's code page.
std::FILE *open_to_write(const std::string &path) { return ::_wfopen(std::filesystem::path(path).c_str(), L"wb"); }

// Windows has it in every folder, and no file system lists it.
bool is_null_device(std::string path) {
  std::ranges::transform(path, path.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return path == "nul";
}
#else
std::FILE *open_to_write(const std::string &path) { return std::fopen(path.c_str(), "wb"); }
bool is_null_device(const std::string &) { return false; }
#endif

} // namespace

Output::Output(std::string path, const std::vector<std::string> &targets, bool is_private, const char *option)
    : path_(std::move(path)) {
  if (path_ == "-") // the usual name for standard output
    path_.clear();
  if (path_.empty() || is_null_device(path_))
    return;
  std::error_code ignored;
  for (const std::string &target : targets)
    if (std::filesystem::equivalent(path_, target, ignored))
      throw UsageError(std::string(option) + ": '" + path_ + "' is the dump itself");
  if (std::filesystem::is_directory(path_, ignored)) {
    errno = EISDIR;
    fail(path_);
  }
  if (!std::filesystem::exists(path_, ignored) || std::filesystem::is_regular_file(path_, ignored))
    whole_.emplace(path_, is_private);
}

Output::~Output() {
  if (file_ && !path_.empty())
    std::fclose(file_);
}

std::FILE *Output::begin() {
  file_ = path_.empty() ? stdout : open_to_write(whole_ ? whole_->path_for_now() : path_);
  if (!file_)
    fail(path_);
  return file_;
}

void Output::finish() {
  std::FILE *file = std::exchange(file_, nullptr);
  if (!path_.empty() && std::fclose(file) != 0)
    fail(path_);
  if (whole_)
    whole_->commit();
}

bool print_text(const std::string &text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0)
    return true;
  if (errno != EPIPE)
    throw Error(std::string("cannot write to standard output: ") + std::strerror(errno));
  return false;
}

void say(std::string_view message) { std::fputs(("dnheap: " + printable_text(message) + "\n").c_str(), stderr); }

} // namespace dnheap::cli
