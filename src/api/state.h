// State: the object behind a public Snapshot and everything it returns: the internal Snapshot, and further results that
// public functions keep. For the files of this folder, which only convert internal values into public ones. Not for
// several threads at once.
#pragma once
#include "algorithms/reach.h"
#include "analysis/objects/field_values.h"
#include "analysis/objects/object_view.h"
#include "analysis/verb.h"
#include "base/not_found.h"
#include "dnheap/snapshot.h"
#include "objects/object_graph.h"
#include "snapshot/snapshot.h"

namespace dnheap::v0 {

class State {
public:
  explicit State(std::unique_ptr<dnheap::Snapshot> of);
  ~State();
  State(const State &) = delete;

  dnheap::Snapshot &inside() { return *of_; }
  // The same as dnheap::ask(), which discards results when part of the dump was lost.
  report::Answer ask(const dnheap::Verb &verb, const dnheap::Question &question);
  // Returns a number that changes whenever results were discarded.
  dnheap::u64 losses() const { return losses_; }
  // Throws Error if part of the dump was lost since it was opened, as earlier results may be wrong then.
  void check_memory();

  // Returns the types that have objects, without Free: by TypeId, ascending. The first call walks the heap.
  const std::vector<dnheap::Address> &types();
  std::optional<TypeId> type_id(dnheap::Address method_table);
  // The first call of each builds the object that it is named after.
  dnheap::ObjectView &view();
  dnheap::FieldValues &values();
  std::span<const dnheap::u64> first_references(); // in the form of GraphEdges::first
  const dnheap::Referrers &referrers();
  const dnheap::RetainedBySets &retained_by_sets();

  static State &of(const Snapshot &snapshot) { return *snapshot.state_; }
  // Make the public objects.
  static Snapshot snapshot(std::unique_ptr<dnheap::Snapshot> of);
  static dnheap::SnapshotOptions inner(const OpenOptions &options);
  static dnheap::Watch watch(Progress *progress);
  Type type(dnheap::Address method_table) { return Type(this, Address(method_table)); }
  Object object(ObjectId id) { return Object(this, id, Address(inside().index().address(id))); }
  Heap heap() { return Heap(this); }
  Roots roots() { return Roots(this); }
  Liveness liveness() { return Liveness(this); }
  Graph graph() { return Graph(this); }

private:
  // Data that depend on the Snapshot's results.
  struct Kept {
    std::optional<std::vector<dnheap::Address>> types;
    std::unique_ptr<dnheap::ObjectView> view;
    std::unique_ptr<dnheap::FieldValues> values;
    dnheap::LargeArray<dnheap::u64> first_references;
    std::unique_ptr<dnheap::Referrers> referrers;
    std::unique_ptr<dnheap::RetainedBySets> retained_by_sets;
  };
  std::unique_ptr<dnheap::Snapshot> of_;
  Kept kept_;
  dnheap::u64 losses_ = 0;
};

} // namespace dnheap::v0
