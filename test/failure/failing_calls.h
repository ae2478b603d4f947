// Calls that fail when a test says so: the n-th allocation, or the n-th of those that ask the system for memory, a file
// or bytes of one; or that one and all after it. They stand in for the real ones in this executable alone (operator new
// and the functions of libc that the library calls).
#pragma once
#include "base/integers.h"

namespace dnheap::test {

enum class Failing { allocation, mmap, open, read, write };
inline constexpr Failing all_failing[] = {Failing::allocation, Failing::mmap, Failing::open, Failing::read,
                                          Failing::write};
const char *name_of(Failing what);

enum class Later { succeed, fail };

// While it lives the n-th call of that kind fails, counted from 1 over all threads, and later ones as told; 0: none,
// they are only counted. All calls are as always once it is gone. One at a time.
class FailingCall {
public:
  FailingCall(Failing what, u64 n, Later later);
  ~FailingCall();
  FailingCall(const FailingCall &) = delete;
};

// How many calls the last FailingCall counted.
u64 counted_calls();

} // namespace dnheap::test
