// What each function of the C interface does around its work: nothing is thrown out of it, its error gets a code and a
// text, pointers that must not be null are not. Free of cost; any thread.
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

// The code of what `work` throws, whose text dnheap_error() then has; or DNHEAP_OK.
int guarded(const std::function<void()> &work) noexcept;

struct Pointer {
  const char *name;
  const void *value;
};
// Throws UsageError that names the first that is null.
void require(const char *function, std::initializer_list<Pointer> pointers);

// Structs whose first member is the size that the caller knows. Throws UsageError when that cannot be.
template <class Struct> void check_size(const char *function, const Struct &of) {
  if (of.size < sizeof(std::size_t) || of.size > 1 << 16)
    throw UsageError(std::string(function) + ": the struct's size is not set");
}

// As much of `from` as the caller knows; the size stays the caller's.
template <class Struct> void fill(Struct &to, Struct from) {
  from.size = to.size;
  std::memcpy(&to, &from, std::min(to.size, sizeof(Struct)));
}

} // namespace dnheap::c
