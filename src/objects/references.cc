#include "objects/references.h"

namespace dnheap {

References::References(const Heap &heap, const Runtime &runtime, std::span<const Address> method_tables,
                       std::vector<Dependent> dependents)
    : format_(runtime.memory().format()), types_(heap, runtime, method_tables), bytes_(heap, runtime.memory()),
      dependents_(std::move(dependents)) {
  for (const Dependent &dependent : dependents_.all())
    if (Bytes key = bytes_.from(dependent.key); key.size() >= format_.pointer_size)
      types_.set_hidden(method_table_in(load_pointer(key.data(), format_), format_));
}

} // namespace dnheap
