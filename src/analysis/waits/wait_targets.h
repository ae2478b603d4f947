// WaitTargets: from the objects that threads wait for inside to the one that the program called: from a WaitableObject
// to its handle, its lock, its semaphore, the object that the lock is a Monitor's of. It knows what it was given: all
// objects of such types, or what a thread's frames hold; what leads on is a field, so whatever is found is so. A few
// reads and some 100 bytes per object. One thread.
#pragma once
#include "analysis/shapes/base_types.h"
#include "analysis/waits/wait_subsystem.h"

#include <unordered_map>
#include <unordered_set>

namespace dnheap {

class WaitTargets {
public:
  WaitTargets(const Runtime &runtime, std::span<const ThreadData> threads)
      : runtime_(runtime), fields_(runtime), bases_(runtime), subsystem_(runtime, threads) {}

  WaitSubsystem &subsystem() { return subsystem_; }

  // Is there anything inside objects of this type that threads wait for?
  bool is_of_kind(Address method_table);
  bool is_handle(Address method_table) { return type(method_table).kind == Kind::handle; }
  bool is_condition(Address object) { return type(fields_.type_of(object)).kind == Kind::condition; }
  // What the object has inside leads to it. Others are passed over.
  void add(Address object);
  // A Lock that is the one of an object's Monitor.
  void add_monitor(Address lock, Address object) { add_inner(lock, object, false); }

  struct Target {
    Address object = 0;        // the outermost; a WaitableObject leads to itself where nothing else is known
    bool is_for_pulse = false; // it has given the lock back, and waits to be told
    std::vector<Address> way;  // what led there, from the innermost on, the object itself the last
  };
  Target find(Address inner) const;
  // Does what was found fit the words of waits_for()? Then there is nothing further out.
  bool is_what_words_say(const Target &target, std::string_view words) const;

private:
  enum class Kind : u8 { none, handle, condition, other };
  struct Type {
    Kind kind = Kind::none;
    std::vector<std::string> fields; // that refer to what is inside
  };
  struct Outer {
    Address object = 0;
    bool is_for_pulse = false;
  };

  const Type &type(Address method_table);
  void add_inner(Address inner, Address outer, bool is_for_pulse);
  void add_condition(Address condition);

  const Runtime &runtime_;
  FieldReader fields_;
  const BaseTypes bases_;
  WaitSubsystem subsystem_;
  std::map<Address, Type> types_;
  std::unordered_map<Address, Outer> outers_; // by what is inside
  std::unordered_set<Address> added_;
};

} // namespace dnheap
