// Identifies files that are no dumps by their first bytes, and says what to do with them. Looks at 4 KiB. Any thread.
#pragma once
#include "base/bytes.h"

#include <string>

namespace dnheap {

// Returns a text such as "a heap dump of a Java virtual machine (.hprof): Eclipse MAT opens it".
std::string what_else(Bytes file);

} // namespace dnheap
