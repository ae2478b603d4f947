#include "base/host/large_array.h"

#include <cstdlib>
#include <sys/mman.h>

namespace dnheap {
namespace {

// Small arrays get no mappings of their own: the system would join neighbouring mappings, and clear a whole huge page
// when the first byte is used.
constexpr u64 worth_mapping = u64{1} << 20;

} // namespace

void *take_pages(u64 bytes) {
  if (bytes == 0)
    return nullptr;
  if (bytes < worth_mapping) {
    void *memory = std::calloc(1, bytes);
    return memory ? memory : throw std::bad_alloc();
  }
  void *pages = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED)
    throw std::bad_alloc();
#ifdef MADV_HUGEPAGE
  ::madvise(pages, bytes, MADV_HUGEPAGE); // a hint: if it is refused, small pages are used
#endif
  return pages;
}

void give_back_pages(void *pages, u64 bytes) {
  if (bytes < worth_mapping)
    std::free(pages);
  else
    ::munmap(pages, bytes);
}

} // namespace dnheap
