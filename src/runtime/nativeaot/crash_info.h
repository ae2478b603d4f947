// Finds the CrashInfo that a NativeAOT program writes to a buffer of its own before it ends itself. It is a JSON text
// somewhere among the program's variables, and names the module that wrote it. Searches these variables (some 100 KiB).
// Any thread.
#pragma once
#include "runtime/facts/crash_info.h"
#include "target/target.h"

#include <optional>

namespace dnheap {

// Nullopt: there is none, or more than one.
std::optional<CrashInfo> find_crash_info(const Target &target, const Module &module);

} // namespace dnheap
