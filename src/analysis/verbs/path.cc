// `path`: why is it alive? Shows the shortest path from a root to an object, each step by its field; or, for a type,
// the paths to all its instances, equal ones as one row.
#include "analysis/answer_head.h"
#include "analysis/filters/live_filter.h"
#include "analysis/names/compiled_names.h"
#include "analysis/names/named_types.h"
#include "analysis/names/subject.h"
#include "analysis/objects/object_view.h"
#include "analysis/owners/path_steps.h"
#include "analysis/owners/ranked_paths.h"
#include "analysis/owners/signature.h"
#include "analysis/owners/type_paths.h"
#include "analysis/suspects/suspects.h"
#include "analysis/verbs/verbs.h"
#include "base/not_found.h"
#include "base/text.h"
#include "objects/live.h"
#include "objects/object_graph.h"
#include "report/columns_of.h"

#include <algorithm>
#include <fmt/format.h>

namespace dnheap {

namespace {

using report::Cell;
using report::Fact;
using report::Kind;
using report::Shown;

constexpr u64 most_paths = 100;    // for --all
constexpr u64 most_explained = 20; // the names in so many of a type's paths are explained

// `bad_references`: found by the search of the heap itself.
std::vector<OwnedPath> find_paths(const Snapshot &snapshot, ObjectId object, bool all, OnStacks on_stacks,
                                  u64 &bad_references) {
  if (all) {
    Referrers referrers(snapshot.graph().edges(), snapshot.threads(), snapshot.watch());
    const std::vector<OwnedRoot> roots = roots_that_count(snapshot, on_stacks);
    Owners owners = snapshot.owned_roots();
    owners.roots = roots;
    return paths_from_owners(referrers.edges(), owners, object, most_paths, snapshot.threads(), snapshot.watch());
  }
  RankedPath found = find_ranked_path(snapshot, object, on_stacks);
  bad_references = found.bad_references;
  return found.path ? std::vector{*std::move(found.path)} : std::vector<OwnedPath>();
}

std::vector<Cell> cells_of(const PathSteps &path) {
  std::vector<Cell> out;
  for (const PathStep &step : path.steps)
    out.push_back(std::vector<Fact>{{"address", hex(step.address)},
                                    {"type", step.type},
                                    {"field", step.field},
                                    {"calls", report::text_cell(step.calls)},
                                    {"call", report::text_cell(step.call)}});
  return out;
}

report::Table paths_table(const std::vector<PathSteps> &paths) {
  using P = PathSteps;
  report::Table table = report::ColumnsOf<P>{
      {{"root", "", Kind::nested}, &P::root},
      {{"steps", "", Kind::nested}, [](const P &path) { return cells_of(path); }},
      {{"steps_left_out", "", Kind::count}, &P::left_out},
      {{"instances", "", Kind::count}, [](const P &) { return u64{1}; }},
      {{"signature", "", Kind::text}, &P::signature},
      {{"way", "", Kind::text}, &P::way},
      {{"path", "", Kind::text}, [](const P &path) {
         return path_text(path);
       }}}.table("paths", "", paths);
  table.shown = Shown::in_data;
  return table;
}

// Shows one path for people: one line per step, repeats folded.
report::Table steps_table(const PathSteps &path, const std::string &title, bool is_raw) {
  report::Table table;
  table.name = "paths";
  table.title = title;
  table.shown = Shown::in_text;
  table.whole = true;
  table.columns = {
      {"field", "Held by", Kind::text}, {"type", "Object", Kind::text}, {"address", "Address", Kind::text}};
  table.set_rows(folded_rows(path, is_raw));
  explain_compiled_names(path.owner, table.notes);
  for (const PathStep &step : path.steps)
    for (const std::string *text : {&step.field, &step.type, &step.calls})
      explain_compiled_names(*text, table.notes);
  if (path.conservative)
    table.notes.push_back("the path begins at a stack word that may only look like a reference: every word of that "
                          "stack was tried");
  return table;
}

std::string object_text(ObjectView &view, ObjectId object) {
  return view.type_name(object) + " at " + hex(view.address(object));
}

// Returns the shortest path from one object to another, regardless of other holders; empty if there is none.
std::vector<PathSteps> path_between(const Snapshot &snapshot, ObjectView &view, ObjectId from, ObjectId to) {
  ShortestPaths search(snapshot.graph().edges(), snapshot.threads(), snapshot.watch());
  const OwnedRoot begin{from, OwnerId{0}};
  search.grow(std::span(&begin, 1), to);
  if (!search.met(to))
    return {};
  return {steps_between(snapshot, view, search.path(to))};
}

std::string unheld_text(const Snapshot &snapshot, ObjectView &view, ObjectId object) {
  const std::string what = object_text(view, object);
  if (snapshot.heap().is_frozen(view.address(object)))
    return "no known root holds " + what + "; it lies in a frozen segment, " + never_freed;
  if (!knows_all_roots(snapshot))
    return "nothing that could be read holds " + what + "; not all roots could be read, so it may be alive";
  return "nothing holds " + what + " any more: it is garbage that no collection has taken yet";
}

report::Answer answer_object(const Snapshot &snapshot, const Question &question, Address address, u64 &bad_references) {
  report::Answer answer = begin_answer(snapshot, "path");
  ObjectView view(snapshot);
  std::string note;
  const ObjectId object = view.at(address, note);
  if (!note.empty())
    answer.completeness->notes.add_first(Note{.text = note});
  std::string note_of_from;
  const std::optional<ObjectId> from =
      question.from ? std::optional(view.at(question.from->value(), note_of_from)) : std::nullopt;
  if (!note_of_from.empty())
    answer.completeness->notes.add(note_of_from);
  const OnStacks on_stacks = question.no_stacks ? OnStacks::left_out : OnStacks::count;
  const std::vector<PathSteps> paths =
      from ? path_between(snapshot, view, *from, object)
           : path_steps(snapshot, view, find_paths(snapshot, object, question.all, on_stacks, bad_references));
  answer.tables.push_back(paths_table(paths));
  for (u64 i = 0; i < paths.size(); ++i) {
    std::string title =
        paths.size() == 1 ? "" : "Path " + std::to_string(i + 1) + " of " + std::to_string(paths.size());
    title += (title.empty() ? "Signature " : ", signature ") + short_signature(paths[i].signature);
    answer.tables.push_back(steps_table(paths[i], title, question.raw));
  }
  if (paths.empty() && from)
    answer.completeness->notes.add("no path leads from " + object_text(view, *from) + " to " +
                                   object_text(view, object));
  else if (paths.empty() && question.no_stacks && find_ranked_path(snapshot, object).path)
    answer.completeness->notes.add("only stacks hold " + object_text(view, object) +
                                   "; without --no-stacks path shows them");
  else if (paths.empty())
    answer.completeness->notes.add(unheld_text(snapshot, view, object));
  if (!question.all && paths.size() == 1 && paths[0].is_hub && paths[0].steps.size() == 1)
    answer.completeness->notes.add(paths[0].owner +
                                   " counts as an owner, whichever roots reach it; --all lists these roots");
  if (paths.size() == most_paths)
    answer.completeness->notes.add("only the nearest " + std::to_string(most_paths) + " roots are listed");
  answer.next_command = "dnheap show " + shell_word(question.target) + " " + hex(view.address(object));
  return answer;
}

std::string field_text(const TypePath::Step &step) {
  std::string out;
  for (const std::string &field : step.fields)
    out += field;
  return out;
}

// The types that `path TYPE` is asked about, and a note about them.
struct Meant {
  std::function<bool(Address)> types; // by MethodTable
  std::string note;
};

Meant types_meant(const Snapshot &snapshot, const Question &question, std::optional<Address> address) {
  TypeSystem &types = snapshot.runtime().types();
  if (address)
    return {[address](Address mt) { return mt == *address; }, hex(*address) + " is the MethodTable of " +
                                                                  types.name(*address) +
                                                                  ": these are the paths to its instances"};
  NamedTypes named = types_called_or_like(snapshot, question.subject);
  std::string note = named.note(question.subject);
  return {[named = std::move(named), &types](Address mt) { return named.has(types.name(mt)); }, std::move(note)};
}

report::Answer answer_type(const Snapshot &snapshot, const Question &question, std::optional<Address> method_table) {
  report::Answer answer = begin_answer(snapshot, "path");
  const Meant meant = types_meant(snapshot, question, method_table);
  TypePaths paths = find_type_paths(snapshot, meant.types);
  if (question.sort == "instances")
    std::stable_sort(paths.paths.begin(), paths.paths.end(),
                     [](const TypePath &a, const TypePath &b) { return a.instances > b.instances; });
  using P = TypePath;
  const double all = static_cast<double>(std::max<u64>(paths.instances, 1));
  report::Table table = report::ColumnsOf<P>{
      {{"instances", "Instances", Kind::count}, &P::instances},
      {{"share", "Share", Kind::percent}, [=](const P &p) { return static_cast<double>(p.instances) / all; }},
      {{"bytes", "Bytes", Kind::bytes}, &P::bytes},
      {{"retained", "Freed with them", Kind::bytes}, &P::retained},
      {{"signature", "Signature", Kind::text, Shown::in_data}, &P::signature},
      {{"way", "Way", Kind::text, Shown::in_data}, &P::way},
      {{"short_way", "Path", Kind::text, Shown::in_text}, [](const P &p) { return short_signature(p.way); }},
      {{"example", "Example", Kind::address}, &P::example},
      {{"root", "", Kind::nested, Shown::in_data}, [&](const P &p) { return root_facts(snapshot, p.owner, nullptr); }},
      {{"steps", "", Kind::nested, Shown::in_data},
       [](const P &p) {
         std::vector<Cell> out;
         for (const P::Step &step : p.steps)
           out.push_back(std::vector<Fact>{{"field", field_text(step)}, {"least", step.least}, {"most", step.most}});
         return out;
       }},
      {{"path", "Held by", Kind::text, Shown::everywhere, true},
       &P::text}}.table("paths", "", paths.paths);
  // Explains names in owner and fields separately, because the text before a field is not a type.
  const u64 shown = question.top ? question.top : most_explained;
  for (u64 i = 0; i < std::min<u64>({paths.paths.size(), most_explained, shown}); ++i) {
    explain_compiled_names(paths.paths[i].owner_text, table.notes);
    for (const TypePath::Step &step : paths.paths[i].steps)
      for (const std::string &field : step.fields)
        explain_compiled_names(field, table.notes);
  }
  if (!meant.note.empty())
    answer.completeness->notes.add(meant.note);
  if (paths.unreachable)
    table.notes.push_back(count_text(paths.unreachable) + " of " + count_text(paths.instances) +
                          (knows_all_roots(snapshot)
                               ? " instances are held by nothing: garbage"
                               : " instances are held by nothing that could be read; not all roots could be read, so "
                                 "they may be alive"));
  if (paths.frozen)
    table.notes.push_back(count_text(paths.frozen) + " of " + count_text(paths.instances) +
                          " instances lie in frozen segments, " + never_freed + ", and have no other known holder");
  if (paths.not_folded)
    table.notes.push_back(count_text(paths.not_folded) +
                          " instances are held by paths that are not shown: paths with more than " +
                          count_text(most_folded_steps) + " steps after folding, or that would need more than " +
                          count_text(most_folded_states) + " states");
  if (paths.paths.size() > most_retained)
    table.notes.push_back("what would be freed is computed for the " + std::to_string(most_retained) +
                          " paths with most bytes; dnheap show has it for one object");
  answer.tables.push_back(std::move(table));
  if (!paths.paths.empty())
    answer.next_command = "dnheap path " + shell_word(question.target) + " " + hex(paths.paths.front().example);
  return answer;
}

// Returns the number of a suspect in the report: 3 for "@3"; nullopt if the word has another form.
std::optional<u64> suspect_number(const std::string &subject) {
  if (subject.size() < 2 || subject[0] != '@' || subject.find_first_not_of("0123456789", 1) != subject.npos ||
      subject.size() > 10)
    return std::nullopt;
  return std::stoull(subject.substr(1));
}

Address address_of_suspect(const Snapshot &snapshot, const Question &question, u64 number) {
  const Suspects suspects = find_suspects(snapshot, names_called(snapshot, question.hubs));
  if (number == 0 || number > suspects.list.size())
    throw NotFound(fmt::format("the report has {} suspects: there is no {}; dnheap report {} --top 0 lists them",
                               suspects.list.size(), question.subject, shell_word(question.target)));
  return suspects.list[number - 1].example;
}

} // namespace

Plan plan_path(const Question &question) {
  if (question.subject.empty())
    throw UsageError("which object, or which type? give an address or a name after the target");
  if (question.from && question.all)
    throw UsageError(
        "--from and --all exclude each other: --from shows the shortest path from that object, --all paths from roots");
  if (question.from && question.no_stacks)
    throw UsageError("--from and --no-stacks exclude each other: --from shows the shortest path from that object, "
                     "--no-stacks chooses roots");
  Plan plan;
  // An address may be that of a MethodTable; other words are names.
  const bool is_address = written_address(question.subject).has_value() || suspect_number(question.subject);
  plan.then(Pass::owned_roots);
  if (is_address && !question.all && !question.from)
    plan.perhaps(Pass::graph);
  else
    plan.then(Pass::graph);
  if (suspect_number(question.subject))
    foresee_suspects(plan);
  if (question.all)
    plan.then("referrers");
  plan.then("breadth-first search").perhaps(Pass::live);
  for (const char *of_types : {"names of steps", "folding of paths", "reachable without a set"})
    is_address ? plan.perhaps(of_types) : plan.then(of_types);
  return plan;
}

report::Answer answer_path(const Snapshot &snapshot, const Question &question) {
  const std::optional<u64> suspect = suspect_number(question.subject);
  const std::optional<Address> address =
      suspect ? address_of_suspect(snapshot, question, *suspect) : find_address(snapshot, question.subject);
  const bool of_type = !address || (!snapshot.heap().holds(*address) && is_method_table(snapshot, *address));
  if (of_type && question.all)
    throw UsageError("--all needs an address: dnheap path TARGET ADDR --all");
  if (of_type && question.from)
    throw UsageError("--from needs an address to lead to: dnheap path TARGET ADDR --from ADDRESS");
  if (of_type && question.no_stacks)
    throw UsageError("--no-stacks needs an address: dnheap path TARGET ADDR --no-stacks");
  if (of_type && question.raw)
    throw UsageError("--raw needs an address: the paths to all objects of a type are shown together");
  if (!of_type && !question.sort.empty())
    throw UsageError("--sort needs a type: dnheap path TARGET TYPE --sort " + question.sort);
  snapshot.index();
  u64 bad_references = 0; // the objects that have these may be dead
  report::Answer answer =
      of_type ? answer_type(snapshot, question, address) : answer_object(snapshot, question, *address, bad_references);
  if (!suspect && !question.hubs.empty())
    answer.completeness->notes.add(
        "--hub has no effect here: it changes the suspects (@1), and this path is not about a suspect");
  add_root_notes(snapshot, answer);
  if (of_type || question.all || question.from) // these use the graph, which knows the bad references
    add_reference_notes(snapshot, answer);
  else if (bad_references)
    add_reference_notes(snapshot.live().bad_references(), answer);
  add_name_notes(snapshot, answer);
  return answer;
}

} // namespace dnheap
