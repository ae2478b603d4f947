#include "base/host/file_attributes.h"

#include <sys/xattr.h>

namespace dnheap {

std::optional<std::string> file_attribute(const std::string &path, const std::string &name) {
  char value[4096];
  const ssize_t size = ::getxattr(path.c_str(), name.c_str(), value, sizeof value);
  return size < 0 ? std::nullopt : std::optional(std::string(value, static_cast<std::size_t>(size)));
}

} // namespace dnheap
