#include "explore/explored_objects.h"

#include "analysis/names/subject.h"
#include "analysis/objects/field_values.h"
#include "base/not_found.h"
#include "base/parallel.h"
#include "base/text.h"
#include "objects/object_graph.h"

#include <algorithm>
#include <map>
#include <set>

namespace dnheap::explore {

namespace {

constexpr u64 most_rows = 1'000;   // of a page
constexpr u64 most_recent = 8;     // objects whose referrers are cached
constexpr u64 most_kept = 4 << 20; // referrers cached for all recent objects together; a single object may have more
constexpr u64 most_roots = 100;    // of one object
constexpr u64 most_steps = 1'000;  // of a path: a longer one shows its first and last steps
constexpr u64 part_size = 1 << 20;

// True if the type's name is `wanted`, in lower case, or with `whole` false ends in it: "order" in Shop.Order.
bool is_called(const std::string &type, const std::string &wanted, bool whole) {
  const std::string name = lower_case(type);
  if (name == wanted)
    return true;
  const std::size_t before = name.size() - wanted.size() - 1;
  return !whole && name.size() > wanted.size() && name.ends_with(wanted) &&
         (name[before] == '.' || name[before] == '+');
}

} // namespace

ExploredObjects::ExploredObjects(const Snapshot &snapshot, ExploredTree &tree, bool values)
    : snapshot_(snapshot), tree_(tree), values_(values) {}

ObjectId ExploredObjects::object_of(const std::string &text) {
  const std::optional<Address> address = find_address(snapshot_, text);
  if (!address)
    throw UsageError("at: '" + printable(text, 100) + "' is not an address");
  std::string note;
  return tree_.view().at(*address, note);
}

ordered_json ExploredObjects::object(ObjectId object) {
  ObjectView &view = tree_.view();
  ordered_json out = tree_.node(object);
  out["size"] = view.size(object);
  const std::string &calls = view.delegate_text(object);
  out["delegate"] = calls.empty() ? ordered_json() : ordered_json(calls);
  const std::optional<u32> elements = view.elements(object);
  out["elements"] = elements ? ordered_json(*elements) : ordered_json();
  const std::optional<CollectionFill> fill = view.fill(object);
  out["entries"] = fill ? ordered_json(fill->count) : ordered_json();
  out["capacity"] = fill && fill->capacity ? ordered_json(*fill->capacity) : ordered_json();
  // The graph leaves out the references of holders (RootSet::holders), so their references are counted here. For all
  // other objects, some of which have millions of references, the graph knows the number.
  const bool is_holder = snapshot_.roots().is_holder(view.address(object));
  out["references"] =
      is_holder ? references(object, 0, 0)["total"] : ordered_json(snapshot_.graph().edges().of(object).size());
  out["referrers"] = referring(object).size();
  ordered_json roots = ordered_json::array(); // those that refer to this object itself
  u64 root_count = 0;
  for (const Root &root : snapshot_.roots().roots)
    if (root.object == view.address(object) && ++root_count <= most_roots)
      roots.push_back({{"kind", kind_text(root)},
                       {"name", root.name ? ordered_json(snapshot_.roots().name(root)) : ordered_json()}});
  out["root_count"] = root_count;
  out["roots"] = std::move(roots);
  out["value"] = nullptr;
  if (values_) {
    const FieldValue value = FieldValues(snapshot_.runtime()).whole(view.address(object), view.method_table(object));
    if (!value.text.empty())
      out["value"] = value.text;
  }
  return out;
}

ordered_json ExploredObjects::references(ObjectId object, u64 from, u64 count) {
  ObjectView &view = tree_.view();
  u64 total = 0;
  ordered_json rows = ordered_json::array();
  count = std::min(count, most_rows);
  view.for_each_reference(object, [&](const ObjectView::Reference &reference) {
    const ObjectId target = snapshot_.index().find(reference.target);
    if (target == no_object)
      return true;
    if (total >= from && total - from < count)
      rows.push_back(
          {{"field", view.field(object, reference, ObjectView::Indices::told)}, {"node", tree_.node(target)}});
    ++total;
    if ((total & 0xffff) == 0)
      snapshot_.watch().check();
    return true;
  });
  return {{"total", total}, {"rows", std::move(rows)}};
}

const std::vector<ObjectId> &ExploredObjects::referring(ObjectId object) {
  if (const auto found = std::ranges::find(recent_, object, &Referring::to); found != recent_.end()) {
    recent_.splice(recent_.begin(), recent_, found);
    return recent_.front().from;
  }
  const Edges edges = snapshot_.graph().edges();
  const u64 parts = (edges.objects() + part_size - 1) / part_size;
  std::vector<std::vector<ObjectId>> by_part(parts);
  parallel_for(parts, snapshot_.threads(), [&](u64 part, unsigned) {
    snapshot_.watch().check();
    const u64 last = std::min(edges.objects(), (part + 1) * part_size);
    u64 source = part * part_size;
    // Looks at each reference once; its source is computed only if it leads to the object.
    const std::span<const ObjectId> targets =
        edges.targets.subspan(edges.begin(source), edges.begin(last) - edges.begin(source));
    const u64 first = edges.begin(source);
    for (u64 i = 0; i < targets.size(); ++i) {
      if (targets[i] != object)
        continue;
      // Find the last object whose references begin at or before this one.
      u64 low = source, high = last;
      while (high - low > 1) {
        const u64 middle = low + (high - low) / 2;
        (edges.begin(middle) <= first + i ? low : high) = middle;
      }
      if (by_part[part].empty() || by_part[part].back() != ObjectId(static_cast<u32>(low)))
        by_part[part].push_back(ObjectId(static_cast<u32>(low)));
      source = low;
    }
  });
  Referring out{object, {}};
  u64 count = 0;
  for (const std::vector<ObjectId> &some : by_part)
    count += some.size();
  out.from.reserve(count);
  for (const std::vector<ObjectId> &some : by_part)
    out.from.insert(out.from.end(), some.begin(), some.end());
  recent_.push_front(std::move(out));
  u64 kept = 0;
  for (const Referring &one : recent_)
    kept += one.from.size();
  for (; recent_.size() > 1 && (recent_.size() > most_recent || kept > most_kept); recent_.pop_back())
    kept -= recent_.back().from.size();
  return recent_.front().from;
}

ordered_json ExploredObjects::referrers(ObjectId object, u64 from, u64 count) {
  const std::vector<ObjectId> &all = referring(object);
  ordered_json rows = ordered_json::array();
  for (u64 i = from; i < std::min<u64>(all.size(), from + std::min(count, most_rows)); ++i)
    rows.push_back({{"field", tree_.view().fields_between(all[i], object)}, {"node", tree_.node(all[i])}});
  return {{"total", all.size()}, {"rows", std::move(rows)}};
}

void ExploredObjects::find_ways() {
  if (!ways_)
    ways_ = ranked_paths(snapshot_, ranked_tree(snapshot_)); // the tree's view has computed it already
}

ordered_json ExploredObjects::way(ObjectId object) {
  find_ways();
  ObjectView &view = tree_.view();
  std::optional<OwnedPath> path = ways_->find(object);
  if (path && path->objects.size() == 1 && is_hub(snapshot_, path->owner))
    path = find_ranked_path(snapshot_, object).path; // show what holds the hub itself
  if (!path)
    throw NotFound("nothing holds " + view.type_name(object) + " at " + hex(view.address(object)) +
                   ": no root leads to it");
  const WayOwner owner = way_owner(snapshot_, path->owner);
  ordered_json steps = ordered_json::array();
  const u64 size = path->objects.size();
  u64 left_out = 0;
  for (u64 i = 0; i < size; ++i) {
    if (size > most_steps && i >= most_steps / 2 && i < size - most_steps / 2) {
      ++left_out;
      continue;
    }
    ordered_json field;
    if (i)
      field = view.field_between(path->objects[i - 1], path->objects[i], ObjectView::Indices::told);
    steps.push_back({{"field", std::move(field)}, {"node", tree_.node(path->objects[i])}});
    if (left_out && i == size - most_steps / 2)
      steps.back()["left_out_before"] = left_out;
  }
  return {{"owner", {{"name", owner.name}, {"kind", owner.kind}, {"conservative", owner.conservative}}},
          {"steps", std::move(steps)}};
}

const std::vector<ExploredObjects::NamedField> &ExploredObjects::fields() {
  if (fields_)
    return *fields_;
  std::vector<NamedField> found;                       // cached only when complete
  std::set<std::pair<std::string, std::string>> known; // instances of one generic type declare the same fields
  for (const TypeTally &type : snapshot_.tally().types) {
    snapshot_.watch().check();
    for (const InstanceField &field : snapshot_.runtime().fields().instance_fields(type.method_table)) {
      const std::string &declaring =
          snapshot_.runtime().types().name(field.declaring_type ? field.declaring_type : type.method_table);
      if (known.emplace(declaring, field.name).second)
        found.push_back({declaring, field.name, lower_case(field.name)});
    }
  }
  return fields_.emplace(std::move(found));
}

ordered_json ExploredObjects::find(const std::string &text, u64 count) {
  count = std::min(count, most_rows);
  ordered_json objects = ordered_json::array(), types = ordered_json::array();
  if (const std::optional<Address> address = find_address(snapshot_, text))
    try {
      std::string note;
      objects.push_back(tree_.node(tree_.view().at(*address, note)));
    } catch (const NotFound &) { // a type's name may have only hexadecimal digits
    }
  std::map<std::string, Tally> found; // types with equal names count as one
  const std::string wanted = lower_case(text);
  for (const TypeTally &type : snapshot_.tally().types) {
    const std::string &name = snapshot_.runtime().types().name(type.method_table);
    if (!wanted.empty() && lower_case(name).find(wanted) != std::string::npos)
      found[name].add(type.total());
  }
  std::vector<std::pair<std::string, Tally>> order(found.begin(), found.end());
  std::stable_sort(order.begin(), order.end(),
                   [](const auto &a, const auto &b) { return a.second.aligned_bytes > b.second.aligned_bytes; });
  for (bool whole : {false, true}) // the type that is called so, then those that are called so in some namespace
    std::stable_partition(order.begin(), order.end(),
                          [&](const auto &type) { return is_called(type.first, wanted, whole); });
  for (u64 i = 0; i < std::min<u64>(order.size(), count); ++i)
    types.push_back(
        {{"name", order[i].first}, {"objects", order[i].second.count}, {"bytes", order[i].second.aligned_bytes}});
  ordered_json named = ordered_json::array();
  u64 found_fields = 0;
  if (!wanted.empty())
    for (const NamedField &field : fields())
      if (field.lower_case.find(wanted) != std::string::npos && ++found_fields <= count)
        named.push_back({{"type", field.type}, {"field", field.field}});
  return {{"found", order.size()},
          {"types", std::move(types)},
          {"found_fields", found_fields},
          {"fields", std::move(named)},
          {"objects", std::move(objects)}};
}

} // namespace dnheap::explore
