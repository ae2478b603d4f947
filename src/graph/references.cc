#include "graph/references.h"

namespace dnheap {

References::References(const Heap &heap, const Runtime &runtime, std::span<const Address> method_tables,
                       std::vector<Dependent> dependents)
    : format_(runtime.memory().format()), types_(heap, runtime, method_tables), bytes_(heap, runtime.memory()),
      dependents_(std::move(dependents)) {
  const u64 p = format_.pointer_size;
  for (const Dependent &dependent : dependents_.all())
    if (Bytes key = bytes_.from(dependent.key); key.size() >= p)
      types_.set_hidden(load_pointer(key.data(), format_) & ~(p - 1));
}

} // namespace dnheap
