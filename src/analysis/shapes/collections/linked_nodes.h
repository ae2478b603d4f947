// The nodes of a linked list in the target: waiters keep such lists. Ends at null, at a limit, or where the list leads
// back, so that no reader has to think of that. A read per node. Not for several threads at once.
#pragma once
#include "analysis/shapes/field_reader.h"

#include <vector>

namespace dnheap {

// `next`: the field of a node that refers to the next one. Returns at most `most` nodes.
std::vector<Address> linked_nodes(FieldReader &fields, Address first, std::string_view next, u64 most);

} // namespace dnheap
