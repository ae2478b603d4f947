#include "objects/graph_check.h"

#include "algorithms/reach.h"
#include "base/parallel.h"

namespace dnheap {

namespace {

class Checks {
public:
  Checks(const GraphParts &parts, unsigned threads, const Watch &watch)
      : p_(parts), threads_(std::max(threads, 1u)), watch_(watch) {}

  std::vector<Invariant> run() {
    Timer timer(watch_, "invariants");
    each_object("numbers and addresses of objects lead to each other", [&](ObjectId id, Address address) {
      return p_.index.find(address) == id && p_.index.address(id) == address;
    });
    bool is_sound = compare("there are as many objects as numbers", p_.edges.objects(), p_.index.count()) &&
                    each_object("edges of objects follow one another and lead to objects",
                                [&](ObjectId id, Address) { return has_sound_edges(id); }) &&
                    compare("there are as many edges as references that lead to objects", p_.edges.targets.size(),
                            p_.expected_edges);
    if (!is_sound || !each_object("the dominator tree holds exactly the objects that marking finds alive",
                                  [&](ObjectId id, Address address) {
                                    return p_.tree.place(id).has_value() == p_.live.test(address);
                                  }))
      return std::move(out_);
    if (each_place() && check_dominators())
      check_sums();
    return std::move(out_);
  }

private:
  struct Count {
    u64 checked = 0, violations = 0;
    Address first = 0;
    void operator()(bool holds, Address address) {
      ++checked;
      if (holds)
        return;
      if (violations++ == 0 || address < first)
        first = address;
    }
  };

  bool add(const char *name, std::span<const Count> counts) {
    Invariant &all = out_.emplace_back(Invariant{name});
    for (const Count &count : counts) {
      if (count.violations && (all.violations == 0 || count.first < all.first))
        all.first = count.first;
      all.checked += count.checked;
      all.violations += count.violations;
    }
    return all.violations == 0;
  }
  bool compare(const char *name, u64 a, u64 b) {
    out_.push_back({name, std::max(a, b), std::max(a, b) - std::min(a, b)});
    return a == b;
  }
  template <class Holds> bool each_object(const char *name, Holds holds) {
    std::vector<Count> counts(threads_);
    parallel_for(p_.index.places().blocks(), threads_, [&](u64 block, unsigned worker) {
      watch_.check();
      Count count = counts[worker];
      p_.index.for_each(block, [&](ObjectId id, Address address) { count(holds(id, address), address); });
      counts[worker] = count;
    });
    return add(name, counts);
  }

  bool has_sound_edges(ObjectId id) const {
    const u64 i = static_cast<u32>(id), begin = p_.edges.begin(i), end = p_.edges.begin(i + 1);
    if (begin > end || end > p_.edges.targets.size() || (i == 0 && begin != 0) ||
        (i + 1 == p_.edges.objects() && end != p_.edges.targets.size()))
      return false;
    return std::all_of(p_.edges.targets.begin() + static_cast<std::ptrdiff_t>(begin),
                       p_.edges.targets.begin() + static_cast<std::ptrdiff_t>(end),
                       [&](ObjectId target) { return static_cast<u32>(target) < p_.edges.objects(); });
  }

  Address address_at(TreePlace at) const {
    std::optional<ObjectId> object = p_.tree.object(at);
    return object ? p_.index.address(*object) : 0;
  }
  bool is_above(TreePlace up, TreePlace at) const { return up <= at && at < p_.tree.end(up); }

  bool each_place() {
    Count count;
    for (u32 i = 1; i < p_.tree.size(); ++i) {
      if (i % (1 << 20) == 0)
        watch_.check();
      const TreePlace at{i}, up = p_.tree.parent(at);
      std::optional<ObjectId> object = p_.tree.object(at);
      std::optional<TreePlace> back = object ? p_.tree.place(*object) : p_.tree.place(*p_.tree.owner(at));
      count(up < at && back == at && p_.tree.end(at) <= p_.tree.end(up), address_at(at));
    }
    add("each place in the dominator tree lies within its dominator's place", {&count, 1});
    return out_.back().violations == 0;
  }

  // Every referrer of an object must lie below the object's dominator; otherwise a path would lead past the dominator.
  // Conservative referrers do not count for objects that precise owners reach.
  bool check_dominators() {
    std::vector<ObjectId> roots;
    for (const OwnedRoot &root : p_.owners.roots)
      if (static_cast<u32>(root.owner) < p_.owners.precise)
        roots.push_back(root.object);
    Reach precise(p_.edges, threads_, watch_);
    precise.from(roots);
    const ObjectBits &met = precise.met();
    bool holds = each_object("no edge leads past its target's dominator", [&](ObjectId id, Address) {
      std::optional<TreePlace> from = p_.tree.place(id);
      if (!from)
        return true;
      bool is_precise = met.test(id);
      for (ObjectId target : p_.edges.of(id)) {
        if (!is_precise && met.test(target))
          continue;
        std::optional<TreePlace> at = p_.tree.place(target);
        if (!at || !(*at == *from || is_above(p_.tree.parent(*at), *from)))
          return false;
      }
      return true;
    });
    Count count;
    for (const OwnedRoot &root : p_.owners.roots) {
      if (static_cast<u32>(root.owner) >= p_.owners.count || static_cast<u32>(root.object) >= p_.edges.objects())
        continue;
      bool competes = static_cast<u32>(root.owner) < p_.owners.precise || !met.test(root.object);
      std::optional<TreePlace> at = p_.tree.place(root.object);
      count(!competes || (at && is_above(p_.tree.parent(*at), p_.tree.place(root.owner))),
            p_.index.address(root.object));
    }
    return add("no root leads past its object's dominator", {&count, 1}) && holds;
  }

  void check_sums() {
    u64 bytes = 0;
    for (u32 i = 0; i < p_.edges.objects(); ++i)
      bytes += p_.sizes.of(ObjectId{i});
    Retained owned = p_.tree.shared(), reached = p_.tree.reached(), unreachable = p_.tree.unreachable();
    for (u32 i = 0; i < p_.owners.count; ++i) {
      Retained retained = p_.tree.retained(p_.tree.place(OwnerId{i}));
      owned.objects += retained.objects;
      owned.bytes += retained.bytes;
    }
    compare("bytes retained by owners + shared = bytes alive", owned.bytes, reached.bytes);
    compare("objects retained by owners + shared = objects alive", owned.objects, reached.objects);
    compare("bytes alive + unreachable = bytes of all objects", reached.bytes + unreachable.bytes, bytes);
    compare("objects alive + unreachable = all objects", reached.objects + unreachable.objects, p_.edges.objects());
  }

  const GraphParts &p_;
  const unsigned threads_;
  const Watch watch_;
  std::vector<Invariant> out_;
};

} // namespace

std::vector<Invariant> check_graph(const GraphParts &parts, unsigned threads, const Watch &watch) {
  return Checks(parts, threads, watch).run();
}

} // namespace dnheap
