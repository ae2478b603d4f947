// RuntimeHints: what whoever asks knows of a runtime beyond what the target says, or wants ignored. Plain data.
#pragma once
#include "base/integers.h"

#include <optional>
#include <string>
#include <vector>

namespace dnheap {

struct RuntimeHints {
  // Values of its description (TYPE.FIELD, or a global) that count as not found: to see what rests on them.
  std::vector<std::string> left_out = {};
  // CoreRT: nothing in its memory format (NF16) leads to these two.
  std::optional<Address> eetype_contract = {};   // the EEType contract's section
  std::vector<Address> allocation_contexts = {}; // where those of threads lie
};

} // namespace dnheap
