// g_dacTable: the runtime's list of the addresses of variables that a debugger needs, in an order that hardly changes
// between versions (debug/ee/dactable.cpp, inc/dacvars.h). Found by the entry of one known variable: the last word with
// its address, since on arm64 the image's table of addresses (GOT), which lies in front, contains it too, in another
// order. One pass over the runtime's data. Only for the derivation.
#pragma once
#include "runtime/layout/derivation.h"

namespace dnheap {

class DacTable {
public:
  // `known`: the address of a variable; if it is 0 (unknown), the table is empty.
  DacTable(const Derivation &derivation, Address known);

  // False: the table is not in the dump.
  bool is_known() const { return entry_ != 0; }
  // Returns the variable `index` entries after the known one; nullopt: no entry, or it is null.
  std::optional<Address> variable(i64 index) const;

private:
  const Derivation &d_;
  Address entry_ = 0; // of the known variable
};

} // namespace dnheap
