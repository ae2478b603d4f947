// A dump is cut off at any moment while one result is worked out for another one: what is kept in the end is of one
// piece.
#include "algorithms/dominator_tree.h"
#include "dump/open.h"
#include "objects/live.h"
#include "objects/object_graph.h"
#include "snapshot/snapshot.h"
#include "support/core_file.h"
#include "support/random_graph.h"
#include "support/run.h"

#include <filesystem>
#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

// Memory that is all there, and does something when it is asked for the n-th time.
class Countdown : public BytesOnDemand {
public:
  Countdown(u64 n, std::function<void()> act) : left_(n), act_(std::move(act)) {}
  u64 fetch(Bytes bytes) override {
    count();
    return bytes.size();
  }
  bool is_here(Bytes) const override { return true; }
  u64 copy(Bytes bytes, std::byte *out) override {
    count();
    std::memcpy(out, bytes.data(), bytes.size());
    return bytes.size();
  }
  u64 asked = 0;

private:
  void count() {
    ++asked;
    if (left_ && --left_ == 0)
      act_();
  }
  u64 left_;
  std::function<void()> act_;
};

struct Piece {
  const char *name;
  void (*build)(const Snapshot &snapshot);
};
const Piece pieces[] = {
    {"heap", [](const Snapshot &s) { s.heap(); }},
    {"tally", [](const Snapshot &s) { s.tally(); }},
    {"index", [](const Snapshot &s) { s.index(); }},
    {"roots", [](const Snapshot &s) { s.roots(); }},
    {"references", [](const Snapshot &s) { s.references(); }},
    {"live", [](const Snapshot &s) { s.live(); }},
    {"graph", [](const Snapshot &s) { s.graph(); }},
    {"owners", [](const Snapshot &s) { s.owners(); }},
    {"owned_roots", [](const Snapshot &s) { s.owned_roots(); }},
    {"dominators", [](const Snapshot &s) { s.dominators(); }},
};

// All that a Snapshot keeps, in numbers. What one piece says of another one's objects is among it.
std::vector<u64> all_of(const Snapshot &s) {
  std::vector<u64> out = {s.tally().walk.objects, s.tally().walk.bytes, s.heap().gaps().size()};
  const ObjectIndex &index = s.index();
  const ObjectGraph &graph = s.graph();
  const Edges edges = graph.edges();
  const DominatorTree &tree = s.dominators();
  const LiveObjects &live = s.live();
  out.insert(out.end(), {index.count(), graph.objects(), edges.targets.size(), tree.reached().bytes,
                         tree.unreachable().bytes, s.owned_roots().roots.size(), s.owned_roots().count});
  for (u32 i = 0; i < std::min<u64>(index.count(), graph.objects()); ++i) {
    std::optional<TreePlace> at = tree.place(ObjectId{i});
    out.insert(out.end(), {index.address(ObjectId{i}), at ? tree.retained(*at).bytes : 0, s.sizes().of(ObjectId{i}),
                           u64{live.objects.test(index.address(ObjectId{i}))}});
    for (ObjectId target : edges.of(ObjectId{i}))
      out.push_back(static_cast<u32>(target));
  }
  for (const Root &root : s.roots().roots)
    out.insert(out.end(), {root.slot, root.object});
  for (const RootOwners::Owner &owner : s.owners().owners)
    out.push_back(owner.name.size());
  for (const LiveStage &stage : live.stages)
    out.insert(out.end(), {stage.objects, stage.bytes});
  return out;
}

TEST(NestedLoss, WhatIsKeptIsOfOnePiece) {
  survive_mapping_faults();
  std::mt19937_64 random(5);
  RandomGraph graph({}, random, 0, 150);
  for (int i = 0; i < 12; ++i)
    graph.heap.gc.handles.push_back({.type = HandleType::strong, .object = graph.random_object()});
  graph.heap.threads[0].registers = {graph.random_object(), graph.random_object()};
  TemporaryFolder folder;
  const std::string core = core_file(graph.heap), path = folder.path("a.core"), cut = folder.path("cut.core");
  SnapshotOptions options;
  options.threads = 1;
  u64 compared = 0;
  for (u64 size : {core.size() - core.size() / 9, core.size() - core.size() / 25}) {
    folder.write("cut.core", core.substr(0, size));
    const std::vector<u64> expected = all_of(*Snapshot::open(cut, options));
    for (const Piece &piece : pieces) {
      auto asked_before = [&](u64 n, std::vector<u64> *all) {
        folder.write("a.core", core);
        auto harm = std::make_shared<Countdown>(n, [&] { std::filesystem::resize_file(path, size); });
        std::unique_ptr<Target> target = open_dump(path, {}, {});
        target->memory.fill_from(harm);
        Snapshot snapshot(std::move(target), options);
        on_sound_memory(snapshot, [&](const Snapshot &of) {
          piece.build(of);
          return true;
        });
        const u64 asked = harm->asked;
        if (all)
          *all = all_of(snapshot);
        return asked;
      };
      const u64 most = asked_before(0, nullptr);
      for (u64 n = 1; n <= most; n += std::max<u64>(most / 30, 1)) {
        SCOPED_TRACE(std::string(piece.name) + ", cut to " + std::to_string(size) + " when asked for the " +
                     std::to_string(n) + "th of " + std::to_string(most) + " times");
        std::vector<u64> all;
        asked_before(n, &all);
        ASSERT_EQ(all, expected);
        ++compared;
      }
    }
  }
  EXPECT_GT(compared, 300u);
}

} // namespace
} // namespace dnheap::test
