// label_steps: gives each object on a path that a search found the label of the reference that leads to it, which is
// the first one to it in the object before it. All threads go over the heap, in the order of addresses. Costs a look at
// each reference of the objects from which a path leads on; 4 bytes per object on a path. What each reference of a type
// is called is asked once per type, before, so that no name is made here.
#pragma once
#include "algorithms/paths/path_objects.h"
#include "objects/object_graph.h"

#include <functional>

namespace dnheap {

// The labels of a type's references. Labels are never 0.
struct SlotLabels {
  std::vector<u32> slots; // in the order of GCDesc::for_each_slot
  u32 period = 0;         // of an array: the last so many repeat from there on; 0: there are no more slots
  u32 to_own_type = 0;    // of references to objects of the same type; 0: as the others
  bool by_object = true;  // the labels depend on the object, or are unknown: it is asked for

  u32 of(u64 slot) const {
    return slot < slots.size() ? slots[slot] : slots[slots.size() - period + (slot - slots.size()) % period];
  }
  // Returns the label if all slots have the same.
  std::optional<u32> only() const;
};

struct StepLabels {
  std::vector<SlotLabels> by_type; // by TypeId; one more, for objects of unknown types
  u32 loader_allocator = 0, dependent = 0;
  ObjectBits apart; // objects whose references have names of their own
  // Calls visit(label, target) for each reference of such an object, in order. From one thread at a time.
  std::function<void(ObjectId object, const std::function<void(u32 label, ObjectId target)> &visit)> of_object;
};

// Throws Interrupted.
LargeArray<u32> label_steps(const ObjectIndex &index, const References &references, const ObjectGraph &graph,
                            const ShortestPaths &search, const PathObjects &on_paths, const StepLabels &labels,
                            unsigned threads, const Watch &watch);

} // namespace dnheap
