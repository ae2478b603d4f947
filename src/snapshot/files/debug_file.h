// The separate debug file of a native program: the part that `strip` removed, such as ILCompiler's NAME.dbg. It is
// searched for beside the program, in the folders that the user named, and by build id below /usr/lib/debug; it counts
// only if its build id is the program's. For snapshot/ alone.
#pragma once
#include "base/host/host.h"
#include "runtime/runtime.h"
#include "target/target.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace dnheap {

// Records each examined file in target.provenance. Returns null if none fits.
std::shared_ptr<const MappedFile> find_debug_file(Target &target, const Module &module,
                                                  const std::vector<std::string> &folders);

// Gives the debug file, if there is one, to a runtime that can name types and fields from it.
void add_debug_file(Target &target, Runtime &runtime, const std::vector<std::string> &folders);

} // namespace dnheap
