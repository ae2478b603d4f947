#include "base/host/file_attributes.h"

namespace dnheap {

std::optional<std::string> file_attribute(const std::string &, const std::string &) { return std::nullopt; }

} // namespace dnheap
