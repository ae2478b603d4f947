// ExploredTree: the dominator tree as a browser shows it: one place, its dominators, what it retains, a map some levels
// deep. Costs the tree (Holding), and a list of the largest million children for the most recent places that have many.
// A page of children of a place with n of them costs a look at each, once. Not for several threads at once.
#pragma once
#include "analysis/objects/object_view.h"
#include "analysis/owners/holding.h"

#include <list>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace dnheap::explore {

using nlohmann::ordered_json;

class ExploredTree {
public:
  explicit ExploredTree(const Snapshot &snapshot);

  // Parses the names in the addresses of pages: "root", "owner:17", "0x7f…". Throw UsageError if the text is none of
  // them, NotFound if nothing is there or nothing holds the object.
  TreePlace place_of(const std::string &name);
  ordered_json node(TreePlace at);
  // Takes any object; one that nothing holds has no retained size.
  ordered_json node(ObjectId object);

  // Returns `levels` levels below the place, largest first. Children smaller than `least`, and those beyond the 200
  // largest, are merged into one entry that lists their main types.
  ordered_json map(TreePlace at, u64 levels, u64 least);
  ordered_json children(TreePlace at, u64 from, u64 count);
  // Returns the places from the root down to this one.
  ordered_json above(TreePlace at);

  ObjectView &view() { return view_; }
  const DominatorTree &tree() const { return holding_.tree(); }

private:
  struct Child {
    u64 bytes;
    TreePlace place;
    // Sorts largest first; equal sizes by place.
    friend bool operator<(const Child &a, const Child &b) {
      return a.bytes != b.bytes ? a.bytes > b.bytes : a.place < b.place;
    }
  };
  struct Children {
    TreePlace of;
    u64 total = 0;
    std::vector<TreePlace> largest; // in order
  };
  const Children &children_of(TreePlace at);
  // Sums over merged children, in all and by type.
  struct Rest {
    u64 count = 0, objects = 0, bytes = 0;
    void add(const Rest &more) { count += more.count, objects += more.objects, bytes += more.bytes; }
  };
  ordered_json kinds_json(u64 whole);
  void add_parts(ordered_json &to, TreePlace at, u64 levels, u64 least, u64 &room);

  const Snapshot &snapshot_;
  Holding holding_;
  ObjectView view_;
  std::vector<Rest> by_type_; // scratch: sums for the types in seen_types_
  std::vector<TypeId> seen_types_;
  std::list<Children> recent_; // most recent first
};

} // namespace dnheap::explore
