// State: what stands behind a public Snapshot, and behind all that it hands out: the Snapshot that the library itself
// works with, and what public functions keep besides. For the files of this folder, which turn inner things into public
// ones, and do nothing else. One thread at a time.
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
  // The same as dnheap::ask(), which throws away what was worked out when part of the dump was lost.
  report::Answer ask(const dnheap::Verb &verb, const dnheap::Question &question);
  // Changes whenever that was so.
  dnheap::u64 losses() const { return losses_; }
  // Throws Error when part of the dump was lost since it was opened: what was built before that may be wrong.
  void check_memory();

  // Types that have objects, but Free: by TypeId, ascending. The first call walks the heap.
  const std::vector<dnheap::Address> &types();
  std::optional<TypeId> type_id(dnheap::Address method_table);
  // The first calls build what they are named after.
  dnheap::ObjectView &view();
  dnheap::FieldValues &values();
  std::span<const dnheap::u64> first_references(); // as GraphEdges has them
  const dnheap::Referrers &referrers();
  const dnheap::RetainedBySets &retained_by_sets();

  static State &of(const Snapshot &snapshot) { return *snapshot.state_; }
  // What is handed out.
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
  // What rests on the Snapshot's results.
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
