// StateMachines: what compilers make of an asynchronous method: a type with the method's variables, the number of the
// await that it stands at, and what it awaits there. By the names that C# and Visual Basic give. Some µs per type,
// once; then look-ups. One thread; what a look-up gave may be read by any.
#pragma once
#include "analysis/shapes/field_reader.h"

#include <map>

namespace dnheap {

// Offsets from where the machine begins: of a struct inside another object its first field, less a pointer.
struct MachineShape {
  Address method_table = 0;
  std::string method;              // "Shop.Cart.Pay"
  std::optional<u64> state_at;     // i32: -1 runs, -2 done, else which await
  std::vector<u64> awaiters;       // references, of which one that is not null is what is awaited
  bool has_awaiter_fields = false; // whether or not these hold references
  bool may_yield = true;           // false: it is known to have no await of Task.Yield()
  bool is_state_known = true;      // false: the type's fields are not known, only whose machine it is
  bool are_awaiters_known = true;  // the same of what it awaits
  ResumePoint resumes_at = {};     // of a suspended runtime-async call, which has no such type
};

class StateMachines {
public:
  explicit StateMachines(const Runtime &runtime) : runtime_(runtime) {}

  // Null: no such type. Valid as long as this object.
  const MachineShape *find(Address method_table);

private:
  void add_references(const InstanceField &field, u64 at, MachineShape &to);

  const Runtime &runtime_;
  std::map<Address, std::optional<MachineShape>> shapes_;
};

// "Shop.Cart.Pay" of "Shop.Cart+<Pay>d__11"; the name itself where it is none that a compiler makes so.
std::string method_of_state_machine(std::string_view type_name);

} // namespace dnheap
