// ExploredTree: the dominator tree as a browser looks at it: one place, what stands above it, what it holds, a map some
// levels deep. Costs the tree (Holding), and for places with many children a list of the largest million of them, of
// the places asked for last. A page of children of a place with n of them costs a look at each, once. One thread.
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
  explicit ExploredTree(Snapshot &snapshot);

  // The names that addresses of pages have: "root", "owner:17", "0x7f…". Throw UsageError where the text is none of
  // them, NotFound where nothing is there or nothing holds the object.
  TreePlace place_of(const std::string &name);
  ordered_json node(TreePlace at);
  // Of any object; what nothing holds has no retained size.
  ordered_json node(ObjectId object);

  // `levels` below the place, largest first; children smaller than `least`, and those beyond the 200 largest, as one,
  // with the types that most of it is made of.
  ordered_json map(TreePlace at, u64 levels, u64 least);
  ordered_json children(TreePlace at, u64 from, u64 count);
  // From the root down to the place.
  ordered_json above(TreePlace at);

  ObjectView &view() { return view_; }
  const DominatorTree &tree() const { return holding_.tree(); }

private:
  struct Child {
    u64 bytes;
    TreePlace place;
    // The largest first; of alike ones the first.
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
  // What is merged: sums, and by type.
  struct Rest {
    u64 count = 0, objects = 0, bytes = 0;
    void add(const Rest &more) { count += more.count, objects += more.objects, bytes += more.bytes; }
  };
  ordered_json kinds_json(u64 whole);
  void add_parts(ordered_json &to, TreePlace at, u64 levels, u64 least, u64 &room);

  Snapshot &snapshot_;
  Holding holding_;
  ObjectView view_;
  std::vector<Rest> by_type_; // scratch: of the types in seen_types_
  std::vector<TypeId> seen_types_;
  std::list<Children> recent_; // the last one asked for first
};

} // namespace dnheap::explore
