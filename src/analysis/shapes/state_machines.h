// StateMachines: the types that compilers make of asynchronous methods. Such a type has fields for the method's
// variables, for the number of the await where the method is suspended, and for the object that it awaits there.
// Recognized by the names that C# and Visual Basic give. Some µs per type, once; then look-ups. One thread; returned
// shapes may be read by any.
#pragma once
#include "analysis/shapes/field_reader.h"

#include <map>

namespace dnheap {

// Offsets are from the beginning of the machine. For a struct inside another object, the beginning is one pointer
// before its first field.
struct MachineShape {
  Address method_table = 0;
  std::string method;              // "Shop.Cart.Pay"
  std::optional<u64> state_at;     // i32: -1 running, -2 done, else the number of the await
  std::vector<u64> awaiters;       // references; the one that is not null is the awaited object
  bool has_awaiter_fields = false; // true even if the fields hold no references
  bool may_yield = true;           // false: it certainly has no await of Task.Yield()
  bool is_state_known = true;      // false: only the method is known, the type's fields are unknown
  bool are_awaiters_known = true;  // the same for the awaiters
  ResumePoint resumes_at = {};     // of a suspended runtime-async call, which has no such type
};

class StateMachines {
public:
  explicit StateMachines(const Runtime &runtime) : runtime_(runtime) {}

  // Returns null if the type is no state machine. Valid as long as this object.
  const MachineShape *find(Address method_table);

private:
  void add_references(const InstanceField &field, u64 at, MachineShape &to);

  const Runtime &runtime_;
  std::map<Address, std::optional<MachineShape>> shapes_;
};

// Returns "Shop.Cart.Pay" for "Shop.Cart+<Pay>d__11"; the name itself if no compiler makes a name of that form.
std::string method_of_state_machine(std::string_view type_name);

} // namespace dnheap
