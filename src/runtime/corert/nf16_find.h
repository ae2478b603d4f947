// Where a process keeps its CoreRT debug header (NF16): the export g_NetNativeRuntimeDebugHeader of a module, PE or ELF
// (the specification tells of Windows only, and leaves other systems to do), else the one place in a module that has
// the cookie and makes sense as a header. Costs one look-up of a symbol per module, and where no module exports it, one
// pass over the modules' known memory. For Runtime; from any thread.
#pragma once
#include "runtime/corert/nf16_header.h"
#include "target/target.h"

#include <vector>

namespace dnheap {

struct FoundNf16Header {
  Address address = 0;
  std::string how; // "export of app.exe"
};

// Nullopt when the module has none. Throws Error when several places in it look like one.
std::optional<FoundNf16Header> find_nf16_header(const Target &target, const Module &module);

// Modules with such a header: those that export it, and only where there are none, those in which a place looks like
// it.
std::vector<const Module *> find_nf16_modules(const Target &target);

} // namespace dnheap
