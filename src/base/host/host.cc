// The code that all hosts share.
#include "base/host/host.h"

#include "base/error.h"
#include "base/text.h"

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
    : file_(std::exchange(other.file_, -1)), size_(other.size_), is_in_memory_(other.is_in_memory_), what_(other.what_),
      folder_(std::move(other.folder_)) {}

namespace {

// Calls write(offset, piece) for everything except whole blocks of zeros, which extending the file creates anyway.
template <class Write> void write_without_zeros(u64 block_size, u64 offset, Bytes bytes, Write write) {
  u64 pending = 0; // bytes at the front of `bytes` that are not zero and not written yet
  auto flush = [&] {
    if (pending)
      write(offset, bytes.first(pending));
    offset += pending;
    bytes = bytes.subspan(pending);
    pending = 0;
  };
  while (pending < bytes.size()) {
    const u64 here = std::min(block_size - (offset + pending) % block_size, bytes.size() - pending);
    const Bytes block = bytes.subspan(pending, here);
    if (here < block_size || block[0] != std::byte{} || !std::equal(block.begin() + 1, block.end(), block.begin())) {
      pending += here;
      continue;
    }
    flush();
    offset += here;
    bytes = bytes.subspan(here);
  }
  flush();
}

} // namespace

void TemporaryFile::resize(u64 size) {
  set_size(size);
  size_ = size;
}

void TemporaryFile::write(Bytes bytes) {
  write_at(size_, bytes);
  size_ += bytes.size();
}

void TemporaryFile::write_at(u64 offset, Bytes bytes) const {
  constexpr u64 block = 64 << 10; // smaller blocks would take too many calls
  if (const std::optional<FreeRoom> room = free_room(); room && room->free < bytes.size() + room->to_leave)
    throw Error("cannot write " + std::string(what_) + " to a temporary file in " + folder_ + ": after " +
                bytes_text(offset) + " only " + bytes_text(room->free) + " are free there, and dnheap leaves " +
                bytes_text(room->to_leave) + " to other programs; give another folder with --temp-dir DIR");
  write_without_zeros(block, offset, bytes, [&](u64 at, Bytes piece) { write_piece(at, piece); });
}

std::optional<TemporaryFile::FreeRoom> TemporaryFile::free_room() const {
  if (is_in_memory_)
    return std::nullopt;
  std::error_code error;
  const std::filesystem::space_info space = std::filesystem::space(folder_, error);
  if (error || space.capacity == 0)
    return std::nullopt;
  constexpr u64 much = 256 << 20;
  return FreeRoom{space.available, std::min<u64>(much, space.capacity / 20)};
}

std::string NewFile::followed(const std::string &path) {
  constexpr int most_links = 40; // as in Linux
  std::filesystem::path out = path;
  std::error_code error;
  for (int links = 0; std::filesystem::is_symlink(out, error) && links < most_links; ++links)
    if (const std::filesystem::path to = std::filesystem::read_symlink(out, error); !error)
      out = out.parent_path() / to;
  return out.string();
}

void NewFile::write(Bytes bytes) {
  constexpr u64 page = 4096;
  write_without_zeros(page, size_, bytes, [&](u64 at, Bytes piece) { write_at(at, piece); });
  size_ += bytes.size();
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
      out.push_back(it->path().generic_string()); // paths with / on every host
  std::sort(out.begin(), out.end());
  return out;
}

std::vector<std::string> files_inside(const std::string &folder, u64 limit) {
  std::vector<std::string> out = files_below(folder, limit);
  std::erase_if(out, [&](const std::string &path) {
    std::error_code error;
    return std::filesystem::is_symlink(path, error) && !is_inside(folder, path);
  });
  return out;
}

bool is_inside(const std::string &folder, const std::string &path) {
  std::error_code error;
  const std::filesystem::path root = std::filesystem::canonical(folder, error);
  if (error)
    return false;
  const std::filesystem::path at = std::filesystem::canonical(path, error);
  return !error && std::mismatch(root.begin(), root.end(), at.begin(), at.end()).first == root.end();
}

} // namespace dnheap
