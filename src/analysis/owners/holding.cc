#include "analysis/owners/holding.h"

#include "analysis/names/named_types.h"
#include "analysis/objects/object_view.h"
#include "objects/frozen_objects.h"
#include "objects/object_index.h"
#include "objects/references.h"
#include "objects/roots.h"

#include <algorithm>

namespace dnheap {

Holding::Holding(const Snapshot &snapshot, const Question &question)
    : snapshot_(snapshot), graph_(snapshot.graph()), types_(snapshot.references().types()),
      filter_(snapshot, question) {
  if (!question.plain)
    ranked_ = ranked_tree(snapshot, names_called(snapshot, question.hubs));
  const Retained reached = tree().reached(), lost = tree().unreachable();
  all_ = {reached.objects + lost.objects, reached.bytes + lost.bytes};
  owner_places_.emplace(tree(), owner_count());
}

u32 Holding::owner_count() const {
  return ranked_ ? ranked_->owners.size() : static_cast<u32>(snapshot_.owners().owners.size());
}

RankedOwners::Owner Holding::owner(OwnerId id) const {
  if (ranked_)
    return ranked_->owners[id];
  const RootOwners::Owner &owner = snapshot_.owners().owners[static_cast<u32>(id)];
  return {owner.conservative ? OwnerRank::chance : OwnerRank::own, owner.name, owner.source, name_of(owner.kind)};
}

Owners Holding::owners() const { return ranked_ ? ranked_->owners.view() : snapshot_.owned_roots(); }

Retained Holding::frozen() const {
  ObjectView view(snapshot_);
  const FrozenObjects alone = frozen_alone(
      snapshot_.heap(), snapshot_.index(), [&](ObjectId object) { return tree().place(object).has_value(); },
      [&](ObjectId object) { return view.aligned_size(object); });
  return {alone.objects, alone.bytes};
}

std::vector<Holding::OwnerLine> Holding::owner_lines() {
  std::vector<OwnerLine> lines;
  for (u32 i = 0; i < owner_count(); ++i)
    if (const Retained retained = tree().retained(tree().place(OwnerId{i})); retained.objects) {
      const RankedOwners::Owner of = owner(OwnerId{i});
      lines.push_back({retained, of.kind, of.name, of.source, of.rank == OwnerRank::chance,
                       is_plain() ? nullptr : name_of(of.rank)});
    }
  auto add = [&](Retained retained, const std::string &kind) {
    if (retained.objects)
      lines.push_back({retained, kind, "(" + kind + ")", "(" + kind + ")"});
  };
  const Retained frozen = this->frozen(), lost = tree().unreachable();
  add(tree().shared(), "shared");
  add({lost.objects - frozen.objects, lost.bytes - frozen.bytes}, "unreachable");
  add(frozen, "frozen");
  std::sort(lines.begin(), lines.end(), [](const OwnerLine &a, const OwnerLine &b) {
    return a.retained.bytes != b.retained.bytes ? a.retained.bytes > b.retained.bytes : a.name < b.name;
  });
  return lines;
}

Address Holding::address(ObjectId object) const { return snapshot_.index().address(object); }

std::string Holding::owner_above(TreePlace at) const {
  const std::optional<OwnerId> above = owner_places_->above(at);
  return above ? owner(*above).name : "(shared)";
}

} // namespace dnheap
