#include "runtime/facts/handle_data.h"

#include <iterator>

namespace dnheap {

namespace {

const char *const names[] = {"weak_short",
                             "weak_long",
                             "strong",
                             "pinned",
                             "variable",
                             "ref_counted",
                             "dependent",
                             "async_pinned",
                             "sized_ref",
                             "weak_native_com",
                             "weak_interior_pointer",
                             "cross_reference"};
static_assert(std::size(names) == handle_type_count);

} // namespace

const char *name_of(HandleType type) { return names[static_cast<u8>(type)]; }

// The specification lists only strong and pinned, as the contract knows no other strong kinds; the GC treats the slots
// of async_pinned and sized_ref as roots as well (gc/objecthandle.cpp). weak_interior_pointer is weak.
bool is_strong(HandleType type) {
  return type == HandleType::strong || type == HandleType::pinned || type == HandleType::async_pinned ||
         type == HandleType::sized_ref;
}

bool has_secondary(HandleType type) {
  return type == HandleType::dependent || type == HandleType::weak_interior_pointer ||
         type == HandleType::cross_reference;
}

} // namespace dnheap
