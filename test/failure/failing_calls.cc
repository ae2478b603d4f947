#include "failure/failing_calls.h"

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdlib>
#include <fcntl.h>
#include <new>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace dnheap::test {

namespace {

// -1: nothing is counted, so that the tests' own calls are not.
std::atomic<int> counted{-1};
std::atomic<u64> calls_made{0}, first_failing{0}, last_failing{0};

bool fails(Failing what) {
  if (counted.load(std::memory_order_relaxed) != static_cast<int>(what))
    return false;
  const u64 n = ++calls_made;
  return n >= first_failing.load(std::memory_order_relaxed) && n <= last_failing.load(std::memory_order_relaxed);
}

void *allocate(std::size_t size, std::size_t alignment) {
  if (fails(Failing::allocation))
    return nullptr;
  if (alignment <= __STDCPP_DEFAULT_NEW_ALIGNMENT__)
    return std::malloc(size ? size : 1);
  return std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

} // namespace

const char *name_of(Failing what) {
  switch (what) {
  case Failing::allocation: return "allocation";
  case Failing::mmap: return "mmap";
  case Failing::open: return "open";
  case Failing::read: return "read";
  case Failing::write: return "write";
  }
  return "";
}

FailingCall::FailingCall(Failing what, u64 n, Later later) {
  calls_made = 0;
  first_failing = n;
  last_failing = n && later == Later::fail ? ~u64{0} : n;
  counted = static_cast<int>(what);
}

FailingCall::~FailingCall() { counted = -1; }

u64 counted_calls() { return calls_made; }

} // namespace dnheap::test

using dnheap::test::allocate;
using dnheap::test::Failing;
using dnheap::test::fails;

void *operator new(std::size_t size) {
  if (void *memory = allocate(size, 0))
    return memory;
  throw std::bad_alloc();
}
void *operator new(std::size_t size, std::align_val_t alignment) {
  if (void *memory = allocate(size, static_cast<std::size_t>(alignment)))
    return memory;
  throw std::bad_alloc();
}
void *operator new[](std::size_t size) { return operator new(size); }
void *operator new[](std::size_t size, std::align_val_t alignment) { return operator new(size, alignment); }
void *operator new(std::size_t size, const std::nothrow_t &) noexcept { return allocate(size, 0); }
void *operator new[](std::size_t size, const std::nothrow_t &) noexcept { return allocate(size, 0); }
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete[](void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void *memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void *memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void *memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void *memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void *memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

// Sanitizers have stand-ins of their own for these.
#ifndef DNHEAP_SANITIZED
extern "C" {

void *mmap(void *at, std::size_t size, int protection, int flags, int file, off_t offset) noexcept {
  if (fails(Failing::mmap)) {
    errno = ENOMEM;
    return MAP_FAILED;
  }
  return reinterpret_cast<void *>(::syscall(SYS_mmap, at, size, protection, flags, file, offset));
}

int open(const char *path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const int mode = va_arg(more, int); // looked at by the system only where the flags say that it is there
  va_end(more);
  if (fails(Failing::open)) {
    errno = EIO;
    return -1;
  }
  return static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path, flags, mode));
}

ssize_t read(int file, void *to, std::size_t size) {
  if (fails(Failing::read)) {
    errno = EIO;
    return -1;
  }
  return ::syscall(SYS_read, file, to, size);
}

ssize_t write(int file, const void *from, std::size_t size) {
  if (fails(Failing::write)) {
    errno = ENOSPC;
    return -1;
  }
  return ::syscall(SYS_write, file, from, size);
}

ssize_t pwrite(int file, const void *from, std::size_t size, off_t at) {
  if (fails(Failing::write)) {
    errno = ENOSPC;
    return -1;
  }
  return ::syscall(SYS_pwrite64, file, from, size, at);
}
}
#endif
