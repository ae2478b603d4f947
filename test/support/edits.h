// Edits: changes to the finished memory of a synthetic process, for the builders: bytes overwritten, stretches left out
// of the dump, places where two pieces of it touch.
#pragma once
#include "target/memory.h"

#include <memory>

namespace dnheap::test {

struct Edits {
  struct Poke {
    Address at = 0;
    u64 value = 0, size = 0;
  };
  std::vector<Poke> pokes;
  std::vector<std::pair<Address, Address>> holes;
  std::vector<Address> cuts;

  // What is left of a piece, in copies of their own, which `storage` keeps alive.
  void apply(const Range &piece, Format format, std::vector<Range> &out,
             std::vector<std::shared_ptr<const void>> &storage) const;
};

} // namespace dnheap::test
