// BuiltInCOM contract, version 1, as far as GC handles need it: the wrapper by which COM holds a managed object, and
// how many references it counts. Windows only; elsewhere runtimes publish none of this, and find_wrapper() says so.
// Specs: dotnet/runtime docs/design/datacontracts/{BuiltInCOM,SyncBlock,Object}.md. Construction resolves offsets; a
// look-up reads some ten words. Any thread.
#pragma once
#include "contract/descriptor.h"

namespace dnheap {

struct ComWrapper {
  u32 ref_count = 0;           // references that COM clients hold
  bool is_handle_weak = false; // the wrapper does not keep its object alive, whatever it counts
};

class BuiltInCom1 {
public:
  BuiltInCom1(const Memory &memory, const ContractDescriptor &descriptor);

  // Nullopt: the object has none, the runtime is built without COM or does not say where wrappers lie, or the dump
  // lacks it.
  std::optional<ComWrapper> find_wrapper(Address object) const;

private:
  struct Offsets {
    u64 sync_block, interop_info, wrapper, simple_wrapper, ref_count, flags;
  };

  std::optional<Address> sync_block(Address object) const;

  const Memory *memory_;
  std::optional<Offsets> at_; // absent: not published
  Address sync_table_ = 0;    // its entries
  u64 entry_size_ = 0;
  u64 ref_count_mask_ = 0;
};

} // namespace dnheap
