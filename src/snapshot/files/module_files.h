// What a dump leaves out of the files that were mapped into the process, taken from these files: the constants of the
// runtime's own libraries and of NativeAOT programs (code, read-only data, contract descriptor) and of the libraries
// that such a program calls, by which its stacks are followed; and the managed assemblies, whose metadata names the
// types. Never a variable, whose value in the process a file does not know; what it held at first goes to
// Target::initial. A file counts only if it fits (see file_fit.h). What the dump itself holds always stays in front.
#pragma once
#include "target/target.h"

#include <string>
#include <vector>

namespace dnheap {

// For each such module of which something constant is missing: looks in each of `folders` for the path that the target
// names (a folder may be the root of a file system: a container's, /proc/PID/root), then for its file name anywhere
// below, then for the path itself on this host. Lays the first file that fits under target.memory; records every file
// examined in target.provenance.
void lay_module_files(Target &target, const std::vector<std::string> &folders);

} // namespace dnheap
