// What a dump leaves out of the runtime's own libraries, taken from their files. Only constants come from a file: code,
// read-only data and the contract descriptor; never a variable, whose value in the process the file does not know. A
// file counts only if its build id is the one in the dump. What the dump itself holds always stays in front.
#pragma once
#include "target/target.h"

#include <string>
#include <vector>

namespace dnheap {

// For each runtime library of the target of which something constant is missing: looks at the path that the target
// names, then for its file name below `folders`. Lays the first file that fits under target.memory; records every file
// examined in target.provenance.
void lay_runtime_files(Target &target, const std::vector<std::string> &folders);

} // namespace dnheap
