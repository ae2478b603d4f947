// Memory that is larger than what it takes: zeros that nobody has written to, or a few pages again and again.
#pragma once
#include "base/bytes.h"

#include <stdexcept>
#include <sys/mman.h>
#include <unistd.h>

namespace dnheap::test {

class LargeMemory {
public:
  // Zeros; what is written to takes memory, by pages.
  explicit LargeMemory(u64 size) : size_(size), at_(map(size)) {}
  // `pages`, a multiple of a page, that many times in a row, the same memory each time.
  LargeMemory(Bytes pages, u64 times) : LargeMemory(pages.size() * times) {
    int file = memfd_create("dnheap-test", 0);
    if (file < 0 || write(file, pages.data(), pages.size()) != static_cast<ssize_t>(pages.size()))
      throw std::runtime_error("cannot write to a memory file");
    for (u64 i = 0; i < times; ++i)
      if (mmap(at_ + i * pages.size(), pages.size(), PROT_READ, MAP_SHARED | MAP_FIXED, file, 0) == MAP_FAILED)
        throw std::runtime_error("cannot map memory again");
    close(file);
  }
  ~LargeMemory() { munmap(at_, size_); }
  LargeMemory(const LargeMemory &) = delete;

  std::byte *data() { return at_; }
  Bytes bytes() const { return {at_, size_}; }

private:
  static std::byte *map(u64 size) {
    void *at = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED)
      throw std::runtime_error("cannot map memory");
    return static_cast<std::byte *>(at);
  }
  u64 size_;
  std::byte *at_;
};

} // namespace dnheap::test
