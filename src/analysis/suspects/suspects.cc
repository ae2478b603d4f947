#include "analysis/suspects/suspects.h"

#include "analysis/names/compiled_names.h"
#include "analysis/objects/inside_of.h"
#include "analysis/objects/object_view.h"
#include "analysis/owners/first_owners.h"
#include "analysis/owners/ranked_tree.h"
#include "analysis/owners/signature.h"
#include "analysis/suspects/called_by_elements.h"
#include "analysis/suspects/flowing_values.h"
#include "analysis/suspects/gone_targets.h"
#include "analysis/suspects/held_contents.h"
#include "analysis/suspects/kept_by_handles.h"
#include "analysis/suspects/kept_by_tables.h"
#include "analysis/suspects/object_chain.h"
#include "analysis/suspects/places_in_tree.h"
#include "base/most_frequent.h"
#include "base/text.h"
#include "objects/object_graph.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace dnheap {

namespace {

constexpr u64 most_suspects = 32, most_steps_told = 64;
constexpr u64 least_weak = 1000;   // WeakReferences whose targets are worth a look
constexpr double main_share = 0.6; // follow the largest child if it has at least this share of its parent's bytes

class Finder {
public:
  Finder(const Snapshot &snapshot, std::span<const std::string> hubs, double least_share)
      : snapshot_(snapshot), graph_(snapshot.graph()), ranked_(ranked_tree(snapshot, hubs)), owners_(ranked_->owners),
        tree_(ranked_->tree), view_(snapshot), insides_(snapshot.runtime(), snapshot.references().types()),
        in_tree_(graph_, tree_, insides_) {
    const Retained live = tree_.reached();
    out_.live_objects = live.objects;
    out_.live_bytes = live.bytes;
    least_ = std::max<u64>(static_cast<u64>(static_cast<double>(live.bytes) * least_share), 1);
  }

  Suspects run() {
    std::map<TypeId, std::vector<TreePlace>> shared; // objects that no single owner holds, by type
    tree_.for_each_child(TreePlace{0}, [&](TreePlace place) {
      if (in_tree_.bytes(place) >= least_)
        work_.push_back({place});
      else if (const std::optional<ObjectId> object = tree_.object(place))
        shared[graph_.type(*object)].push_back(place);
    });
    while (!work_.empty()) {
      snapshot_.watch().check();
      std::vector<TreePlace> way = std::move(work_.back());
      work_.pop_back();
      follow(std::move(way));
    }
    for (const auto &[type, places] : shared)
      if (in_tree_.group_of(places).bytes >= least_)
        add_shared(type, places);
    count_kept();
    count_gone();
    find_also();
    join_chains(graph_, chains_, out_.list);
    std::stable_sort(out_.list.begin(), out_.list.end(), [](const Suspect &a, const Suspect &b) {
      return a.retained != b.retained ? a.retained > b.retained : a.example < b.example;
    });
    if (out_.list.size() > most_suspects)
      out_.list.resize(most_suspects);
    name_weak_tables(snapshot_, out_.list);
    name_flowing_values(snapshot_, tree_, out_.list);
    for (const Suspect &suspect : out_.list)
      out_.suspects_bytes += suspect.retained;
    find_live();
    return std::move(out_);
  }

private:
  std::string type_name(TypeId type) {
    return snapshot_.runtime().types().name(snapshot_.references().types()[type].method_table);
  }

  // Goes down to where the bytes spread out, and follows each large part there separately. `way`: the path from the
  // owner, or from an object that several owners share, to the place at which to begin.
  void follow(std::vector<TreePlace> way) {
    TreePlace at = way.back();
    std::vector<u32> types; // types on the path, to detect chains
    for (;;) {
      types.push_back(in_tree_.type_at(at));
      if (std::optional<u64> first = chain_begin(types)) {
        const u64 before = way.size() - types.size();
        add_chain(std::move(way), before + *first);
        return;
      }
      const Fan fan = in_tree_.fan_of(at);
      if (fan.largest_bytes < least_ ||
          static_cast<double>(fan.largest_bytes) < main_share * static_cast<double>(in_tree_.bytes(at)))
        break;
      if (in_tree_.is_node(at) &&
          in_tree_.type_at(at) == in_tree_.type_at(fan.largest)) // a tree, or segments: reported as a whole
        break;
      if (in_tree_.has_several_nodes(at, fan.largest))
        break;
      at = fan.largest;
      way.push_back(at);
      snapshot_.watch().check();
    }
    // The inner objects of a collection count with it, for example the buckets beside the entries. So go back up to the
    // collection if the path has left part of it aside.
    u64 whole = way.size() - 1;
    while (whole && in_tree_.is_part(way[whole - 1], way[whole]))
      --whole;
    if (const u64 of_whole = in_tree_.bytes(way[whole]); of_whole - in_tree_.bytes(at) >= of_whole / 20) {
      way.resize(whole + 1);
      at = way.back();
    }
    // Few large parts beside each other are suspects of their own, for example fields of a service. Those of a
    // collection are reported together.
    std::vector<TreePlace> parts;
    u64 rest = in_tree_.bytes(at);
    if (!tree_.object(at) || !is_inside_of_collection(view_.type_name(*tree_.object(at))))
      tree_.for_each_child(at, [&](TreePlace child) {
        if (in_tree_.bytes(child) >= least_ && parts.size() <= most_suspects && !in_tree_.is_node(child) &&
            !in_tree_.is_part(at, child))
          parts.push_back(child);
      });
    // A tree that the program builds of objects of one type is reported as a whole, too.
    const bool is_tree = tree_.object(at) && parts.size() > 1 &&
                         std::all_of(parts.begin(), parts.end(),
                                     [&](TreePlace p) { return in_tree_.type_at(p) == in_tree_.type_at(at); });
    if (parts.size() <= most_suspects && !is_tree)
      for (TreePlace part : parts) {
        rest -= in_tree_.bytes(part);
        work_.push_back(way);
        work_.back().push_back(part);
      }
    else
      parts.clear();
    if (rest >= least_)
      add_spread(way, parts, rest);
  }

  // `first`: the index in the path of the chain's first object.
  void add_chain(std::vector<TreePlace> way, u64 first) {
    const ObjectChain chain = follow_chain(in_tree_, std::span(way).subspan(first), snapshot_.watch());
    const TreePlace head = way[first];
    way.resize(first + 1);
    chains_.push_back({out_.list.size(), *tree_.object(head), *tree_.object(chain.last)});
    Suspect &s = begin(Suspect::Kind::chain, way, in_tree_.bytes(head), tree_.retained(head).objects);
    s.element = type_name(TypeId{chain.type});
    s.elements = chain.links;
  }

  // Adds a suspect for what lies below the end of the path, without the parts that are suspects themselves. Inner
  // objects of collections count only if they hold nothing else.
  void add_spread(const std::vector<TreePlace> &way, const std::vector<TreePlace> &parts, u64 rest) {
    const TreePlace at = way.back();
    u64 objects = tree_.retained(at).objects;
    for (TreePlace part : parts)
      objects -= tree_.retained(part).objects;
    const HeldContents within =
        held_contents(tree_, graph_, insides_, at, parts, snapshot_.threads(), snapshot_.watch());
    if (tree_.owner(at)) { // an owner that holds many objects in several places
      for (const auto &[type, group] : within.held)
        if (group.bytes >= least_) {
          const RankedOwners::Owner &owner = owners_[*tree_.owner(at)];
          add_group(owner.name, owner.source, owner.rank, type, group);
          add_callee(out_.list.back(), at, parts, type);
          if (std::string handles = is_handle(owner) ? kept_by_handles(snapshot_, tree_, at, type) : "";
              !handles.empty())
            out_.list.back().remark.insert(0, handles + (out_.list.back().remark.empty() ? "" : ", "));
        }
      return;
    }
    auto largest = std::max_element(within.held.begin(), within.held.end(),
                                    [](const auto &a, const auto &b) { return a.second.bytes < b.second.bytes; });
    auto nodes = most_frequent(within.nodes);
    u64 held = 0; // bytes of known types: a quarter of the rest is enough to name a type, because nodes may be larger
                  // than their contents
    for (const auto &[type, group] : within.held)
      held += group.bytes;
    if (largest != within.held.end() && largest->second.count == 1 && !largest->second.behind &&
        static_cast<double>(largest->second.bytes) >= main_share * static_cast<double>(rest)) {
      work_.push_back(way); // a collection of one collection: go on with the inner one
      work_.back().push_back(largest->second.first);
      return;
    }
    const bool is_of_held = largest != within.held.end() && largest->second.bytes * 2 >= held && held * 4 >= rest;
    const bool is_of_nodes = !is_of_held && within.held.empty() && nodes != within.nodes.end();
    const std::optional<Values> values = is_of_held ? std::nullopt : values_at(way);
    const bool is_empty = values && !values->count;
    const bool is_collection = (is_of_held || is_of_nodes || values) && !is_empty;
    Suspect &s = begin(is_collection ? Suspect::Kind::collection : Suspect::Kind::object,
                       values ? std::span(way).first(values->steps) : way, rest, objects);
    if (values) {
      s.elements = values->count;
      if (values->capacity && (is_empty || has_much_room(values->count, *values->capacity)))
        s.room = *values->capacity;
    } else if (is_of_held) {
      s.elements = largest->second.count + largest->second.behind;
      s.element = type_name(largest->first);
      s.first = view_.address(*tree_.object(largest->second.first));
      if (is_of_suspended_call(s.element))
        s.element_call = view_.call_of(*tree_.object(largest->second.first));
      add_callee(s, at, parts, largest->first);
    } else if (is_of_nodes) {
      s.elements = nodes->second;
      s.element = type_name(nodes->first);
    }
  }

  // True if the size of an entry would mislead: most of the bytes are room for others.
  static bool has_much_room(u64 count, u64 capacity) {
    constexpr u64 many = 1000, least_fill = 3; // less than a third, as for waste
    return capacity >= many && count * least_fill < capacity;
  }

  static bool is_handle(const RankedOwners::Owner &owner) { return owner.kind == std::string_view("handle"); }

  // Says what the elements call, unless the path says it already.
  void add_callee(Suspect &to, TreePlace at, std::span<const TreePlace> parts, TypeId type) {
    if (to.elements > 1 && to.calls.empty())
      to.remark = called_by_elements(snapshot_, tree_, at, parts, type);
  }

  // A collection of values (which are not objects): most of it is an array.
  struct Values {
    u64 steps; // of the path, up to the collection
    u64 count;
    std::optional<u64> capacity;
  };
  std::optional<Values> values_at(std::span<const TreePlace> way) {
    u64 steps = way.size();
    while (steps > 1 && in_tree_.is_part(way[steps - 2], way[steps - 1]))
      --steps;
    const std::optional<ObjectId> object = tree_.object(way[steps - 1]);
    const std::optional<CollectionFill> fill = object ? view_.fill(*object) : std::nullopt;
    return fill && fill->count != 1 && !fill->is_builder ? std::optional(Values{steps, fill->count, fill->capacity})
                                                         : std::nullopt;
  }

  // Counts the kept resources below each suspect. Each counts for the nearest suspect above it.
  void count_kept() {
    out_.kept = find_kept_resources(snapshot_, [&](ObjectId object) { return tree_.place(object).has_value(); });
    for (u64 kind = 0; kind < kept_kind_count; ++kind)
      for (ObjectId object : out_.kept.objects[kind])
        if (const std::optional<TreePlace> place = tree_.place(object)) {
          const Placed *nearest = nullptr;
          for (const Placed &one : places_)
            if (one.at.place <= *place && *place < tree_.end(one.at.place) &&
                (!nearest || nearest->at.place < one.at.place))
              nearest = &one;
          if (nearest)
            ++out_.list[nearest->suspect].kept[kind];
        }
  }

  void count_gone() {
    for (const Placed &one : places_)
      if (Suspect &s = out_.list[one.suspect];
          s.elements >= least_weak && s.element.starts_with("System.WeakReference"))
        s.gone = count_gone_targets(snapshot_, tree_, one.at.place, s.element);
  }

  void find_also() {
    std::vector<HeldPlace> places;
    for (const Placed &one : places_)
      places.push_back(one.at);
    const std::vector<AlsoHeld> also =
        find_also_held(graph_, owners_, tree_, places, snapshot_.threads(), snapshot_.watch());
    for (u64 i = 0; i < places_.size(); ++i)
      if (places[i].rank != OwnerRank::own_frames || also[i].by != OwnerRank::frames) // frames are on the same stacks
        out_.list[places_[i].suspect].also_held = also[i];
  }

  void find_live() {
    if (snapshot_.roots().roots.empty()) // throws an Error that says why there are no roots
      snapshot_.live();
    out_.live.emplace(snapshot_, tree_);
  }

  static bool is_own(OwnerRank rank) {
    return rank <= OwnerRank::services || rank == OwnerRank::flows || rank == OwnerRank::own_frames;
  }

  // Assigns shared objects to the first of their owners, in order of rank. Owners whose shares stay below the limit are
  // merged under the name of the one with the largest place.
  void add_shared(TypeId type, std::span<const TreePlace> places) {
    std::map<std::string, HeldGroup> groups; // by RankedOwners::Owner::source
    for (TreePlace place : places)
      if (const RankedOwners::Owner *owner = first_owner(*tree_.object(place)))
        groups[owner->source].add(place, tree_.retained(place));
    HeldGroup crumbs;
    for (const auto &[source, group] : groups)
      if (group.bytes >= least_)
        add_shared_group(type, group);
      else
        crumbs.add(group);
    if (crumbs.bytes >= least_)
      add_shared_group(type, crumbs);
  }

  void add_shared_group(TypeId type, const HeldGroup &group) {
    if (const RankedOwners::Owner *owner = first_owner(*tree_.object(group.first)))
      add_group(owner->name + and_others, owner->source, owner->rank, type, group);
  }

  const RankedOwners::Owner *first_owner(ObjectId object) {
    if (!first_owners_)
      first_owners_.emplace(snapshot_);
    return first_owners_->of(object);
  }

  void add_group(const std::string &owner, const std::string &source, OwnerRank rank, TypeId type,
                 const HeldGroup &group) {
    Suspect s;
    s.kind = group.count > 1 ? Suspect::Kind::many : Suspect::Kind::object;
    s.owner = owner;
    s.element = type_name(type);
    s.elements = group.count;
    if (is_of_suspended_call(s.element))
      s.element_call = view_.call_of(*tree_.object(group.first));
    s.retained = group.bytes;
    s.is_own = is_own(rank);
    s.by_chance = rank == OwnerRank::chance;
    s.example = s.first = view_.address(*tree_.object(group.first));
    s.objects = group.objects;
    s.signature = signature(source, {});
    out_.list.push_back(std::move(s));
  }

  Suspect &begin(Suspect::Kind kind, std::span<const TreePlace> way, u64 retained, u64 objects) {
    Suspect s;
    s.kind = kind;
    s.retained = retained;
    s.objects = objects;
    s.owner = "several owners together";
    std::string source = "(shared)";
    std::optional<OwnerRank> rank;
    if (const std::optional<ObjectId> object = tree_.object(way[0])) // an object that several owners share
      if (const RankedOwners::Owner *owner = first_owner(*object)) {
        s.owner = owner->name + and_others;
        source = owner->source;
        rank = owner->rank;
      }
    std::optional<ObjectId> last;
    for (u64 i = 0; i < way.size(); ++i) {
      const std::optional<ObjectId> object = tree_.object(way[i]);
      if (!object) {
        const RankedOwners::Owner &owner = owners_[*tree_.owner(way[i])];
        s.owner = owner.name;
        rank = owner.rank;
        source = owner.source;
        continue;
      }
      if (i < most_steps_told || i + 4 > way.size()) {
        std::string field = last ? view_.field_between(*last, *object, ObjectView::Indices::folded) : "";
        s.steps.push_back({last && field.empty() ? Suspect::Step::no_single_reference : std::move(field),
                           view_.type_name(*object), view_.address(*object), view_.call_of(*object)});
        if (s.calls.empty())
          s.calls = view_.delegate_text(*object);
      }
      last = object;
    }
    s.shown = s.steps.size();
    while (kind == Suspect::Kind::collection && s.shown > 1 && is_inside_of_collection(s.steps[s.shown - 1].type))
      --s.shown;
    if (!s.steps.empty())
      s.example = s.steps[s.shown - 1].address;
    s.signature = signature(source, {});
    s.is_own = rank && is_own(*rank);
    s.by_chance = rank == OwnerRank::chance;
    places_.push_back({out_.list.size(), {way.back(), rank.value_or(OwnerRank::chance)}});
    out_.list.push_back(std::move(s));
    return out_.list.back();
  }

  const Snapshot &snapshot_;
  const ObjectGraph &graph_;
  const std::shared_ptr<const RankedTree> ranked_;
  const RankedOwners &owners_;
  const DominatorTree &tree_;
  ObjectView view_;
  const Insides insides_;
  const PlacesInTree in_tree_;
  u64 least_ = 0;
  std::optional<FirstOwners> first_owners_;
  struct Placed {
    u64 suspect; // number of the suspect before joining and sorting
    HeldPlace at;
  };
  std::vector<Placed> places_;
  std::vector<ChainSuspect> chains_;
  std::vector<std::vector<TreePlace>> work_; // paths that are still to be followed
  Suspects out_;
};

} // namespace

void foresee_suspects(Plan &plan) {
  foresee_ranked(plan);
  plan.then("live objects").perhaps("breadth-first search").perhaps("holders");
}

Suspects find_suspects(const Snapshot &snapshot, std::span<const std::string> hubs, double least_share) {
  return Finder(snapshot, hubs, least_share).run();
}

} // namespace dnheap
