#include "analysis/owners/path_steps.h"

#include "algorithms/paths/path_folding.h"
#include "algorithms/paths/path_states.h"
#include "analysis/names/compiled_names.h"
#include "analysis/objects/inside_of.h"
#include "analysis/owners/ranked_owners.h"
#include "analysis/owners/signature.h"
#include "base/text.h"

#include <map>
#include <unordered_map>

namespace dnheap {

namespace {

using report::Cell;

constexpr u64 most_steps = 10000; // more are left out

// Returns how many times the `period` steps from `at` on repeat without a gap, alike in field and type.
u64 times_repeated(const std::vector<PathStep> &steps, u64 at, u64 period) {
  auto alike = [&](u64 a, u64 b) { return steps[a].folded == steps[b].folded && steps[a].type == steps[b].type; };
  u64 times = 1;
  for (;; ++times)
    for (u64 i = 0; i < period; ++i)
      if (u64 here = at + times * period + i; here >= steps.size() || !alike(here, at + i))
        return times;
}

// A sequence of `period` steps that comes `times` times in a row.
struct StepRepeat {
  u64 period = 1, times = 1;
};

StepRepeat repeat_at(const std::vector<PathStep> &steps, u64 at) {
  StepRepeat out;
  for (u64 period = 1; period <= PathStates::longest_period; ++period)
    if (u64 times = times_repeated(steps, at, period); times >= 3 && times * period > out.times * out.period)
      out = {period, times};
  return out;
}

// The fields of a path, folded as `path TYPE` shows them.
class FoldedFields {
public:
  void add(const std::string &field) {
    auto [at, is_new] = numbers_.try_emplace(field, static_cast<u32>(texts_.size()));
    if (is_new)
      texts_.push_back(field);
    state_ = states_.move(state_, at->second).to;
  }
  std::vector<std::string> fields() {
    std::vector<std::string> out;
    for (const PathStates::Step &step : states_.steps(states_.finish(state_)))
      for (u32 i = 0; i < step.unit.size; ++i)
        out.push_back(texts_[step.unit.labels[i]]);
    return out;
  }

private:
  PathStates states_{most_folded_states};
  PathState state_ = states_.begin(0);
  std::unordered_map<std::string, u32> numbers_;
  std::vector<std::string> texts_;
};

// `source`: the text at the beginning of the signatures.
void add_steps(const Snapshot &snapshot, ObjectView &view, std::span<const ObjectId> objects, std::string_view source,
               PathSteps &out) {
  FoldedFields fields;
  for (u64 i = 0; i < objects.size(); ++i) {
    std::string folded;
    if (i) {
      snapshot.watch().check();
      const std::string type = view.type_name(objects[i]);
      folded = is_node_of_collection(type) && view.type_name(objects[i - 1]) == type
                   ? node_to_node
                   : view.field_between(objects[i - 1], objects[i], ObjectView::Indices::folded);
      fields.add(folded);
    }
    if (objects.size() > most_steps && i >= most_steps / 2 && i < objects.size() - most_steps / 2) {
      ++out.left_out;
      continue;
    }
    PathStep step{view.address(objects[i]), view.type_name(objects[i]),     "",
                  std::move(folded),        view.delegate_text(objects[i]), view.call_of(objects[i])};
    if (i)
      step.field = view.field_between(objects[i - 1], objects[i], ObjectView::Indices::told);
    out.steps.push_back(std::move(step));
  }
  out.signature = signature(source, {});
  out.way = signature(source, fields.fields());
}

PathSteps steps_of(const Snapshot &snapshot, ObjectView &view, const OwnedPath &path, const Root *root) {
  PathSteps out;
  const WayOwner owner = way_owner(snapshot, path.owner);
  out.root = root_facts(snapshot, path.owner, root);
  out.owner = owner.name;
  out.is_static = owner.is_static;
  out.conservative = owner.conservative;
  out.is_hub = is_hub(snapshot, path.owner);
  add_steps(snapshot, view, path.objects, owner.source, out);
  return out;
}

// Joins the fields of consecutive steps; if there are many, only the first and the last.
std::string fields_of(std::span<const PathStep *const> steps, std::string PathStep::*field) {
  constexpr u64 most = 5;
  std::string out;
  for (u64 i = 0; i < steps.size(); ++i)
    if (steps.size() <= most || i == 0 || i + 1 == steps.size())
      out += (i && steps.size() > most ? "…" : "") + steps[i]->*field;
  return out;
}

// Leaves out steps inside of collections and delegates; their fields are joined with the next step's.
std::vector<PathStep> without_insides(const std::vector<PathStep> &steps) {
  std::vector<PathStep> out;
  std::vector<const PathStep *> inside;
  for (u64 i = 0; i < steps.size(); ++i) {
    inside.push_back(&steps[i]);
    auto traits_of = [](const PathStep &step) { return InsideTraits(step.type, !step.calls.empty()); };
    if (i && i + 1 < steps.size() && traits_of(steps[i - 1]).folds(traits_of(steps[i])))
      continue;
    out.push_back(steps[i]);
    out.back().field = fields_of(inside, &PathStep::field);
    out.back().folded = fields_of(inside, &PathStep::folded);
    inside.clear();
  }
  return out;
}

} // namespace

std::vector<report::Fact> root_facts(const Snapshot &snapshot, OwnerId owner, const Root *root) {
  const RootSet &roots = snapshot.roots();
  const WayOwner of = way_owner(snapshot, owner);
  std::vector<report::Fact> facts = {
      {"kind", root ? kind_text(*root) : std::string(of.kind)}, {"owner", of.name}, {"conservative", of.conservative}};
  if (root) {
    facts.push_back({"address", root->slot ? Cell(hex(root->slot)) : Cell()});
    facts.push_back({"object", hex(root->object)});
    facts.push_back({"name", root->name ? Cell(roots.name(*root)) : Cell()});
    const RootThread *thread = roots.thread(*root);
    facts.push_back({"thread", thread && thread->os_id && *thread->os_id ? Cell(*thread->os_id) : Cell()});
  }
  return facts;
}

std::vector<PathSteps> path_steps(const Snapshot &snapshot, ObjectView &view, std::span<const OwnedPath> paths) {
  std::map<std::pair<OwnerId, Address>, const Root *> begins; // one pass over the roots, because there may be millions
  for (const OwnedPath &path : paths)
    begins.emplace(std::pair(path.owner, view.address(path.objects.front())), nullptr);
  const RootSet &roots = snapshot.roots();
  const RootOwners &owners = snapshot.owners();
  for (u64 i = 0; i < roots.roots.size(); ++i)
    if (auto at = begins.find({OwnerId{owners.owner_of[i]}, roots.roots[i].object}); at != begins.end() && !at->second)
      at->second = &roots.roots[i];
  std::vector<PathSteps> out;
  for (const OwnedPath &path : paths)
    out.push_back(steps_of(snapshot, view, path, begins[{path.owner, view.address(path.objects.front())}]));
  return out;
}

PathSteps steps_between(const Snapshot &snapshot, ObjectView &view, std::span<const ObjectId> objects) {
  PathSteps out;
  out.owner = view.type_name(objects.front());
  out.root = {{"kind", "object"},
              {"owner", out.owner},
              {"conservative", false},
              {"object", hex(view.address(objects.front()))}};
  add_steps(snapshot, view, objects, "object " + out.owner, out);
  return out;
}

std::string path_text(const PathSteps &path) {
  std::string out = path.owner + (path.is_static || path.steps.size() < 2 ? "" : " → ");
  const u64 between = path.left_out ? path.steps.size() / 2 : 0; // the step before which others were left out
  for (u64 i = 1; i < path.steps.size();) {
    if (i == between)
      out += " … ";
    const StepRepeat repeat = repeat_at(path.steps, i);
    if (repeat.times < 3) {
      out += path.steps[i++].field;
      continue;
    }
    out += repeat.period > 1 ? "(" : "";
    for (u64 k = 0; k < repeat.period; ++k)
      out += path.steps[i + k].folded;
    const bool gap_inside = i < between && i + repeat.period * repeat.times >= between;
    const u64 more = gap_inside ? path.left_out / repeat.period : 0;
    out += (repeat.period > 1 ? ")×" : "×") + std::to_string(repeat.times + more);
    i += repeat.period * repeat.times;
  }
  return out;
}

std::vector<report::Row> folded_rows(const PathSteps &path, bool is_raw) {
  if (!is_raw && !path.left_out) { // steps left out in the middle are counted by number, so a shortened path is not
                                   // folded
    PathSteps short_path = path;
    short_path.steps = without_insides(path.steps);
    return folded_rows(short_path, true);
  }
  std::vector<report::Row> rows;
  auto add = [&](const PathStep &step) {
    std::string type = step.calls.empty() ? step.type : step.type + " → " + step.calls;
    if (!step.call.empty() && call_of_box(step.type).empty()) // the type does not name the method itself
      type += ", pending call of " + step.call;
    rows.push_back({rows.empty() ? path.owner : "  " + step.field, type, hex(step.address)});
  };
  for (u64 i = 0; i < path.steps.size();) {
    const auto [period, times] = i ? repeat_at(path.steps, i) : StepRepeat(); // the root never starts a repeat
    u64 between = path.steps.size() / 2;
    bool gap_inside = path.left_out && i < between && i + period * times >= between;
    if (times < 3) {
      add(path.steps[i++]);
      continue;
    }
    for (u64 k = 0; k < period; ++k)
      add(path.steps[i + k]);
    u64 more = times - 2 + (gap_inside ? path.left_out / period : 0);
    rows.push_back({"  … the same " + count_text(more) + (more == 1 ? " more time" : " more times"), "", ""});
    for (u64 k = 0; k < period; ++k)
      add(path.steps[i + (times - 1) * period + k]);
    i += times * period;
  }
  return rows;
}

} // namespace dnheap
