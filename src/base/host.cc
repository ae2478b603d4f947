// What is the same on all hosts.
#include "base/host.h"

#include "base/error.h"

#include <algorithm>
#include <filesystem>
#include <utility>

namespace dnheap {

std::shared_ptr<const MappedFile> MappedFile::try_open(const std::string &path) {
  try {
    return open(path);
  } catch (const Error &) {
    return nullptr;
  }
}

TemporaryFile::TemporaryFile(TemporaryFile &&other) noexcept
    : file_(std::exchange(other.file_, -1)), size_(other.size_), what_(other.what_), folder_(std::move(other.folder_)) {
}

void TemporaryFile::write(Bytes bytes) {
  write_at(size_, bytes);
  size_ += bytes.size();
}

std::string NewFile::followed(const std::string &path) {
  constexpr int most_links = 40; // as Linux has it
  std::filesystem::path out = path;
  std::error_code error;
  for (int links = 0; std::filesystem::is_symlink(out, error) && links < most_links; ++links)
    if (const std::filesystem::path to = std::filesystem::read_symlink(out, error); !error)
      out = out.parent_path() / to;
  return out.string();
}

void NewFile::write(Bytes bytes) {
  constexpr u64 page = 4096;
  u64 pending = 0; // of the front of `bytes`: not zero, not written yet
  auto flush = [&] {
    write_at(size_, bytes.first(pending));
    size_ += pending;
    bytes = bytes.subspan(pending);
    pending = 0;
  };
  while (pending < bytes.size()) {
    u64 here = std::min(page - (size_ + pending) % page, bytes.size() - pending);
    Bytes block = bytes.subspan(pending, here);
    if (here < page || block[0] != std::byte{} || !std::equal(block.begin() + 1, block.end(), block.begin())) {
      pending += here;
      continue;
    }
    flush();
    size_ += here;
    bytes = bytes.subspan(here);
  }
  flush();
}

bool is_folder(const std::string &path) {
  std::error_code ignored;
  return std::filesystem::is_directory(path, ignored);
}

bool is_file(const std::string &path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored);
}

std::vector<std::string> files_below(const std::string &folder, u64 limit) {
  std::vector<std::string> out;
  std::error_code error;
  auto it = std::filesystem::recursive_directory_iterator(
      folder, std::filesystem::directory_options::skip_permission_denied, error);
  for (; !error && it != std::filesystem::recursive_directory_iterator() && out.size() < limit; it.increment(error))
    if (std::error_code ignored; it->is_regular_file(ignored))
      out.push_back(it->path().generic_string()); // with / on every host
  std::sort(out.begin(), out.end());
  return out;
}

} // namespace dnheap
