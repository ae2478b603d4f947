#include "base/large_array.h"

#include <sys/mman.h>

namespace dnheap {

void *take_pages(u64 bytes) {
  if (bytes == 0)
    return nullptr;
  void *pages = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED)
    throw std::bad_alloc();
#ifdef MADV_HUGEPAGE
  ::madvise(pages, bytes, MADV_HUGEPAGE); // a wish: where it is not granted, small pages serve
#endif
  return pages;
}

void give_back_pages(void *pages, u64 bytes) {
  if (pages)
    ::munmap(pages, bytes);
}

} // namespace dnheap
