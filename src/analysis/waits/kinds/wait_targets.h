// WaitTargets: leads from inner objects, for which threads wait, to the object that the program called: from a
// WaitableObject to its handle, its lock, its semaphore, or the object whose Monitor the lock is. It knows only the
// objects that were added: all objects of such types, or those that a thread's frames hold. It follows fields, so every
// result is certain. A few reads and some 100 bytes per object. Not for several threads at once.
#pragma once
#include "analysis/shapes/base_types.h"
#include "analysis/waits/kinds/wait_subsystem.h"

#include <unordered_map>
#include <unordered_set>

namespace dnheap {

class WaitTargets {
public:
  WaitTargets(const Runtime &runtime, std::span<const ThreadData> threads)
      : runtime_(runtime), fields_(runtime), bases_(runtime), subsystem_(runtime, threads) {}

  WaitSubsystem &subsystem() { return subsystem_; }

  // True if objects of this type have inner objects for which threads wait.
  bool is_of_kind(Address method_table);
  bool is_handle(Address method_table) { return type(method_table).kind == Kind::handle; }
  bool is_condition(Address object) { return type(fields_.type_of(object)).kind == Kind::condition; }
  // Adds an object, so that its inner objects lead to it. Passes over objects of other types.
  void add(Address object);
  // Adds a Lock that serves as an object's Monitor.
  void add_monitor(Address lock, Address object) { add_inner(lock, object, false); }

  struct Target {
    Address object = 0;        // the outermost; a WaitableObject leads to itself if nothing else is known
    bool is_for_pulse = false; // the thread has released the lock, and waits for a signal
    std::vector<Address> way;  // the objects that led there, innermost first, `object` last
  };
  Target find(Address inner) const;
  // True if the target is of the kind that waits_for() names, so that no object further out is meant.
  bool is_what_words_say(const Target &target, std::string_view words) const;

private:
  enum class Kind : u8 { none, handle, condition, other };
  struct Type {
    Kind kind = Kind::none;
    std::vector<std::string> fields; // that refer to inner objects
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
  std::unordered_map<Address, Outer> outers_; // by inner object
  std::unordered_set<Address> added_;
};

} // namespace dnheap
