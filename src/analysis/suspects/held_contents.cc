#include "analysis/suspects/held_contents.h"

#include "base/parallel.h"

#include <algorithm>

namespace dnheap {

namespace {

constexpr u64 batch = 1 << 20;          // children that are looked at in one step
constexpr u64 children_per_part = 1024; // for one thread
constexpr u64 fetched_ahead = 32;       // children

// The contents found so far, and the places whose children are still to be looked at.
struct Found {
  HeldContents contents;
  std::vector<TreePlace> inside, behind;

  void add(const Found &later) {
    for (const auto &[type, group] : later.contents.held)
      contents.held[type].add(group);
    inside.insert(inside.end(), later.inside.begin(), later.inside.end());
    behind.insert(behind.end(), later.behind.begin(), later.behind.end());
  }
};

class Search {
public:
  Search(const DominatorTree &tree, const ObjectGraph &graph, const Insides &insides, unsigned threads,
         const Watch &watch)
      : tree_(tree), graph_(graph), insides_(insides), threads_(threads), watch_(watch) {}

  HeldContents run(TreePlace at, std::span<const TreePlace> without) {
    look_below(at, without);
    for (u64 i = 0; !found_.inside.empty() || !found_.behind.empty(); ++i) {
      if (i % 0x10000 == 0)
        watch_.check();
      std::vector<TreePlace> &work = found_.behind.empty() ? found_.inside : found_.behind;
      const TreePlace next = work.back();
      work.pop_back();
      if (&work == &found_.behind)
        count_behind(next, type_at(next), found_);
      else
        look_below(next, {});
    }
    return std::move(found_.contents);
  }

private:
  // `at` must be an object.
  TypeId type_at(TreePlace at) const { return graph_.type(*tree_.object(at)); }

  void look_below(TreePlace parent, std::span<const TreePlace> without) {
    children_.clear();
    tree_.for_each_child(parent, [&](TreePlace child) {
      if (!without.empty() && std::binary_search(without.begin(), without.end(), child))
        return;
      children_.push_back(child);
      if (children_.size() == batch) {
        look_at_children(parent);
        children_.clear();
      }
    });
    look_at_children(parent);
    if (const std::optional<ObjectId> object = tree_.object(parent); object && insides_.is_node(graph_.type(*object)))
      ++found_.contents.nodes[graph_.type(*object)];
  }

  void look_at_children(TreePlace parent) {
    const u64 parts = (children_.size() + children_per_part - 1) / children_per_part;
    if (parts < 2)
      return look_at_part(parent, children_, found_);
    watch_.check();
    std::vector<Found> found(parts);
    parallel_for(parts, threads_, [&](u64 i, unsigned) {
      const std::span<const TreePlace> part = std::span<const TreePlace>(children_).subspan(i * children_per_part);
      look_at_part(parent, part.first(std::min(part.size(), children_per_part)), found[i]);
    });
    for (const Found &part : found)
      found_.add(part);
  }

  // The types of the children and of their first children lie anywhere in memory, so they are prefetched a few children
  // ahead.
  void look_at_part(TreePlace parent, std::span<const TreePlace> children, Found &found) const {
    const std::optional<ObjectId> holder = tree_.object(parent); // an owner has no inner objects
    for (u64 i = 0; i < std::min(fetched_ahead, children.size()); ++i)
      bring_in(children[i]);
    for (u64 i = 0; i < children.size(); ++i) {
      if (i + fetched_ahead < children.size())
        bring_in(children[i + fetched_ahead]);
      const TypeId type = type_at(children[i]);
      if (holder && insides_.is_inside(graph_.type(*holder), type)) {
        found.inside.push_back(children[i]);
      } else {
        found.contents.held[type].add(children[i], tree_.retained(children[i]));
        count_behind(children[i], type, found);
      }
    }
  }
  void bring_in(TreePlace child) const {
    prefetch_type(child);
    if (tree_.end(child) > TreePlace{static_cast<u32>(child) + 1})
      prefetch_type(TreePlace{static_cast<u32>(child) + 1});
  }
  void prefetch_type(TreePlace at) const { __builtin_prefetch(&graph_.types()[static_cast<u32>(*tree_.object(at))]); }

  void count_behind(TreePlace parent, TypeId type, Found &found) const {
    u64 count = 0;
    tree_.for_each_child(parent, [&](TreePlace child) {
      if (type_at(child) == type)
        ++count, found.behind.push_back(child);
    });
    if (count)
      found.contents.held[type].behind += count;
  }

  const DominatorTree &tree_;
  const ObjectGraph &graph_;
  const Insides &insides_;
  const unsigned threads_;
  const Watch &watch_;
  Found found_;
  std::vector<TreePlace> children_; // of the place that is being looked at
};

} // namespace

HeldContents held_contents(const DominatorTree &tree, const ObjectGraph &graph, const Insides &insides, TreePlace at,
                           std::span<const TreePlace> without, unsigned threads, const Watch &watch) {
  return Search(tree, graph, insides, threads, watch).run(at, without);
}

} // namespace dnheap
