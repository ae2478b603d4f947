// Roots: the places that count as alive from the start, and so keep alive the objects to which they refer: handles, the
// finalizer queue, static fields and thread statics, stacks and registers. Each root has its kind and, if the runtime
// knows it, its name. find_roots() reads the handle tables, visits all loaded types, and scans the stacks; it takes a
// second for millions of handles, else some 10 ms. Not for several threads at once. The result is plain data.
#pragma once
#include "base/notes.h"
#include "runtime/facts/handle_data.h"
#include "runtime/runtime.h"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace dnheap {

// `stack` roots are known precisely from the GC info of the method on the stack.
enum class RootKind : u8 { handle, finalizer, static_field, thread_static, com, stack, stack_conservative };
inline constexpr u32 root_kind_count = 7;

struct Root {
  Address slot = 0; // where the reference lies; 0: in a register
  Address object = 0;
  RootKind kind = RootKind::handle;
  HandleType handle = HandleType::strong; // of handles
  bool interior = false;                  // the reference leads into the object, not to its beginning
  bool pinned = false;                    // the object cannot be moved
  u32 name = 0;                           // index into RootSet::names; 0: none
  u32 thread = 0;                         // 1 + index into RootSet::threads; 0: none

  // True if any word may be a root of this kind by chance. Conservative roots own only objects that no other root
  // reaches.
  bool is_conservative() const { return kind == RootKind::stack_conservative; }
};

// "handle", "finalizer", "static", "thread_static", "com", "stack", "stack_conservative".
const char *name_of(RootKind kind);
inline bool is_on_stack(RootKind kind) { return kind == RootKind::stack || kind == RootKind::stack_conservative; }
// "handle:strong", "finalizer", "static", "thread_static", "com", "stack", "stack_conservative".
std::string kind_text(const Root &root);

struct RootThread {
  Address address = 0;           // of the runtime's Thread; 0: the runtime does not know the thread
  std::optional<u64> os_id;      // its number in the target
  std::optional<u64> managed_id; // as Environment.CurrentManagedThreadId says
  std::string text() const;      // "thread 4711"
  bool operator==(const RootThread &) const = default;
};

// An edge that holds as long as the key lives; it is not a root.
struct DependentHandle {
  Address handle = 0, key = 0, value = 0;
};

// The name of an array element or any other place.
struct NamedSlot {
  Address slot = 0;
  u32 name = 0, thread = 0; // as in Root
};

// The name of a root that lies between static fields but is not the field of a type: the runtime keeps objects of its
// own there.
inline constexpr std::string_view unnamed_static = "<runtime>";

struct RootSet {
  std::vector<Root> roots; // by kind, handle kind, slot
  std::vector<std::string> names = {""};
  std::vector<RootThread> threads;        // the runtime's in its order, then threads unknown to it
  std::vector<DependentHandle> dependent; // by handle; key and value are not null
  // Objects whose references the graph leaves out, since each of these references is a root of its own: the arrays that
  // contain static fields. By address.
  std::vector<Address> holders;
  // All static fields by slot, including those of collectible types, which are no roots.
  std::vector<NamedSlot> slots;
  Notes notes; // about roots that could not be read; a note without an effect shows how some roots were found

  const std::string &name(const Root &root) const { return names[root.name]; }
  const RootThread *thread(const Root &root) const { return root.thread ? &threads[root.thread - 1] : nullptr; }
  // Null if the slot is not a field.
  const NamedSlot *find_slot(Address slot) const;
  bool is_holder(Address object) const;
};

// Returns the object that begins at the address or covers it; 0: none.
using ObjectAt = std::function<Address(Address)>;

struct RootOptions {
  bool statics = true;
  bool stacks = true;
  // True for objects that the GC never frees: if a frozen object is a dependent handle's key, the value is a root.
  // Null: no object is frozen.
  std::function<bool(Address)> is_frozen = {};
  // True if an object begins there. A root that leads to no object means that the root or the object is damaged; what
  // it held looks dead, so it is reported in RootSet::notes. Null: not checked.
  std::function<bool(Address)> is_object = {};
};

RootSet find_roots(const Runtime &runtime, const ObjectAt &object_at, const RootOptions &options = {});

// The owners of roots: one owner per static field, per thread static, per kind of handle and type of its object, per
// thread and method on its stack, per thread's conservative words, and one for the finalizer queue.
struct RootOwners {
  struct Owner {
    RootKind kind = RootKind::handle;
    bool conservative = false;
    std::string name;   // "static Shop.Cache._items", "thread 4711 Shop.Worker.Run()", "handle:pinned System.Byte[]"
    u32 thread = 0;     // as in Root
    std::string source; // the same without the thread, whose number changes from run to run
  };
  std::vector<Owner> owners; // conservative ones last
  std::vector<u32> owner_of; // by root index
};
// `type_of`: a number for an object's type; `type_name`: that type's name.
RootOwners group_roots(const RootSet &roots, const std::function<u64(Address)> &type_of,
                       const std::function<std::string(u64)> &type_name);

} // namespace dnheap
