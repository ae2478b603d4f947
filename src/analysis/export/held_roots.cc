#include "analysis/export/held_roots.h"

#include "objects/frozen_objects.h"
#include "objects/live.h"

#include <algorithm>
#include <array>

namespace dnheap {

namespace {

constexpr std::array<const char *, root_kind_count> kind_names = {"GC handles",
                                                                  "objects to finalize",
                                                                  "static fields",
                                                                  "thread statics",
                                                                  "COM objects",
                                                                  "methods on stacks",
                                                                  "words on stacks (conservative, may be false)"};

} // namespace

HeldRoots::HeldRoots(const Snapshot &snapshot) {
  const ObjectIndex &index = snapshot.index();
  const RootSet &set = snapshot.roots();
  if (set.roots.empty()) {
    problem_ = "live objects are unknown without roots";
    return;
  }
  LiveMarking marking(index, snapshot.references(), snapshot.threads(), snapshot.watch());
  std::vector<bool> is_weak(set.roots.size());
  bool marks_chance = false;
  for (const RootStage &stage : root_stages(set)) {
    if (stage.is_conservative && !marks_chance) {
      marks_chance = true;
      for (u64 i = 0; i < set.roots.size(); ++i)
        is_weak[i] = set.roots[i].is_conservative() && marking.found(set.roots[i].object);
    }
    Timer timer(snapshot.watch(), "mark");
    marking.mark(stage);
  }
  live_ = marking.take();

  const RootOwners &owners = snapshot.owners();
  std::vector<Owner> all(owners.owners.size());
  for (u64 i = 0; i < all.size(); ++i) {
    all[i].name = owners.owners[i].name;
    all[i].kind = owners.owners[i].kind;
  }
  for (u64 i = 0; i < set.roots.size(); ++i)
    if (const ObjectId object = index.find(set.roots[i].object); object != no_object)
      all[owners.owner_of[i]].objects.push_back({object, is_weak[i]});
  for (u32 kind = 0; kind < root_kind_count; ++kind) {
    Kind out{kind_names[kind], {}};
    for (Owner &owner : all) {
      if (owner.kind != static_cast<RootKind>(kind) || owner.objects.empty())
        continue;
      std::sort(owner.objects.begin(), owner.objects.end(),
                [](const Held &a, const Held &b) { return a.object < b.object; });
      owner.objects.erase(std::unique(owner.objects.begin(), owner.objects.end(),
                                      [](const Held &a, const Held &b) { return a.object == b.object; }),
                          owner.objects.end());
      ++owner_count_;
      root_count_ += owner.objects.size();
      out.owners.push_back(std::move(owner));
    }
    if (!out.owners.empty())
      kinds_.push_back(std::move(out));
  }
}

} // namespace dnheap
