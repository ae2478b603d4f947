// Roots: the places that count as alive from the start, and so keep alive the objects to which they refer: handles, the
// finalizer queue, static fields, thread statics, stacks. Each root has its kind and, if the runtime knows it, its
// name. Liveness: the objects that roots reach. Values of one word, valid as long as their Snapshot; use them from its
// thread. Roots cost a walk, and a second for millions of handles; Liveness reads every live object once, in parallel,
// and keeps a bit per place of the heap.
#pragma once
#include "dnheap/note.h"
#include "dnheap/type.h"

namespace dnheap::DNHEAP_ABI {

enum class RootKind : std::uint8_t { handle, finalizer, static_field, thread_static, com, stack, stack_conservative };

struct Root {
  Address slot = {};   // where the reference lies; null: in a register
  Address object = {}; // the object it leads to
  RootKind kind = RootKind::handle;
  // "handle:strong", "finalizer", "static", "thread_static", "com", "stack", "stack_conservative".
  std::string kind_text = {};
  std::string name = {};     // "Shop.Cache._items"; empty: none
  std::string thread = {};   // "thread 4711"; empty: no thread
  bool conservative = false; // found by a conservative scan: the word may be no reference
  bool interior = false;     // leads into the object, not to its beginning
  bool pinned = false;       // the object cannot be moved
};

class Roots {
public:
  std::uint64_t count() const;
  Root operator[](std::uint64_t number) const; // by kind, then by slot; number below count()
  // Returns notes about roots that could not be read: objects that only such roots hold count as garbage.
  std::vector<Note> problems() const;

private:
  friend class State;
  explicit Roots(State *state) : state_(state) {}
  State *state_;
};

// The objects that one kind of root keeps alive and no earlier kind keeps alive.
struct LiveStage {
  std::string name = {}; // "static", "handle:strong", …
  std::uint64_t objects = 0, bytes = 0, aligned_bytes = 0;
  bool conservative = false;
};

class Liveness {
public:
  // A frozen object, which the GC never frees, is live only if a root reaches it. O(1).
  bool is_live(Address object) const;
  std::vector<LiveStage> stages() const; // in order
  // Counts references of live objects that lead to no object: their real targets look dead.
  std::uint64_t bad_references() const;

private:
  friend class State;
  explicit Liveness(State *state) : state_(state) {}
  State *state_;
};

} // namespace dnheap::DNHEAP_ABI
