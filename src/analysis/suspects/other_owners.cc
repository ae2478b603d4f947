#include "analysis/suspects/other_owners.h"

#include "algorithms/paths/shortest_paths.h"
#include "analysis/owners/first_owners.h"
#include "analysis/owners/ranked_tree.h"
#include "base/most_frequent.h"
#include "objects/object_graph.h"
#include "objects/object_index.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>

namespace dnheap {

namespace {

constexpr u64 most_looked_at = 1024; // objects of a suspect: owners of so many do not differ from those of all
constexpr u64 most_other_names = 2, most_shared_suspects = 2;
constexpr u64 least_shared_part = 10; // one part in this many of the live bytes

std::string first_name(const Suspect &suspect) {
  return suspect.owner.substr(0, suspect.owner.size() - std::string_view(and_others).size());
}

// Returns the objects that nobody holds alone: the first one on the path or, without a path, the elements.
std::vector<ObjectId> shared_objects(const Snapshot &snapshot, const Suspect &suspect) {
  const ObjectId example = snapshot.index().find(suspect.steps.empty() ? suspect.first : suspect.steps[0].address);
  std::vector<ObjectId> out;
  if (example == no_object)
    return out;
  out.push_back(example);
  if (!suspect.steps.empty())
    return out;
  const ObjectGraph &graph = snapshot.graph();
  const std::shared_ptr<const RankedTree> ranked = ranked_tree(snapshot);
  ranked->tree.for_each_child(TreePlace{0}, [&](TreePlace place) {
    const std::optional<ObjectId> object = ranked->tree.object(place);
    if (object && out.size() < most_looked_at && graph.type(*object) == graph.type(example))
      out.push_back(*object);
  });
  return out;
}

class OtherOwnerSearch {
public:
  OtherOwnerSearch(const Snapshot &snapshot, const Suspect &suspect)
      : snapshot_(snapshot), objects_(shared_objects(snapshot, suspect)), known_({first_name(suspect)}),
        hubs_(RankedOwners::way_hubs(snapshot)), roots_(roots_by_rank(snapshot, OnStacks::left_out)) {}

  OtherOwners run() {
    OtherOwners out;
    while (!objects_.empty()) {
      const std::string name = next();
      if (name.empty())
        return out;
      if (out.names.size() == most_other_names) {
        out.has_more = true;
        return out;
      }
      out.names.push_back(name);
      known_.insert(name);
    }
    return out;
  }

private:
  // Returns the owner, not known so far, that reaches most of the objects; empty: none reaches half of them.
  std::string next() {
    ShortestPaths search(snapshot_.graph().edges(), snapshot_.threads(), snapshot_.watch());
    search.leave_out(hubs_.queues);
    for (u64 rank = 0; rank <= static_cast<u64>(OwnerRank::flows) && rank < roots_.size(); ++rank)
      search.grow(without_known(roots_[rank]));
    std::map<std::string, u64> counts;
    for (ObjectId object : objects_)
      if (search.met(object))
        ++counts[way_owner(snapshot_, *search.owner(search.path(object).front())).name];
    const auto most = most_frequent(counts);
    return most != counts.end() && most->second * 2 >= objects_.size() ? most->first : "";
  }

  std::vector<OwnedRoot> without_known(const std::vector<OwnedRoot> &roots) {
    std::vector<OwnedRoot> out;
    for (const OwnedRoot &root : roots) {
      const auto [at, is_new] = names_.try_emplace(static_cast<u32>(root.owner));
      if (is_new)
        at->second = way_owner(snapshot_, root.owner).name;
      if (!known_.contains(at->second))
        out.push_back(root);
    }
    return out;
  }

  const Snapshot &snapshot_;
  const std::vector<ObjectId> objects_;
  std::set<std::string> known_;
  const WayHubs hubs_;
  const std::vector<std::vector<OwnedRoot>> roots_;
  std::map<u32, std::string> names_; // by owner
};

} // namespace

std::string OtherOwners::text() const {
  std::string out;
  for (u64 i = 0; i < names.size(); ++i)
    out += (i == 0 ? "" : i + 1 < names.size() || has_more ? ", " : " and ") + names[i];
  return out + (has_more ? and_others : "");
}

OtherOwners find_other_owners(const Snapshot &snapshot, const Suspect &suspect) {
  return suspect.owner.ends_with(and_others) ? OtherOwnerSearch(snapshot, suspect).run() : OtherOwners();
}

std::vector<OtherOwners> find_other_owners(const Snapshot &snapshot, const std::vector<Suspect> &suspects, u64 live) {
  std::vector<OtherOwners> out(suspects.size());
  u64 shared = 0;
  for (u64 i = 0; i < suspects.size() && shared < most_shared_suspects; ++i)
    if (suspects[i].owner.ends_with(and_others) && suspects[i].retained >= live / least_shared_part) {
      ++shared;
      out[i] = find_other_owners(snapshot, suspects[i]);
    }
  return out;
}

} // namespace dnheap
