// Finds the CoreRT debug header (NF16) of a process: the export g_NetNativeRuntimeDebugHeader of a module, PE or ELF
// (the specification covers only Windows, and leaves other systems open), else the one place in a module that has the
// cookie and is plausible as a header. Costs one look-up of a symbol per module, and, if no module exports it, one pass
// over the modules' known memory. For Runtime; from any thread.
#pragma once
#include "runtime/corert/nf16_header.h"
#include "target/target.h"

#include <vector>

namespace dnheap {

struct FoundNf16Header {
  Address address = 0;
  std::string how; // "export of app.exe"
};

// Nullopt if the module has none. Throws Error if several places in it look like one.
std::optional<FoundNf16Header> find_nf16_header(const Target &target, const Module &module);

// Returns modules with an NF16 header: those that export the header; only if no module exports one, those in which a
// place looks like one.
std::vector<const Module *> find_nf16_modules(const Target &target);

} // namespace dnheap
