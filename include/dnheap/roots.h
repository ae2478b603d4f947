// Roots: everything that keeps objects alive by itself, each with its kind and, where the runtime tells, its name:
// handles, the queue of objects whose finalizer is due, static fields, thread statics, stacks. And Liveness: what they
// reach. Values of one word, good as long as their Snapshot; use them from its thread. Roots cost a walk, and a second
// for millions of handles; Liveness reads every live object once, in parallel, and keeps a bit per place of the heap.
#pragma once
#include "dnheap/type.h"

namespace dnheap::DNHEAP_ABI {

enum class RootKind : std::uint8_t { handle, finalizer, static_field, thread_static, com, stack, stack_conservative };

struct Root {
  Address slot = {};   // where the reference lies; null: in a register
  Address object = {}; // what it leads to
  RootKind kind = RootKind::handle;
  std::string kind_text = {}; // "handle:strong", "finalizer", "static", "thread_static", "com", "stack_conservative"
  std::string name = {};      // "Shop.Cache._items"; empty: has none
  std::string thread = {};    // "thread 4711"; empty: belongs to none
  bool conservative = false;  // found by looking at any words, so it may be chance
  bool interior = false;      // what lies in the slot is the address of a part of the object
  bool pinned = false;        // the object cannot be moved
};

class Roots {
public:
  std::uint64_t count() const;
  Root operator[](std::uint64_t number) const; // by kind, then by slot; number below count()
  // What could not be read: what that holds counts as garbage.
  std::vector<std::string> problems() const;

private:
  friend class State;
  explicit Roots(State *state) : state_(state) {}
  State *state_;
};

// What one kind of root keeps alive that none of the kinds before it does.
struct LiveStage {
  std::string name = {}; // "static", "handle:strong", …
  std::uint64_t objects = 0, bytes = 0, aligned_bytes = 0;
  bool conservative = false;
};

class Liveness {
public:
  // Frozen objects, which the GC never frees, are not live by that alone. O(1).
  bool is_live(Address object) const;
  std::vector<LiveStage> stages() const; // in order
  // References of live objects that lead to no object: what they should lead to is taken for dead.
  std::uint64_t bad_references() const;

private:
  friend class State;
  explicit Liveness(State *state) : state_(state) {}
  State *state_;
};

} // namespace dnheap::DNHEAP_ABI
