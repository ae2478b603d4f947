// RuntimeHints: what whoever asks knows of a runtime beyond what the target says, or wants ignored. Plain data.
#pragma once
#include "runtime/gc.h"

namespace dnheap {

struct RuntimeHints {
  // Values of its description (TYPE.FIELD, or a global) that count as not found: to see what rests on them.
  std::vector<std::string> left_out = {};
  // Of versions of the GC contract that dnheap does not know.
  std::vector<GcReader> gc_readers = {};
  // CoreRT: nothing in its memory format (NF16) leads to these two.
  std::optional<Address> eetype_contract = {};   // the EEType contract's section
  std::vector<Address> allocation_contexts = {}; // where those of threads lie
};

} // namespace dnheap
