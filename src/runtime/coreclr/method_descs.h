// MethodDescs: which method a MethodDesc, or a piece of code that leads to one, stands for: what the RuntimeTypeSystem
// contract, version 1, calls GetMethodToken and the like, and of the PrecodeStubs contract what delegates need. A few
// reads and one name per question; nothing is kept. From one thread at a time.
// Spec: dotnet/runtime docs/design/datacontracts/{RuntimeTypeSystem,PrecodeStubs}.md; bits: src/coreclr/vm/method.hpp.
#pragma once
#include "runtime/coreclr/runtime_type_system_1.h"
#include "target/target.h"

#include <optional>
#include <string>

namespace dnheap {

class MethodDescs {
public:
  MethodDescs(const Target &target, const ContractDescriptor &descriptor, RuntimeTypeSystem1 &types, Loader1 &loader);

  // Its chunk must lead to a sound MethodTable, and its row be one of that type's methods.
  bool is_method_desc(Address method) const;
  // The MethodDesc of a stub (precode) that leads to a method; 0: it is none, or one that is not known.
  Address of_code(Address code) const;
  // Of the type that declares it; of shared generic code the canonical one.
  Address method_table_of(Address method) const;
  // Of System.Reflection.Emit.DynamicMethod, or made by the runtime itself: it has no row.
  bool is_dynamic(Address method) const;
  // A generic method, with arguments of its own.
  bool is_instantiated(Address method) const;
  // In the metadata of its module; 0: cannot be told. Of dynamic methods it means nothing.
  u32 row(Address method) const;
  // "OnChanged"; of a dynamic method what it was called. Empty: cannot be told.
  std::string name(Address method) const;

private:
  Address chunk_of(Address method) const;
  u32 rid_of(Address method, Address chunk) const;
  std::optional<u16> kind_of(Address method) const;
  std::optional<Address> operand(Address code, unsigned at, std::initializer_list<u8> opcode) const;

  const Memory *memory_;
  RuntimeTypeSystem1 *types_;
  Loader1 *loader_;
  const u64 p_;
  bool is_x64_;
  u64 alignment_, remainder_bits_;                                  // of MethodDescs; of the row number
  u64 remainder_, index_, flags_, name_;                            // in a MethodDesc
  u64 chunk_size_, chunk_method_table_, chunk_count_, chunk_range_; // of MethodDescChunk
  u64 fixup_method_, stub_parameter_, page_size_;                   // of the data behind a stub
};

} // namespace dnheap
