#include "analysis/verdict/fail_fast_message.h"

#include "runtime/string_object.h"

#include <set>

namespace dnheap {

namespace {

// Returns the string at an address, or whose first character is there; 0: none.
Address string_of(const Snapshot &snapshot, Address value) {
  const Runtime &runtime = snapshot.runtime();
  for (const Address object : {value, value - string_layout(runtime).characters})
    if (const Address type = snapshot.heap().holds(object) ? method_table_of(runtime.memory(), object) : 0;
        type && runtime.types().object_layout(type) && runtime.types().name(type) == "System.String")
      return object;
  return 0;
}

} // namespace

Address fail_fast_message(const Snapshot &snapshot, const WalkedStack &stack, Address caller) {
  std::set<Address> found;
  bool is_caller_met = false;
  for (const StackFrame &frame : stack.frames) {
    is_caller_met = frame.kind == StackFrame::Kind::method && frame.sp == caller;
    if (is_caller_met)
      break;
    for (const StackReference &reference : frame.references)
      if (const Address string = reference.certain ? string_of(snapshot, reference.value) : 0)
        found.insert(string);
  }
  return is_caller_met && found.size() == 1 ? *found.begin() : 0;
}

} // namespace dnheap
