// Attributes that programs have attached to a file (extended attributes). A system call each; any thread. Linux; on
// other systems no file has any.
#pragma once
#include <optional>
#include <string>

namespace dnheap {

// Returns the value; nullopt if the file has no such attribute, or one of more than 4 KiB. `name`: "user.…".
std::optional<std::string> file_attribute(const std::string &path, const std::string &name);

} // namespace dnheap
