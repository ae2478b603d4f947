// Delegates: the target of a delegate in CoreCLR: its method by name, and the object that the method is called on; for
// a multicast delegate, each of its parts. Part of CoreClrFields. A few dozen reads per delegate; the fields of a
// delegate type are kept. Source: dotnet/runtime src/coreclr/vm/comdelegate.cpp (the kinds of delegates),
// System.MulticastDelegate.
#pragma once
#include "runtime/coreclr/types/method_descs.h"
#include "runtime/fields.h"
#include "runtime/object_1.h"

#include <unordered_map>

namespace dnheap {

class Delegates {
public:
  Delegates(const Target &target, const ContractDescriptor &descriptor, RuntimeTypeSystem1 &types, Loader1 &loader);

  std::vector<DelegateTarget> targets(Address object, Address method_table, u64 limit, Fields &fields);
  std::optional<DelegateList> list(Address object, Address method_table, Fields &fields);

private:
  // Offsets from the object's first byte.
  struct Members {
    std::optional<u64> target, code, other_code, list, count;
  };
  struct Collecting {
    std::vector<DelegateTarget> *to;
    u64 limit;
    unsigned depth;
    u64 *steps; // steps left
  };

  // Nullopt: not a delegate type.
  const std::optional<Members> &members(Address method_table, Fields &fields);
  void collect(Address object, const Collecting &into, Fields &fields);
  std::optional<DelegateList> list_of(Address object, const Members &members, Fields &fields) const;
  DelegateTarget one(Address object, const Members &members) const;
  std::string method_name(Address method, Address target) const;
  std::string code_name(Address code) const;
  Address word(Address at) const { return memory_->try_pointer(at).value_or(0); }
  Address type_of(Address object) const { return object ? method_table_of(*memory_, object) : 0; }

  const Target *target_;
  const Memory *memory_;
  RuntimeTypeSystem1 *types_;
  MethodDescs methods_;
  const u64 p_;
  std::unordered_map<Address, std::optional<Members>> members_;
};

} // namespace dnheap
