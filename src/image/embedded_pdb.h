// The portable PDB that a compiler put into an assembly, compressed. For snapshot/; any thread.
#pragma once
#include "base/bytes.h"

#include <vector>

namespace dnheap {

// `data`: of the entry of the debug directory: "MPDB", how large it is, deflated bytes. Empty where it is none.
std::vector<std::byte> unpack_embedded_pdb(Bytes data);

} // namespace dnheap
