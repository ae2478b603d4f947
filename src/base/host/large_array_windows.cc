#include "base/host/large_array.h"
#include "base/host/windows.h"

#include <cstdlib>

namespace dnheap {
namespace {

constexpr u64 worth_mapping = u64{1} << 20; // as on POSIX hosts

} // namespace

void *take_pages(u64 bytes) {
  if (bytes == 0)
    return nullptr;
  void *memory = bytes < worth_mapping ? std::calloc(1, bytes)
                                       : ::VirtualAlloc(nullptr, bytes, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
  return memory ? memory : throw std::bad_alloc();
}

void give_back_pages(void *pages, u64 bytes) {
  if (bytes < worth_mapping)
    std::free(pages);
  else
    ::VirtualFree(pages, 0, MEM_RELEASE);
}

} // namespace dnheap
