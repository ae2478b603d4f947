// BuiltInCOM contract, version 1, as far as GC handles need it: the wrapper by which COM holds a managed object, and
// its reference count. Windows only; runtimes on other systems publish none of this, and find_wrapper() returns
// nullopt. Specs: dotnet/runtime docs/design/datacontracts/{BuiltInCOM,SyncBlock,Object}.md. Construction resolves
// offsets; a look-up reads some ten words. Any thread.
#pragma once
#include "contract/descriptor.h"

namespace dnheap {

struct ComWrapper {
  u32 ref_count = 0;           // references that COM clients hold
  bool is_handle_weak = false; // the wrapper does not keep its object alive, whatever its count is
};

class BuiltInCom1 {
public:
  BuiltInCom1(const Memory &memory, const ContractDescriptor &descriptor);

  // Nullopt: the object has none, the runtime is built without COM or does not publish the place of wrappers, or the
  // wrapper is not in the dump.
  std::optional<ComWrapper> find_wrapper(Address object) const;

private:
  struct Offsets {
    u64 sync_block, interop_info, wrapper, simple_wrapper, ref_count, flags;
  };

  std::optional<Address> sync_block(Address object) const;

  const Memory *memory_;
  std::optional<Offsets> at_; // absent: not published
  Address sync_table_ = 0;    // first entry of the table of sync blocks
  u64 entry_size_ = 0;
  u64 ref_count_mask_ = 0;
};

} // namespace dnheap
