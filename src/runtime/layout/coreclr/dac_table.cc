#include "runtime/layout/coreclr/dac_table.h"

namespace dnheap {

DacTable::DacTable(const Derivation &derivation, Address known) : d_(derivation) {
  if (known)
    entry_ = d_.find_last_in_data(known).value_or(0);
}

std::optional<Address> DacTable::variable(i64 index) const {
  std::optional<u64> word =
      entry_ ? d_.word(entry_ + static_cast<u64>(index * static_cast<i64>(d_.pointer_size))) : std::nullopt;
  return word && *word ? word : std::nullopt;
}

} // namespace dnheap
