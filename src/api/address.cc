#include "dnheap/address.h"

#include "analysis/names/subject.h"
#include "base/text.h"
#include "dnheap/version.h"

#define DNHEAP_TEXT_OF(number) #number
#define DNHEAP_DOTTED(major, minor, patch) DNHEAP_TEXT_OF(major) "." DNHEAP_TEXT_OF(minor) "." DNHEAP_TEXT_OF(patch)

namespace dnheap {

const char *library_version() {
  return DNHEAP_DOTTED(DNHEAP_VERSION_MAJOR, DNHEAP_VERSION_MINOR, DNHEAP_VERSION_PATCH);
}

} // namespace dnheap

namespace dnheap::v0 {

std::optional<Address> Address::parse(std::string_view text) {
  const std::optional<u64> value = written_address(text);
  return value ? std::optional(Address(*value)) : std::nullopt;
}

std::string Address::text() const { return hex(value_); }

} // namespace dnheap::v0
