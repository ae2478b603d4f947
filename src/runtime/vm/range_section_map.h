// RangeSectionMap: which parts of the address space hold code, and of which heap or image: a tree of tables by the
// upper bits of the address, with lists of fragments as leaves. A look-up reads some ten words; any thread. Spec:
// dotnet/runtime docs/design/datacontracts/ExecutionManager.md; src/coreclr/vm/codeman.h.
#pragma once
#include "contract/descriptor.h"

#include <vector>

namespace dnheap {

struct RangeSection {
  Address begin = 0, end = 0;
  u32 flags = 0;
  Address ready_to_run_module = 0; // for images: a Module
  Address heap_list = 0;           // for code compiled at run time: a CodeHeapListNode

  static constexpr u32 code_heap_flag = 2, range_list_flag = 4; // `range_list_flag`: stubs
  bool is_code_heap() const { return !ready_to_run_module && (flags & code_heap_flag) && heap_list; }
  bool is_stubs() const { return flags & range_list_flag; }
};

class RangeSectionMap {
public:
  // `top`: address of the root table; 0: unknown, and nothing is found.
  RangeSectionMap(const Memory &memory, const ContractDescriptor &descriptor, Address top);

  bool is_known() const { return top_ != 0; }
  // Nullopt: no code of the runtime lies there. Throws Error if a part of the map is not in the dump.
  std::optional<RangeSection> find(Address ip) const;
  // Returns each section once, by address. Unreadable parts are left out; a map that is too large is cut off.
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
