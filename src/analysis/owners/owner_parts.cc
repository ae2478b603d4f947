#include "analysis/owners/owner_parts.h"

#include "analysis/names/brief_type_name.h"
#include "analysis/objects/inside_of.h"
#include "analysis/owners/first_owners.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace dnheap {

namespace {

class PartFinder {
public:
  explicit PartFinder(Holding &holding)
      : holding_(holding), snapshot_(holding.snapshot()), tree_(holding.tree()),
        insides_(snapshot_.runtime(), snapshot_.references().types()) {}

  std::vector<OwnerPart> run() {
    for (const Holding::OwnerLine &line : holding_.owner_lines())
      if (line.kind != OwnerPart::shared)
        add({line.source, line.kind, "", line.retained});
    if (tree_.shared().objects)
      add_shared();
    for (u32 i = 0; i < holding_.owner_count(); ++i)
      if (const RankedOwners::Owner owner = holding_.owner(OwnerId{i}); owner.rank == OwnerRank::services)
        split(owner, tree_.place(OwnerId{i}));
    std::vector<OwnerPart> out;
    for (auto &[key, part] : parts_)
      if (part.retained.objects)
        out.push_back(std::move(part));
    std::stable_sort(out.begin(), out.end(),
                     [](const OwnerPart &a, const OwnerPart &b) { return a.retained.bytes > b.retained.bytes; });
    return out;
  }

private:
  using Key = std::tuple<std::string, bool, std::string>; // source, whether shared, part
  static Key key_of(const OwnerPart &part) { return {part.source, part.kind == OwnerPart::shared, part.part}; }

  void add(const OwnerPart &part) {
    auto [at, is_new] = parts_.try_emplace(key_of(part), part);
    if (is_new)
      return;
    at->second.retained.bytes += part.retained.bytes;
    at->second.retained.objects += part.retained.objects;
  }

  void add_shared() {
    FirstOwners first(snapshot_);
    tree_.for_each_child(TreePlace{0}, [&](TreePlace place) {
      const std::optional<ObjectId> object = tree_.object(place);
      const RankedOwners::Owner *owner = object ? first.of(*object) : nullptr;
      if (object)
        add({owner ? owner->source : "(shared)", OwnerPart::shared, "", tree_.retained(place)});
    });
  }

  // Moves the bytes of each service from the container's own part to a part for its type. Services hang from the inner
  // objects of the container.
  void split(const RankedOwners::Owner &owner, TreePlace container) {
    const auto whole = parts_.find(key_of({owner.source, owner.kind, "", {}}));
    if (whole == parts_.end()) // it holds nothing
      return;
    std::vector<TreePlace> work{container};
    while (!work.empty()) {
      snapshot_.watch().check();
      const TreePlace parent = work.back();
      work.pop_back();
      tree_.for_each_child(parent, [&](TreePlace child) {
        if (is_of_container(parent, child)) {
          work.push_back(child);
          return;
        }
        const Retained held = tree_.retained(child);
        whole->second.retained.bytes -= held.bytes;
        whole->second.retained.objects -= held.objects;
        add({owner.source, owner.kind, brief_type_name(name(child)), held});
      });
    }
  }

  bool is_of_container(TreePlace parent, TreePlace child) {
    constexpr std::string_view of_container = "Microsoft.Extensions.DependencyInjection.",
                               collections = "System.Collections.";
    const std::string &of_child = name(child);
    const bool is_collection = of_child.starts_with(collections);
    if (of_child.starts_with(of_container) || (is_collection && of_child.find(of_container) != of_child.npos))
      return true;
    const std::optional<ObjectId> above = tree_.object(parent);
    return above && (insides_.is_inside(holding_.type(*above), holding_.type(*tree_.object(child))) ||
                     (is_collection && name(parent).starts_with(of_container)));
  }

  const std::string &name(TreePlace at) { return holding_.name(holding_.type(*tree_.object(at))); }

  Holding &holding_;
  const Snapshot &snapshot_;
  const DominatorTree &tree_;
  const Insides insides_;
  std::map<Key, OwnerPart> parts_;
};

} // namespace

std::vector<OwnerPart> owner_parts(Holding &holding) { return PartFinder(holding).run(); }

std::string full_name(std::string_view owner, std::string_view part) {
  std::string out(owner);
  if (!part.empty())
    out.append(" … ").append(part);
  return out;
}

} // namespace dnheap
