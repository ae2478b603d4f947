// `verify`: is the heap sound? Looks at every object, the word before it, and every reference.
#include "analysis/answer_head.h"
#include "analysis/verbs/verbs.h"
#include "base/text.h"
#include "heap/plan_traces.h"
#include "objects/graph_check.h"
#include "objects/live.h"
#include "objects/object_graph.h"
#include "objects/reference_check.h"
#include "objects/roots.h"
#include "report/columns_of.h"
#include "runtime/object_1.h"

namespace dnheap {

namespace {

using report::Cell;
using report::Kind;

constexpr u64 most_problems = 1000;

const char *text_of(ReferenceProblem problem) {
  switch (problem) {
  case ReferenceProblem::outside: return "refers to an address outside the heap";
  case ReferenceProblem::no_object: return "refers to a place in the heap where no object begins";
  case ReferenceProblem::free_space: return "refers to free space";
  case ReferenceProblem::unaligned: return "refers to an address at which no object can begin";
  }
  return "";
}

std::string text_of(const BadHeader &bad) {
  const std::string sync_block = "sync block " + std::to_string(bad.sync_block);
  switch (bad.problem) {
  case HeaderProblem::index_zero: return "its header names sync block 0, which belongs to no object";
  case HeaderProblem::no_sync_block: return "its header names " + sync_block + ", which does not exist";
  case HeaderProblem::not_its_own:
    return "its header names " + sync_block + ", which is " + (bad.other ? "that of " + hex(bad.other) : "free");
  case HeaderProblem::not_named: return sync_block + " is its own, but its header does not say so";
  case HeaderProblem::no_object: return sync_block + " is of this address, where no object begins";
  case HeaderProblem::no_thread:
    return "locked by thread " + std::to_string(bad.header & ObjectHeader::thread_mask) +
           ", which does not exist: it ended without letting go, or the header was overwritten";
  case HeaderProblem::recursion_unheld: return "its header counts locks that no thread holds";
  }
  return "";
}

// The parts of the heap that were walked: an address there at which the walk found no object certainly has none.
class Walked {
public:
  explicit Walked(const Snapshot &snapshot) : heap_(snapshot.heap()), gaps_(heap_.gaps().begin(), heap_.gaps().end()) {
    const std::vector<Gap> more = snapshot.tally().walk.gaps.stretches();
    gaps_.insert(gaps_.end(), more.begin(), more.end());
    std::sort(gaps_.begin(), gaps_.end(), [](const Gap &a, const Gap &b) { return a.start < b.start; });
  }
  bool operator()(Address address) const {
    auto behind =
        std::upper_bound(gaps_.begin(), gaps_.end(), address, [](Address a, const Gap &gap) { return a < gap.start; });
    if (behind != gaps_.begin() && address < std::prev(behind)->end)
      return false;
    return heap_.notes().empty() || heap_.holds(address);
  }

private:
  const Heap &heap_;
  std::vector<Gap> gaps_;
};

// Returns what the walk found in place of an object.
std::string text_of(const report::Completeness::Gap &gap, const Snapshot &snapshot, TypeTable &types) {
  const Memory &memory = snapshot.runtime().memory();
  const u64 p = memory.format().pointer_size;
  std::optional<u64> method_table = memory.try_pointer(gap.start);
  if (gap.reason != no_sound_object || !method_table)
    return gap.reason;
  *method_table = method_table_in(*method_table, memory.format());
  if (*method_table == 0)
    return gap.reason + ": its MethodTable is null";
  const TypeRow *type = types.find(*method_table);
  if (!type)
    return gap.reason + ": " + hex(*method_table) + " is not a MethodTable";
  u64 size = object_size(type->base_size, type->component_size, memory.try_load<u32>(gap.start + p).value_or(0),
                         memory.format());
  return gap.reason + ": its size is " + bytes_text(size) + ", for which there is no room";
}

// Returns the part of the heap that a collection was planning or moving, if there are traces of one.
std::optional<CollectedPart> collected_part(const Snapshot &snapshot) {
  const Runtime &runtime = snapshot.runtime();
  Notes said_elsewhere;
  if (runtime.gc_structures_valid(said_elsewhere) != false)
    return std::nullopt;
  TypeTable types(runtime.types(), snapshot.heap());
  std::optional<GCSegmentGeneration> oldest =
      planned_generation(snapshot.heap(), snapshot.tally().walk.gaps, runtime.memory(), types);
  if (!oldest)
    return std::nullopt;
  std::optional<std::pair<Address, Address>> bounds;
  try {
    bounds = runtime.gc().get_gc_bounds();
  } catch (const Error &) { // then only segments count as the GC's memory
  }
  return CollectedPart(snapshot.heap(), *oldest, bounds);
}

bool is_planned(Address gap, std::string_view reason, const CollectedPart *collected) {
  return collected && reason == no_sound_object && collected->holds(gap);
}

// Returns the number of gaps that a running collection made; they are temporary, and no objects are lost.
u64 planned_gaps(const Snapshot &snapshot, const CollectedPart *collected) {
  std::span<const Gap> gaps = snapshot.tally().walk.gaps.listed();
  return static_cast<u64>(std::count_if(gaps.begin(), gaps.end(),
                                        [&](const Gap &gap) { return is_planned(gap.start, gap.reason, collected); }));
}

// `collected`: its gaps are left out; null: all are listed.
report::Table problems_table(const Snapshot &snapshot, const ReferenceCheck &check,
                             const report::Completeness &completeness, const CollectedPart *collected) {
  struct Problem {
    Address address;
    std::string text;
    Cell slot = {}, target = {}, type = {};
  };
  std::vector<Problem> problems;
  TypeSystem &types = snapshot.runtime().types();
  TypeTable sizes(types, snapshot.heap());
  for (const report::Completeness::Gap &gap : completeness.gaps)
    if (!is_planned(gap.start, gap.reason, collected))
      problems.push_back({gap.start, text_of(gap, snapshot, sizes)});
  for (const BadReference &bad : check.bad_references)
    problems.push_back({bad.object, text_of(bad.problem), bad.slot ? Cell(bad.slot) : Cell(), bad.target,
                        types.name(bad.method_table)});
  ReferenceReader reader(snapshot.references());
  for (const BadHeader &bad : check.headers) {
    OpenedObject object;
    const bool is_object = snapshot.index().is_object(bad.object) && reader.open(bad.object, object);
    problems.push_back({bad.object,
                        text_of(bad),
                        bad.object - ObjectHeader::offset,
                        {},
                        is_object ? Cell(types.name(object.type->method_table)) : Cell()});
  }
  for (Address method_table : check.undescribed)
    problems.push_back({method_table,
                        "the references of this type's objects are not described soundly (GCDesc)",
                        {},
                        {},
                        types.name(method_table)});
  using P = Problem;
  report::Table table = report::ColumnsOf<P>{
      {{"address", "Address", Kind::address}, &P::address},
      {{"problem", "Problem", Kind::text}, &P::text},
      {{"slot", "Slot", Kind::address}, &P::slot},
      {{"target", "Target", Kind::address}, &P::target},
      {{"type", "Type", Kind::text},
       &P::type}}.table("problems", "", problems);
  if (check.bad > check.bad_references.size())
    table.notes.push_back(count_text(check.bad - check.bad_references.size()) + " more bad references are not listed");
  if (check.bad_headers > check.headers.size())
    table.notes.push_back(count_text(check.bad_headers - check.headers.size()) + " more bad headers are not listed");
  return table;
}

report::Table totals_table(const ReferenceCheck &check, u64 dead, u64 moving, u64 problems) {
  return report::one_row("totals",
                         {{{"objects", "Objects", Kind::count}, check.objects},
                          {{"references", "References", Kind::count}, check.references},
                          {{"hidden", "Hidden", Kind::count}, check.hidden},
                          {{"bad_references", "Bad references", Kind::count}, check.bad},
                          {{"bad_headers", "Bad headers", Kind::count}, check.bad_headers},
                          {{"of_dead", "In garbage", Kind::count}, dead},
                          {{"moving", "Being moved by the GC", Kind::count}, moving},
                          {{"problems", "Problems", Kind::count}, problems},
                          {{"edges", "Hash of all references", Kind::address, report::Shown::in_data}, check.edges}});
}

// True while a background collection frees dead objects: until it ends, a dead object anywhere may refer to memory that
// is already freed.
bool is_sweeping(const Runtime &runtime) {
  try {
    return runtime.gc().get_current_gc_state() == 1u; // "planning", gc_state_name()
  } catch (const Error &) {                           // a GC without a state
    return false;
  }
}

// Returns the live objects, or null if they are unknown: if roots are missing, objects held by them would count as
// dead. While the GC sweeps, words on stacks are left out (`without_chance`), because they may lead to freed memory by
// chance; the result is then kept in `certain`.
const HeapBits *known_live(const Snapshot &snapshot, bool without_chance, std::optional<HeapBits> &certain) {
  const RootSet &roots = snapshot.roots();
  if (roots.roots.empty() || roots.notes.have_effect())
    return nullptr;
  if (!without_chance)
    return &snapshot.live().objects;
  std::vector<RootStage> stages = root_stages(roots);
  std::erase_if(stages, [](const RootStage &s) { return s.name == name_of(RootKind::stack_conservative); });
  return &certain.emplace(
      mark_live(snapshot.index(), snapshot.references(), stages, snapshot.threads(), snapshot.watch()).objects);
}

// Returns the number of references that the graph must have: all but those of the arrays with static fields, whose
// elements are roots.
u64 expected_edges(const Snapshot &snapshot, const ReferenceCheck &check) {
  u64 count = check.references + check.hidden - check.bad;
  ReferenceReader reader(snapshot.references());
  for (Address holder : snapshot.roots().holders) {
    OpenedObject object;
    if (snapshot.index().is_object(holder) && reader.open(holder, object))
      reader.for_each(object, [&](Address target) { count -= snapshot.index().is_object(target); });
  }
  return count;
}

report::Table invariants_table(const Snapshot &snapshot, const ReferenceCheck &check, u64 &problems) {
  const ObjectGraph &graph = snapshot.graph();
  GraphParts parts{snapshot.index(),
                   graph.edges(),
                   snapshot.sizes(),
                   snapshot.owned_roots(),
                   snapshot.dominators(),
                   snapshot.live().objects,
                   expected_edges(snapshot, check)};
  const std::vector<Invariant> invariants = check_graph(parts, snapshot.threads(), snapshot.watch());
  for (const Invariant &one : invariants)
    problems += one.violations;
  using I = Invariant;
  return report::ColumnsOf<I>{
      {{"invariant", "Invariant", Kind::text}, &I::name},
      {{"checked", "Checked", Kind::count}, &I::checked},
      {{"violations", "Violations", Kind::count}, &I::violations},
      {{"first", "First", Kind::address}, [](const I &i) { return i.first ? Cell(i.first) : Cell(); }}}
      .table("invariants", "dnheap's own graph", invariants);
}

bool has_invariants(const Question &question) { return question.all || question.table == "invariants"; }

// Returns the end of the headline.
std::string verdict(const ReferenceCheck &check, u64 moving, u64 problems) {
  if (problems)
    return "; " + count_text(problems) + " PROBLEMS";
  if (moving)
    return "; no problem except in objects that the GC was moving";
  return "; sound: all " + (check.dead ? "references of live objects" : count_text(check.references) + " references") +
         " lead to objects";
}

} // namespace

Plan plan_verify(const Question &question) {
  Plan plan(Pass::references);
  plan.then("references");
  if (has_invariants(question))
    plan.then(Pass::dominators).then(Pass::live).then("invariants");
  return plan.perhaps(Pass::live);
}

report::Answer answer_verify(const Snapshot &snapshot, const Question &question) {
  report::Answer answer = begin_answer(snapshot, "verify");
  HeaderCheck headers(snapshot.runtime());
  const Walked walked(snapshot);
  auto look = [&](const NoDamage &no_damage) {
    return check_references(snapshot.heap(), snapshot.runtime(), snapshot.index(), snapshot.references(), headers,
                            walked, snapshot.threads(), snapshot.watch(), most_problems, no_damage);
  };
  const ReferenceCheck all = look({});
  const std::optional<CollectedPart> part = collected_part(snapshot);
  NoDamage no_damage{nullptr, part ? &*part : nullptr};
  // Errors in objects that nothing holds are not damage. If there are no errors, it does not matter which objects are
  // alive.
  const bool sweeps = is_sweeping(snapshot.runtime());
  std::optional<HeapBits> certain;
  if (all.bad + all.bad_headers)
    no_damage.live = known_live(snapshot, sweeps, certain);
  const ReferenceCheck check = no_damage.live || no_damage.collected ? look(no_damage) : all;
  const u64 gaps_of_collection = planned_gaps(snapshot, no_damage.collected);
  const u64 moving = check.moving + gaps_of_collection;
  add_root_notes(snapshot, answer);
  for (const std::string &what : headers.not_checked())
    answer.completeness->notes.add("not checked: " + what);
  const u64 gaps = answer.completeness->gaps.size() + answer.completeness->more_gaps - gaps_of_collection;
  u64 problems = check.bad + check.bad_headers + check.unreadable + check.undescribed.size() + gaps;
  std::vector<report::Table> more;
  if (has_invariants(question))
    more.push_back(invariants_table(snapshot, all, problems));
  answer.completeness->unsound = problems;
  answer.headline.facts += verdict(check, moving, problems);
  answer.tables = {problems_table(snapshot, question.verbose ? all : check, *answer.completeness,
                                  question.verbose ? nullptr : no_damage.collected),
                   totals_table(all, check.dead, moving, problems)};
  const std::string how = question.verbose ? "" : " (--verbose lists them)";
  if (moving)
    answer.tables[0].notes.push_back(count_text(moving) + " more in " + part->name() +
                                     ", which the GC was planning or moving: they only look like damage" + how);
  if (check.dead)
    answer.tables[0].notes.push_back(
        count_text(check.dead) + (check.dead == 1 ? " more problem" : " more problems") + " in unreachable objects" +
        (sweeps ? " (words on stacks may lead to them, while the GC sweeps in the background)" : "") +
        ": objects to which these refer may be gone" + how);
  answer.tables.insert(answer.tables.end(), more.begin(), more.end());
  add_name_notes(snapshot, answer);
  answer.next_command = "dnheap stat " + shell_word(question.target);
  return answer;
}

} // namespace dnheap
