// What a file is that is no dump, told by how it begins, and what to do then. Looks at 4 KiB. Any thread.
#pragma once
#include "base/bytes.h"

#include <string>

namespace dnheap {

// "a heap dump of a Java virtual machine (.hprof): Eclipse MAT opens it".
std::string what_else(Bytes file);

} // namespace dnheap
