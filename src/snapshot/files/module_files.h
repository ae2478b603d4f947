// Takes parts of mapped files that are not in a dump from the files on disk. These parts are the constants (code,
// read-only data, contract descriptor) of the runtime's own libraries and of NativeAOT programs; the constants of the
// libraries that a NativeAOT program calls, which are needed to unwind the program's stacks; and the managed
// assemblies, whose metadata names the types. Variables are never taken, since the file does not contain their values
// in the process; initial values go to Target::initial. A file counts only if it fits (see file_fit.h). Memory in the
// dump itself always takes precedence.
#pragma once
#include "target/target.h"

#include <string>
#include <vector>

namespace dnheap {

// Searches for the file of each of these modules with missing constants: in each of `folders` first at the path that
// the target names (a folder may be the root of a file system: a container's, /proc/PID/root), then anywhere below by
// the file name; then at the path itself on this host; last anywhere below the folders by what identifies the build,
// whatever a file's name. A folder that is the target itself (Target::folder) is one of them. Lays the first file that
// fits under target.memory. Records every file examined in target.provenance.
void lay_module_files(Target &target, const std::vector<std::string> &folders);

} // namespace dnheap
