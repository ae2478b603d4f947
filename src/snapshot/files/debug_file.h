// The separate debug file of a native program: what `strip` took from it, as ILCompiler's NAME.dbg. Found beside the
// program, in the folders that the user named, or by build id below /usr/lib/debug; it counts only if its build id is
// the program's. For snapshot/ alone.
#pragma once
#include "base/host/host.h"
#include "runtime/runtime.h"
#include "target/target.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace dnheap {

// Records what was examined in target.provenance; where there is none, nothing. Null: none fits.
std::shared_ptr<const MappedFile> find_debug_file(Target &target, const Module &module,
                                                  const std::vector<std::string> &folders);

// Gives such a file to a runtime that can name types and fields by it (NativeAot), if there is one.
void add_debug_file(Target &target, Runtime &runtime, const std::vector<std::string> &folders);

} // namespace dnheap
