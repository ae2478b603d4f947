// MethodDescs: identifies the method of a MethodDesc, or of a stub that leads to one: GetMethodToken and the like of
// the RuntimeTypeSystem contract, version 1, and the parts of the PrecodeStubs contract that delegates need. A few
// reads and one name per question; nothing is kept. From one thread at a time. Spec: dotnet/runtime
// docs/design/datacontracts/{RuntimeTypeSystem,PrecodeStubs}.md; bits: src/coreclr/vm/method.hpp.
#pragma once
#include "runtime/coreclr/types/runtime_type_system_1.h"
#include "target/target.h"

#include <optional>
#include <string>

namespace dnheap {

class MethodDescs {
public:
  MethodDescs(const Target &target, const ContractDescriptor &descriptor, RuntimeTypeSystem1 &types, Loader1 &loader);

  // True if its chunk leads to a sound MethodTable, and its row is one of that type's methods.
  bool is_method_desc(Address method) const;
  // Returns the MethodDesc of a stub (precode) that leads to a method; 0: no stub, or an unknown kind.
  Address of_code(Address code) const;
  // Returns the MethodTable of the declaring type; for shared generic code, the canonical one.
  Address method_table_of(Address method) const;
  // True for methods of System.Reflection.Emit.DynamicMethod and for those that the runtime generates: they have no
  // row.
  bool is_dynamic(Address method) const;
  // True for a generic method with arguments of its own.
  bool is_instantiated(Address method) const;
  // Returns the row in the metadata of its module; 0: unknown. Meaningless for dynamic methods.
  u32 row(Address method) const;
  // "OnChanged"; for a dynamic method, the name it was created with. Empty: unknown.
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
  u64 fixup_method_, stub_parameter_, page_size_;                   // offsets in a stub's data, and its page size
};

} // namespace dnheap
