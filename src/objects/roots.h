// Roots: everything that keeps objects alive by itself, each with its kind and, where the runtime tells, its name:
// handles, the queue of objects whose finalizer is due, static fields and thread statics, and what lies on stacks and
// in registers. find_roots() reads the handle tables, visits all loaded types, and scans the stacks; a second for
// millions of handles, else some 10 ms. One thread at a time. The result is plain data.
#pragma once
#include "runtime/handle_data.h"
#include "runtime/runtime.h"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace dnheap {

// `stack`: told by the method that stands there, by its GC info.
enum class RootKind : u8 { handle, finalizer, static_field, thread_static, com, stack, stack_conservative };
inline constexpr u32 root_kind_count = 7;

struct Root {
  Address slot = 0; // where the reference lies; 0: in a register
  Address object = 0;
  RootKind kind = RootKind::handle;
  HandleType handle = HandleType::strong; // of handles
  bool interior = false;                  // what lies there is the address of a part of the object
  bool pinned = false;                    // the object cannot be moved
  u32 name = 0;                           // index into RootSet::names; 0: has none
  u32 thread = 0;                         // index into RootSet::threads, counted from 1; 0: belongs to none

  // Found by looking at any words, so it may be chance: such roots own only what no other root reaches.
  bool is_conservative() const { return kind == RootKind::stack_conservative; }
};

// "handle", "finalizer", "static", "thread_static", "com", "stack", "stack_conservative".
const char *name_of(RootKind kind);
inline bool is_on_stack(RootKind kind) { return kind == RootKind::stack || kind == RootKind::stack_conservative; }
// "handle:strong", "finalizer", "static", "thread_static", "com", "stack", "stack_conservative".
std::string kind_text(const Root &root);

struct RootThread {
  Address address = 0;           // of the runtime's Thread; 0: of a thread that the runtime does not know
  std::optional<u64> os_id;      // as the target's threads are numbered
  std::optional<u64> managed_id; // as Environment.CurrentManagedThreadId says
  std::string text() const;      // "thread 4711"
  bool operator==(const RootThread &) const = default;
};

// An edge that holds as long as the key lives, and no root.
struct DependentHandle {
  Address handle = 0, key = 0, value = 0;
};

// What an element of an array, or any other place, is called.
struct NamedSlot {
  Address slot = 0;
  u32 name = 0, thread = 0; // as in Root
};

// The name of a static field that is none of a type's: the runtime keeps objects of its own between static fields.
inline constexpr std::string_view unnamed_static = "<runtime>";

struct RootSet {
  std::vector<Root> roots; // by kind, kind of handle, slot
  std::vector<std::string> names = {""};
  std::vector<RootThread> threads;        // in the runtime's order, then those that it does not know
  std::vector<DependentHandle> dependent; // by handle; neither word is null
  // Objects whose references the graph has to leave out, since each of them is a root by itself: the arrays in which
  // static fields lie. By address.
  std::vector<Address> holders;
  // All static fields, those of collectible types too, which are no roots. By slot.
  std::vector<NamedSlot> slots;
  std::vector<std::string> problems;
  std::vector<std::string> notes; // how some were found; nothing is missing for that

  const std::string &name(const Root &root) const { return names[root.name]; }
  const RootThread *thread(const Root &root) const { return root.thread ? &threads[root.thread - 1] : nullptr; }
  // Null: no field.
  const NamedSlot *find_slot(Address slot) const;
  bool is_holder(Address object) const;
};

// The object that begins at that address, or reaches over it; 0: none.
using ObjectAt = std::function<Address(Address)>;

struct RootOptions {
  bool statics = true;
  bool stacks = true;
  // Objects that the GC never frees: what dependent handles keep for them is a root of the handle's. Null: none.
  std::function<bool(Address)> is_frozen = {};
  // Does an object begin there? A root that holds none is damage, or the object is: what it held looks dead, and is a
  // problem of the set. Null: nobody looks.
  std::function<bool(Address)> is_object = {};
};

RootSet find_roots(const Runtime &runtime, const ObjectAt &object_at, const RootOptions &options = {});

// Who owns what its roots reach: one owner per static field, per thread static, per kind of handle and type of its
// object, per thread and method that stands on its
// stack, per thread's conservative words, and one for the finalizer queue.
struct RootOwners {
  struct Owner {
    RootKind kind = RootKind::handle;
    bool conservative = false;
    std::string name;   // "static Shop.Cache._items", "thread 4711 Shop.Worker.Run()", "handle:pinned System.Byte[]"
    u32 thread = 0;     // as in Root
    std::string source; // the same without the thread, whose number is another one in the next run
  };
  std::vector<Owner> owners; // those that are conservative come last
  std::vector<u32> owner_of; // by index of the root
};
// `type_of`: a number for the type of an object; `type_name`: its name.
RootOwners group_roots(const RootSet &roots, const std::function<u64(Address)> &type_of,
                       const std::function<std::string(u64)> &type_name);

} // namespace dnheap
