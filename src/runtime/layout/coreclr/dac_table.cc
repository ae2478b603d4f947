#include "runtime/layout/coreclr/dac_table.h"

namespace dnheap {

DacTable::DacTable(const Derivation &derivation, Address known) : d_(derivation) {
  if (known)
    d_.scan_data([&](Address at, u64 word) {
      if (word == known && entry_ == 0)
        entry_ = at;
    });
}

std::optional<Address> DacTable::variable(i64 index) const {
  std::optional<u64> word =
      entry_ ? d_.word(entry_ + static_cast<u64>(index * static_cast<i64>(d_.pointer_size))) : std::nullopt;
  return word && *word ? word : std::nullopt;
}

} // namespace dnheap
