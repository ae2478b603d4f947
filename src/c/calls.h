// Common work around each function of the C interface: exceptions become a code and a text, and pointers that must not
// be null are checked. Free of cost; any thread.
#pragma once
#include "dnheap.h"
#include "dnheap/error.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <string>
#include <utility>

namespace dnheap::c {

// Runs `work`. Returns DNHEAP_OK, or the code of its exception, whose text dnheap_error() then returns.
int guarded(const std::function<void()> &work) noexcept;

struct Pointer {
  const char *name;
  const void *value;
};
// Throws UsageError that names the first null pointer.
void require(const char *function, std::initializer_list<Pointer> pointers);

// Checks a struct whose first member is the size known to the caller. Throws UsageError if that size is impossible.
template <class Struct> void check_size(const char *function, const Struct &of) {
  if (of.size < sizeof(std::size_t) || of.size > 1 << 16)
    throw UsageError(std::string(function) + ": the struct's size is not set");
}

// Copies as much of `from` as the caller's version of the struct has; `to` keeps the size that the caller has set.
template <class Struct> void fill(Struct &to, Struct from) {
  from.size = to.size;
  std::memcpy(&to, &from, std::min(to.size, sizeof(Struct)));
}

} // namespace dnheap::c
