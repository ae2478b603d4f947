// g_dacTable: the runtime's list of the addresses of variables that a debugger wants, in an order that hardly changes
// between versions (debug/ee/dactable.cpp, inc/dacvars.h). Found by the entry of one variable that is known: the
// last word with its address, as on arm64 the image's table of addresses (GOT), which lies in front, has it, too, in
// another order. One pass over the runtime's data. For the derivation only.
#pragma once
#include "runtime/layout/derivation.h"

namespace dnheap {

class DacTable {
public:
  // `known`: the address of a variable; 0 where it is not known, and then the table is empty.
  DacTable(const Derivation &derivation, Address known);

  // False: the dump lacks it.
  bool is_known() const { return entry_ != 0; }
  // The variable `index` entries behind the known one; nullopt where there is none, or none there.
  std::optional<Address> variable(i64 index) const;

private:
  const Derivation &d_;
  Address entry_ = 0; // of the known variable
};

} // namespace dnheap
