// RangeSectionMap: which part of the address space holds code, and whose: a tree of tables by the upper bits of the
// address, of lists of fragments. A look-up reads some ten words; any thread.
// Spec: dotnet/runtime docs/design/datacontracts/ExecutionManager.md; src/coreclr/vm/codeman.h.
#pragma once
#include "contract/descriptor.h"

#include <vector>

namespace dnheap {

struct RangeSection {
  Address begin = 0, end = 0;
  u32 flags = 0;
  Address ready_to_run_module = 0; // a Module, of images
  Address heap_list = 0;           // a CodeHeapListNode, of code compiled while the runtime ran

  static constexpr u32 code_heap_flag = 2, range_list_flag = 4; // the latter: stubs
  bool is_code_heap() const { return !ready_to_run_module && (flags & code_heap_flag) && heap_list; }
  bool is_stubs() const { return flags & range_list_flag; }
};

class RangeSectionMap {
public:
  // Where the uppermost table lies; 0: that is not known, and nothing is found.
  RangeSectionMap(const Memory &memory, const ContractDescriptor &descriptor, Address top);

  bool is_known() const { return top_ != 0; }
  // Nullopt: no code of the runtime lies there. Throws Error where the dump lacks a part of the map.
  std::optional<RangeSection> find(Address ip) const;
  // Each section once, by address. What cannot be read is left out; a map that holds more than is sound, cut.
  std::vector<RangeSection> sections() const;

private:
  struct Layout {
    u64 next, begin, end, section;                            // of a RangeSectionFragment
    u64 section_begin, section_end, flags, module, heap_list; // of a RangeSection
  };
  std::optional<RangeSection> section_at(Address section) const;
  std::optional<RangeSection> in_fragments(Address fragment, Address ip) const;
  u64 index(Address ip, unsigned level) const;

  const Memory *memory_;
  const u64 p_;
  const unsigned levels_;
  Address top_;
  Layout at_{};
};

} // namespace dnheap
