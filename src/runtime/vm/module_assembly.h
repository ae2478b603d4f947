// How a Module of CoreCLR names its assembly: by a word among its first, in every version, though which one differs.
// Up to 64 loads. Any thread.
#pragma once
#include "target/memory.h"

namespace dnheap {

// Is one of the first words of `module` the address of its assembly?
bool names_assembly(const Memory &memory, Address module, Address assembly);

} // namespace dnheap
