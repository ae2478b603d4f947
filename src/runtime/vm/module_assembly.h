// Tests whether a Module of CoreCLR points at its assembly: one of its first words does in every version, though which
// one differs. Up to 64 loads. Any thread.
#pragma once
#include "target/memory.h"

namespace dnheap {

// True if one of the first words of `module` is the address of its assembly.
bool names_assembly(const Memory &memory, Address module, Address assembly);

} // namespace dnheap
