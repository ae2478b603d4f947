// Unpacks the portable PDB that a compiler put into an assembly. For snapshot/; any thread.
#pragma once
#include "base/bytes.h"

#include <vector>

namespace dnheap {

// `data`: the data of the debug directory's entry: "MPDB", the size, deflated bytes. Returns an empty vector if they
// are invalid.
std::vector<std::byte> unpack_embedded_pdb(Bytes data);

} // namespace dnheap
