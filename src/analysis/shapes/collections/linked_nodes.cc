#include "analysis/shapes/collections/linked_nodes.h"

#include <unordered_set>

namespace dnheap {

std::vector<Address> linked_nodes(FieldReader &fields, Address first, std::string_view next, u64 most) {
  std::vector<Address> out;
  std::unordered_set<Address> met; // ends the loop if the list is circular
  for (Address node = first; node && out.size() < most && met.insert(node).second;
       node = fields.reference_or_null(node, next))
    out.push_back(node);
  return out;
}

} // namespace dnheap
