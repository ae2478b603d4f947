// `retained`: what would be freed? Shows the dominator tree of the whole heap, summed up by owner, type, namespace and
// assembly, the objects that retain most, or level by level (--tree).
#include "algorithms/retained_by_group.h"
#include "analysis/answer_head.h"
#include "analysis/owners/holding.h"
#include "analysis/owners/signature.h"
#include "analysis/verbs/tables/held_tree.h"
#include "analysis/verbs/tables/shared_table.h"
#include "analysis/verbs/verbs.h"
#include "base/share.h"
#include "base/text.h"
#include "report/columns_of.h"

#include <algorithm>
#include <map>
#include <memory>

namespace dnheap {

namespace {

using report::Cell;
using report::Kind;
using report::Shown;

report::Table owners_table(Holding &holding) {
  using L = Holding::OwnerLine;
  const u64 whole = holding.all().bytes;
  const std::vector<L> lines = holding.owner_lines();
  report::Table table = report::ColumnsOf<L>{
      {{"retained", "Retained", Kind::bytes}, [](const L &l) { return l.retained.bytes; }},
      {{"share", "Share", Kind::percent}, [&](const L &l) { return share_of(l.retained.bytes, whole); }},
      {{"objects", "Objects", Kind::count}, [](const L &l) { return l.retained.objects; }},
      {{"kind", "Kind", Kind::text, Shown::in_data}, &L::kind},
      {{"conservative", "Conservative", Kind::boolean, Shown::in_data}, &L::conservative},
      {{"signature", "Signature", Kind::text, Shown::in_data}, [](const L &l) { return signature(l.source, {}); }},
      {{"source", "Source", Kind::text, Shown::in_data}, &L::source},
      {{"rank", "Rank", Kind::text, Shown::in_data}, [](const L &l) { return l.rank ? Cell(l.rank) : Cell(); }},
      {{"owner", "Owner", Kind::text},
       &L::name}}.table("owners", "By owner: what would be freed if it let go", lines);
  table.total =
      total_row(table, {{"retained", whole}, {"share", 1.0}, {"objects", holding.all().objects}, {"owner", "total"}});
  if (!holding.is_plain())
    table.notes.push_back(
        "an object counts for the first of these that holds it: the program's own static fields, the container of "
        "services, the framework, what flows with calls, stacks, the runtime's queues; --plain ranks no owners");
  if (holding.tree().shared().objects)
    table.notes.push_back(
        "(shared): held by several owners, so no single one would free it; --table shared lists the owners");
  auto has = [&](std::string_view kind) {
    return std::any_of(lines.begin(), lines.end(), [&](const Holding::OwnerLine &line) { return line.kind == kind; });
  };
  if (has("frozen"))
    table.notes.push_back("(frozen): in segments that are never collected, without another holder");
  if (has("unreachable"))
    table.notes.push_back(
        knows_all_roots(holding.snapshot())
            ? "(unreachable): nothing holds it any more; the next collection of its generation frees it"
            : "(unreachable): nothing that could be read holds it; not all roots could be read, so it may be alive");
  return table;
}

// A table with one row per group of types: types with the same name, namespace or assembly.
struct Grouping {
  const char *key, *title, *heading;
  std::vector<u32> group_of; // by type; ~0: the type was not asked for
  std::vector<std::string> names;
};

Grouping grouping(Holding &holding, const char *key, const char *title, const char *heading,
                  const std::function<std::string(TypeId)> &name_of_group) {
  Grouping out{key, title, heading, std::vector<u32>(holding.type_count(), ~u32{0}), {}};
  std::map<std::string, u32> numbers;
  for (u32 i = 0; i < out.group_of.size(); ++i) {
    if (!holding.passes(TypeId{i}))
      continue;
    auto [at, is_new] = numbers.emplace(name_of_group(TypeId{i}), static_cast<u32>(out.names.size()));
    if (is_new)
      out.names.push_back(at->first);
    out.group_of[i] = at->second;
  }
  return out;
}

report::Table groups_table(const Grouping &grouping, std::span<const GroupRetained> sums, u64 whole) {
  struct Group : GroupRetained {
    const std::string *name;
  };
  std::vector<Group> groups;
  for (u32 i = 0; i < grouping.names.size(); ++i)
    if (sums[i].top_level)
      groups.push_back({sums[i], &grouping.names[i]});
  std::sort(groups.begin(), groups.end(), [](const Group &a, const Group &b) {
    return a.retained.bytes != b.retained.bytes ? a.retained.bytes > b.retained.bytes : *a.name < *b.name;
  });
  using G = Group;
  return report::ColumnsOf<G>{
      {{"retained", "Retained", Kind::bytes}, [](const G &g) { return g.retained.bytes; }},
      {{"share", "Share", Kind::percent}, [&](const G &g) { return share_of(g.retained.bytes, whole); }},
      {{"objects", "Objects", Kind::count}, [](const G &g) { return g.retained.objects; }},
      {{"instances", "Instances", Kind::count}, &G::top_level},
      {{grouping.heading, "Name", Kind::text}, [](const G &g) { return *g.name; }}}
      .table(grouping.key, grouping.title, groups);
}

// Makes all tables by one sweep over the tree.
std::vector<report::Table> groups_tables(Holding &holding, const std::vector<Grouping> &groupings) {
  std::vector<u32> first{0}; // first group of each grouping
  for (const Grouping &one : groupings)
    first.push_back(first.back() + static_cast<u32>(one.names.size()));
  const Snapshot &snapshot = holding.snapshot();
  const std::vector<GroupRetained> sums = retained_by_groups(
      holding.tree(), first.back(), snapshot.threads(), snapshot.watch(),
      [&](ObjectId object, auto visit) {
        const u32 type = static_cast<u32>(holding.type(object));
        for (u64 i = 0; i < groupings.size(); ++i)
          if (type < groupings[i].group_of.size() && groupings[i].group_of[type] != ~u32{0})
            visit(first[i] + groupings[i].group_of[type]);
      },
      [&](ObjectId object) { holding.prefetch_type(object); });
  std::vector<report::Table> out;
  for (u64 i = 0; i < groupings.size(); ++i)
    out.push_back(
        groups_table(groupings[i], std::span(sums).subspan(first[i], groupings[i].names.size()), holding.all().bytes));
  return out;
}

// Returns "System.Collections.Generic" for "System.Collections.Generic.List<Shop.Order>[]".
std::string namespace_of(const std::string &type) {
  std::size_t end = type.find_first_of("<+[");
  std::size_t dot = type.substr(0, end).rfind('.');
  return dot == std::string::npos || dot == 0 ? "(none)" : type.substr(0, dot);
}

// Keeps the added places that retain most; ties by place.
class LargestPlaces {
public:
  LargestPlaces(const DominatorTree &tree, u64 keep) : before_{&tree}, keep_(keep) {}
  void add(TreePlace at) {
    if (places_.size() < keep_) {
      places_.push_back(at);
      if (places_.size() == keep_)
        std::make_heap(places_.begin(), places_.end(), before_); // the smallest is on top of the heap
    } else if (before_(at, places_.front())) {
      std::pop_heap(places_.begin(), places_.end(), before_);
      places_.back() = at;
      std::push_heap(places_.begin(), places_.end(), before_);
    }
  }
  const std::vector<TreePlace> &places() const { return places_; }
  // Returns the places, largest first.
  std::vector<TreePlace> take_sorted() {
    std::sort(places_.begin(), places_.end(), before_);
    return std::move(places_);
  }

private:
  struct Before {
    const DominatorTree *tree;
    bool operator()(TreePlace a, TreePlace b) const {
      const u64 of_a = tree->retained(a).bytes, of_b = tree->retained(b).bytes;
      return of_a != of_b ? of_a > of_b : a < b;
    }
  } before_;
  u64 keep_;
  std::vector<TreePlace> places_;
};

report::Table objects_table(const std::shared_ptr<Holding> &holding, const Question &question, report::Answer &answer) {
  constexpr u64 most = 1000; // default limit: a heap has millions, each inside of another
  const u64 keep = question.top ? question.top + 1 : question.top_is_asked ? ~u64{0} : most;
  const DominatorTree &tree = holding->tree();
  std::vector<bool> passes(holding->type_count() + 1);
  for (u32 i = 0; i < holding->type_count(); ++i)
    passes[i] = holding->passes(TypeId{i});
  struct Part { // one thread's data
    LargestPlaces largest;
    u64 count = 0;
  };
  std::vector<Part> parts(std::max(holding->snapshot().threads(), 1u), Part{LargestPlaces(tree, keep)});
  // Objects come in the order of the tree, so their types are anywhere: they are brought in some places ahead.
  auto look_at = [&](TreePlace at, Part &part) {
    constexpr u32 ahead = 16;
    if (const u32 later = static_cast<u32>(at) + ahead; later < tree.size())
      if (const std::optional<ObjectId> next = tree.object(TreePlace{later}))
        holding->prefetch_type(*next);
    const std::optional<ObjectId> object = tree.object(at);
    if (!object || !passes[static_cast<u32>(holding->type(*object))])
      return;
    ++part.count;
    part.largest.add(at);
  };
  parallel_for_parts(tree.size(), u64{1} << 18, holding->snapshot().threads(),
                     [&](u64 begin, u64 end, unsigned worker) {
                       holding->snapshot().watch().check();
                       for (u64 i = begin; i < end; ++i)
                         look_at(TreePlace{static_cast<u32>(i)}, parts[worker]);
                     });
  for (const Part &part : std::span(parts).subspan(1)) {
    parts[0].count += part.count;
    for (TreePlace at : part.largest.places())
      parts[0].largest.add(at);
  }
  const u64 count = parts[0].count;
  std::vector<TreePlace> best = parts[0].largest.take_sorted();
  report::Table table;
  table.name = "objects";
  table.title = "Objects that hold most";
  table.columns = {{"retained", "Retained", Kind::bytes}, {"share", "Share", Kind::percent},
                   {"objects", "Objects", Kind::count},   {"address", "Address", Kind::address},
                   {"type", "Type", Kind::text},          {"owner", "Owner", Kind::text}};
  table.row_count = count;
  if (!holding->is_plain())
    table.notes.push_back("each object as its owner in the table owners holds it; dnheap show TARGET ADDR shows what "
                          "would be freed with the object alone");
  if (keep == most && count > most)
    answer.completeness->notes.add("table objects: the first " + count_text(most) + " of " + count_text(count) +
                                   "; --top 0 gives all");
  table.rows = [holding, best = std::move(best), next = u64{0}](report::Row &row) mutable {
    if (next == best.size())
      return false;
    const TreePlace at = best[next++];
    const ObjectId object = *holding->tree().object(at);
    const Retained held = holding->tree().retained(at);
    row = {held.bytes,
           share_of(held.bytes, holding->all().bytes),
           held.objects,
           holding->address(object),
           holding->name(holding->type(object)),
           holding->owner_above(at)};
    return true;
  };
  return table;
}

// Objects that only several instances hold together are not below any of these instances in the tree.
constexpr const char *together_note =
    "each instance counts separately: objects that only several instances hold together are in no row; dnheap path "
    "TARGET TYPE shows what would be freed with all instances of a type";

bool is_of_tree(const Question &question) { return question.tree || question.table == "tree"; }

} // namespace

Plan plan_retained(const Question &question) {
  const bool is_tree = is_of_tree(question);
  if (question.tree && !question.table.empty() && question.table != "tree")
    throw UsageError("--tree and --table " + question.table + " exclude each other: --tree shows the table tree");
  if (is_tree && (!question.type_regex.empty() || !question.type_exact.empty()))
    throw UsageError("--type chooses rows of the other tables: the tree has all types");
  if (!is_tree && question.depth)
    throw UsageError("--depth needs --tree: dnheap retained TARGET --tree --depth " + std::to_string(*question.depth));
  if (!is_tree && question.raw)
    throw UsageError("--raw needs --tree: dnheap retained TARGET --tree --raw");
  if (question.plain && !question.hubs.empty())
    throw UsageError("--plain and --hub exclude each other: --plain ranks no owners");
  Plan plan(question.plain ? Passes(Pass::dominators) : Pass::graph | Pass::owned_roots);
  if (!question.plain)
    foresee_ranked(plan);
  if (!is_tree && (question.table.empty() || question.table == "shared"))
    plan.then("shared pieces");
  if (!is_tree && question.table != "owners" && question.table != "objects" && question.table != "shared")
    plan.then("retained by group");
  return plan.perhaps(Pass::live);
}

report::Answer answer_retained(const Snapshot &snapshot, const Question &question) {
  report::Answer answer = begin_answer(snapshot, "retained", HeapSum::in_table);
  if (is_of_tree(question)) {
    answer.tables.push_back(held_tree_table(snapshot, question));
    if (question.depth.value_or(0) > most_tree_levels)
      answer.completeness->notes.add("levels of the tree beyond the first " + count_text(most_tree_levels) +
                                     " are not shown");
  } else {
    const auto shared = std::make_shared<Holding>(snapshot, question);
    Holding &holding = *shared;
    auto is_wanted = [&](std::string_view table) { return question.table.empty() || question.table == table; };
    std::vector<Grouping> groupings;
    auto add_groups = [&](const char *key, const char *title, const char *heading, auto name_of_group) {
      if (is_wanted(key))
        groupings.push_back(grouping(holding, key, title, heading, name_of_group));
    };
    if (is_wanted("owners"))
      answer.tables.push_back(owners_table(holding));
    if (is_wanted("shared"))
      answer.tables.push_back(
          shared_table(snapshot, holding.tree(), holding.owners(), [&](OwnerId id) { return holding.owner(id).name; }));
    add_groups("types", "By type: what its instances retain, each counted separately", "type",
               [&](TypeId type) { return holding.name(type); });
    add_groups("namespaces", "By namespace", "namespace",
               [&](TypeId type) { return namespace_of(holding.name(type)); });
    add_groups("assemblies", "By assembly", "assembly", [&](TypeId type) { return holding.assembly(type); });
    if (!groupings.empty())
      for (report::Table &table : groups_tables(holding, groupings)) {
        if (table.name == "types")
          table.notes.push_back(together_note);
        answer.tables.push_back(std::move(table));
      }
    if (is_wanted("objects"))
      answer.tables.push_back(objects_table(shared, question, answer));
    holding.filter().add_notes(answer);
  }
  add_root_notes(snapshot, answer);
  add_reference_notes(snapshot, answer);
  add_name_notes(snapshot, answer);
  return answer;
}

} // namespace dnheap
