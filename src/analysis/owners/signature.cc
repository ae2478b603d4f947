#include "analysis/owners/signature.h"

#include <fmt/format.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace dnheap {

std::string signature(std::string_view owner, std::span<const std::string> fields) {
  std::string text(owner);
  for (const std::string &field : fields)
    text += "|" + field;
  return fmt::format("{:016x}", XXH64(text.data(), text.size(), 0));
}

std::string short_signature(std::string_view signature) { return std::string(signature.substr(0, 6)); }

} // namespace dnheap
