#include "explore/explored_tree.h"

#include "analysis/answer_head.h"
#include "analysis/filters/live_filter.h"
#include "analysis/names/subject.h"
#include "base/not_found.h"
#include "base/text.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace dnheap::explore {

namespace {

constexpr u64 most_listed = 1'000'000; // the largest children of one place
constexpr u64 most_recent = 8;         // places with cached children; most_kept limits the children of all of them
constexpr u64 most_kept = 2 * most_listed;
constexpr u64 most_parts = 200;   // children shown of one node of a map
constexpr u64 most_nodes = 5'000; // of one map
constexpr u64 most_levels = 16;
constexpr u64 most_kinds = 12;       // types listed for merged children
constexpr u64 most_told = 1'000'000; // merged children whose types are counted: each costs a random access
constexpr u64 most_above = 1'000;    // dominators shown above one place; a linked list makes the tree very deep

} // namespace

ExploredTree::ExploredTree(const Snapshot &snapshot)
    : snapshot_(snapshot), holding_(snapshot, Question()), view_(snapshot), by_type_(holding_.type_count() + 1) {}

TreePlace ExploredTree::place_of(const std::string &name) {
  if (name.empty() || name == "root")
    return TreePlace{0};
  if (constexpr std::string_view prefix = "owner:"; name.starts_with(prefix)) {
    u32 number = 0;
    auto [end, error] = std::from_chars(name.data() + prefix.size(), name.data() + name.size(), number);
    if (error != std::errc() || end != name.data() + name.size())
      throw UsageError("'" + printable(name, 100) + "' names no owner");
    if (number >= holding_.owner_count())
      throw NotFound("there is no " + printable(name, 100));
    return tree().place(OwnerId{number});
  }
  const std::optional<Address> address = find_address(snapshot_, name);
  if (!address)
    throw UsageError("at: '" + printable(name, 100) + "' is neither root nor an owner nor an address");
  std::string note;
  const ObjectId object = view_.at(*address, note);
  if (const std::optional<TreePlace> place = tree().place(object))
    return *place;
  const std::string what = view_.type_name(object) + " at " + hex(view_.address(object));
  if (snapshot_.heap().is_frozen(view_.address(object)))
    throw NotFound("no known root holds " + what + "; it lies in a frozen segment, " + never_freed);
  throw NotFound(knows_all_roots(snapshot_)
                     ? "nothing holds " + what + ": it is garbage"
                     : "nothing that could be read holds " + what + "; some roots could not be read");
}

ordered_json ExploredTree::node(TreePlace at) {
  if (const std::optional<ObjectId> object = tree().object(at))
    return node(*object);
  const Retained held = tree().retained(at);
  ordered_json out{{"at", "root"},           {"kind", "root"},         {"name", "all that is held"}, {"type", nullptr},
                   {"owner_kind", nullptr},  {"rank", nullptr},        {"generation", nullptr},      {"self", 0},
                   {"retained", held.bytes}, {"objects", held.objects}};
  if (const std::optional<OwnerId> id = tree().owner(at)) {
    const RankedOwners::Owner owner = holding_.owner(*id);
    out["at"] = "owner:" + std::to_string(static_cast<u32>(*id));
    out["kind"] = "owner";
    out["name"] = owner.name;
    out["owner_kind"] = owner.kind;
    out["rank"] = name_of(owner.rank);
  }
  return out;
}

ordered_json ExploredTree::node(ObjectId object) {
  const std::string address = hex(view_.address(object));
  const std::string &type = view_.type_name(object);
  ordered_json out{{"at", address},
                   {"kind", "object"},
                   {"name", type},
                   {"type", type},
                   {"owner_kind", nullptr},
                   {"rank", nullptr},
                   {"generation", view_.generation(object)},
                   {"self", view_.aligned_size(object)}};
  const std::optional<TreePlace> place = tree().place(object);
  out["retained"] = place ? ordered_json(tree().retained(*place).bytes) : ordered_json();
  out["objects"] = place ? ordered_json(tree().retained(*place).objects) : ordered_json();
  return out;
}

const ExploredTree::Children &ExploredTree::children_of(TreePlace at) {
  if (const auto found = std::ranges::find(recent_, at, &Children::of); found != recent_.end()) {
    recent_.splice(recent_.begin(), recent_, found);
    return recent_.front();
  }
  Children out{at, 0, {}};
  // When the array is full, its smallest children are dropped, a fifth of the array at once. So the cost per child is
  // constant.
  const u64 places = static_cast<u32>(tree().end(at)) - static_cast<u32>(at) - 1;
  LargeArray<Child> found(std::min(places, most_listed + most_listed / 4));
  u64 count = 0;
  auto keep_largest = [&] {
    if (count > most_listed) {
      std::nth_element(found.begin(), found.begin() + most_listed, found.begin() + count);
      count = most_listed;
    }
  };
  u64 end = tree().bytes_before(at);
  bool is_first = true;
  tree().for_each_child(at, [&](TreePlace child) {
    snapshot_.watch().check();
    if (is_first)
      end = tree().bytes_before(child), is_first = false;
    const u64 begin = end; // children are adjacent, so each one begins where the one before it ends
    end = tree().bytes_before(tree().end(child));
    ++out.total;
    if (count == found.size())
      keep_largest();
    found[count++] = {end - begin, child};
  });
  keep_largest();
  std::sort(found.begin(), found.begin() + count);
  out.largest.reserve(count);
  for (const Child &child : std::span(found.data(), count))
    out.largest.push_back(child.place);
  recent_.push_front(std::move(out));
  auto count_kept = [&] {
    u64 count = 0;
    for (const Children &one : recent_)
      count += one.largest.size();
    return count;
  };
  while (recent_.size() > most_recent || (recent_.size() > 1 && count_kept() > most_kept))
    recent_.pop_back();
  return recent_.front();
}

ordered_json ExploredTree::children(TreePlace at, u64 from, u64 count) {
  const Children &all = children_of(at);
  ordered_json rows = ordered_json::array();
  for (u64 i = from; i < std::min<u64>(all.largest.size(), from + std::min(count, most_parts * 5)); ++i)
    rows.push_back(node(all.largest[i]));
  return {{"total", all.total}, {"listed", all.largest.size()}, {"rows", std::move(rows)}};
}

ordered_json ExploredTree::above(TreePlace at) {
  std::vector<TreePlace> chain{at};
  while (chain.back() != TreePlace{0} && chain.size() < most_above)
    chain.push_back(tree().parent(chain.back()));
  u64 left_out = 0;
  if (chain.back() != TreePlace{0}) { // the nearest ones and the root
    for (TreePlace up = chain.back(); up != TreePlace{0}; up = tree().parent(up))
      ++left_out;
    chain.push_back(TreePlace{0});
    --left_out;
  }
  ordered_json rows = ordered_json::array();
  for (auto one = chain.rbegin(); one != chain.rend(); ++one)
    rows.push_back(node(*one));
  return {{"left_out", left_out}, {"rows", std::move(rows)}};
}

// `room`: the number of nodes that the map may still have.
void ExploredTree::add_parts(ordered_json &to, TreePlace at, u64 levels, u64 least, u64 &room) {
  if (levels == 0 || tree().retained(at).objects == 0)
    return;
  std::vector<Child> large;
  Rest rest;
  u64 total = 0;
  auto add_to_rest = [&](const Child &child) {
    const Rest one{1, tree().retained(child.place).objects, child.bytes};
    rest.add(one);
    const std::optional<ObjectId> object = rest.count <= most_told ? tree().object(child.place) : std::nullopt;
    if (!object)
      return;
    const TypeId type = holding_.type(*object);
    Rest &of_type = by_type_[static_cast<u32>(type)];
    if (of_type.count == 0)
      seen_types_.push_back(type);
    of_type.add(one);
  };
  tree().for_each_child(at, [&](TreePlace child) {
    snapshot_.watch().check();
    const Child one{tree().retained(child).bytes, child};
    ++total;
    one.bytes >= least ? large.push_back(one) : add_to_rest(one);
  });
  const u64 shown = std::min({most_parts, room, u64{large.size()}});
  std::partial_sort(large.begin(), large.begin() + static_cast<std::ptrdiff_t>(shown), large.end());
  for (u64 i = shown; i < large.size(); ++i)
    add_to_rest(large[i]);
  large.resize(shown);
  room -= shown;
  to["children"] = total;
  to["rest"] = {{"count", rest.count}, {"objects", rest.objects}, {"bytes", rest.bytes}};
  ordered_json kinds = kinds_json(tree().retained(at).bytes); // also clears what the next level will use
  if (rest.count <= most_told && !kinds.empty())
    to["rest"]["kinds"] = std::move(kinds);
  ordered_json parts = ordered_json::array();
  for (const Child &child : large) {
    parts.push_back(node(child.place));
    add_parts(parts.back(), child.place, levels - 1, least, room);
  }
  to["parts"] = std::move(parts);
}

// Returns the types of merged children that have at least 1/500 of the whole, the largest first. Clears the sums.
ordered_json ExploredTree::kinds_json(u64 whole) {
  std::vector<std::pair<TypeId, Rest>> all;
  for (TypeId type : seen_types_)
    all.emplace_back(type, std::exchange(by_type_[static_cast<u32>(type)], {}));
  seen_types_.clear();
  std::erase_if(all, [&](const auto &one) { return one.second.bytes < whole / 500; });
  std::sort(all.begin(), all.end(), [](const auto &a, const auto &b) {
    return a.second.bytes != b.second.bytes ? a.second.bytes > b.second.bytes : a.first < b.first;
  });
  ordered_json out = ordered_json::array();
  for (u64 i = 0; i < std::min<u64>(all.size(), most_kinds); ++i)
    out.push_back({{"type", holding_.name(all[i].first)},
                   {"count", all[i].second.count},
                   {"objects", all[i].second.objects},
                   {"bytes", all[i].second.bytes}});
  return out;
}

ordered_json ExploredTree::map(TreePlace at, u64 levels, u64 least) {
  kinds_json(0); // clears the sums of an interrupted map
  ordered_json out = node(at);
  u64 room = most_nodes;
  add_parts(out, at, std::min(levels, most_levels), least ? least : std::max<u64>(1, tree().retained(at).bytes / 2000),
            room);
  return out;
}

} // namespace dnheap::explore
