// `report`: the state of a program on one screen: a verdict, the use of memory, and the owners of most of it.
#include "analysis/answer_head.h"
#include "analysis/names/brief_type_name.h"
#include "analysis/names/compiled_names.h"
#include "analysis/names/named_types.h"
#include "analysis/owners/ranked_paths.h"
#include "analysis/owners/signature.h"
#include "analysis/owners/suspects.h"
#include "analysis/process/fragmentation.h"
#include "analysis/shapes/typed_objects.h"
#include "analysis/verbs/account_table.h"
#include "analysis/verbs/verbs.h"
#include "analysis/verdict/crash.h"
#include "analysis/verdict/hangs.h"
#include "analysis/verdict/verdict.h"
#include "analysis/waste/waste.h"
#include "base/share.h"
#include "base/text.h"
#include "objects/object_index.h"
#include "objects/roots.h"
#include "report/columns_of.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace dnheap {

namespace {

using report::Cell;
using report::Kind;
using report::Row;
using report::Shown;
using report::Table;

// Classes that are shown as one line.
struct Line {
  const char *text;
  EnumSet<MemoryClass> classes;
};

using enum MemoryClass;

constexpr EnumSet<MemoryClass> of_runtime = {gc_bookkeeping, gc_other,     handle_tables, jit_code,
                                             runtime_stubs,  loader_heaps, runtime_other};
constexpr Line lines[] = {
    {"live objects, and all frozen ones", {objects, live_objects, frozen_objects}},
    {"garbage, not collected yet", {dead_objects}},
    {"free between objects", {free_objects}},
    {"committed by the GC, empty", {gc_behind_objects, gc_free_regions, gc_to_decommit, allocation_contexts}},
    {"heap that could not be walked", {gc_not_walked}},
    {"runtime: GC's tables, loader heaps, code", of_runtime},
    {"malloc: in use", {malloc_in_use, malloc_large, malloc_not_walked}},
    {"malloc: freed, or not handed out", {malloc_cached, malloc_free, malloc_top}},
    {"stacks of threads: in use", {stacks_in_use}},
    {"stacks: reserved, unused", {stacks_below}},
    {"programs, libraries, mapped files", {images, mapped_files}},
    {"shared memory", {shared_memory}},
    {"not identified", {kernel, not_identified}},
};

constexpr const char *maybe_dead = "dead objects, or held by roots that could not be read";

u64 bytes_of(const AccountMap &map, EnumSet<MemoryClass> classes, u64 ClassSum::*member = &ClassSum::bytes) {
  u64 out = 0;
  for (u32 i = 0; i < memory_class_count; ++i)
    if (classes.has(static_cast<MemoryClass>(i)))
      out += map.of(static_cast<MemoryClass>(i)).*member;
  return out;
}

Table where_table(const AccountMap &map, const Target &target, bool knows_all_roots) {
  const bool is_process = target.container == "process";
  const u64 whole = map.mapped - map.of(reserved).bytes;
  struct Part {
    u64 bytes;
    double share;
    const Line *line;
  };
  std::vector<Part> parts;
  for (const Line &line : lines)
    if (const u64 bytes = bytes_of(map, line.classes))
      parts.push_back({bytes, share_of(bytes, whole), &line});
  using P = Part;
  Table table =
      report::ColumnsOf<P>{{{"bytes", "Mapped", Kind::bytes}, &P::bytes},
                           {{"part", is_process ? "Resident" : "In dump", Kind::bytes},
                            [&](const P &p) {
                              if (is_process)
                                return map.resident ? Cell(bytes_of(map, p.line->classes, &ClassSum::resident_high))
                                                    : Cell();
                              return Cell(bytes_of(map, p.line->classes, &ClassSum::stored));
                            }},
                           {{"share", "Share", Kind::percent}, &P::share},
                           {{"what", "", Kind::text},
                            [&](const P &p) {
                              return p.line->classes.has(dead_objects) && !knows_all_roots ? maybe_dead : p.line->text;
                            }},
                           {{"bar", "", Kind::bar, Shown::in_text}, &P::share}}
          .table("where",
                 target.extraction ? "Memory by use, as far as dnheap took it out of " + target.extraction->from
                                   : "Memory by use",
                 parts);
  table.shown = Shown::in_text;
  table.whole = true;
  const Cell part = !is_process ? Cell(map.stored) : map.resident ? Cell(map.resident->second) : Cell();
  table.total = total_row(table, {{"bytes", whole}, {"part", part}, {"share", 1.0}, {"what", "total, each byte once"}});
  return table;
}

std::vector<Cell> steps_of(const Suspect &suspect) {
  std::vector<Cell> out;
  for (const Suspect::Step &step : suspect.steps)
    out.push_back(std::vector<report::Fact>{
        {"address", hex(step.address)}, {"type", step.type}, {"field", report::text_cell(step.field)}});
  return out;
}

std::string next_of(const Question &question, u64 number) {
  std::string out = fmt::format("dnheap path {} @{}", shell_word(question.target), number);
  for (const std::string &hub : question.hubs) // without these the suspects would have other numbers
    out += " --hub " + shell_word(hub);
  return out;
}

Table suspects_table(const Suspects &suspects, const Question &question) {
  using S = Suspect;
  auto rank = [&](const S &s) { return static_cast<u64>(&s - suspects.list.data()) + 1; };
  Table table = report::ColumnsOf<S>{
      {{"rank", "", Kind::number}, rank},
      {{"kind", "", Kind::text}, [](const S &s) { return name_of(s.kind); }},
      {{"owner", "", Kind::text}, &S::owner},
      {{"text", "", Kind::text}, [](const S &s) { return s.text(); }},
      {{"retained", "", Kind::bytes}, &S::retained},
      {{"share", "", Kind::percent}, [&](const S &s) { return share_of(s.retained, suspects.live_bytes); }},
      {{"also_held", "", Kind::bytes}, [](const S &s) { return s.also_held.bytes; }},
      {{"also_held_by", "", Kind::text},
       [](const S &s) { return s.also_held.bytes ? Cell(name_of(s.also_held.by)) : Cell(); }},
      {{"objects", "", Kind::count}, &S::objects},
      {{"element", "", Kind::text}, [](const S &s) { return report::text_cell(s.element); }},
      {{"elements", "", Kind::count}, &S::elements},
      {{"own", "", Kind::boolean}, &S::is_own},
      {{"conservative", "", Kind::boolean}, &S::by_chance},
      {{"signature", "", Kind::text}, &S::signature},
      {{"address", "", Kind::address}, [](const S &s) { return s.example ? Cell(s.example) : Cell(); }},
      {{"path", "", Kind::nested}, steps_of},
      {{"next", "", Kind::text}, [&](const S &s) {
         return next_of(question, rank(s));
       }}}.table("suspects", "", suspects.list);
  table.shown = Shown::in_data;
  return table;
}

// Makes a table for people: figures, and words that may wrap.
Table figures_table(const char *name, std::string title, std::vector<Row> rows) {
  Table table;
  table.name = name;
  table.title = std::move(title);
  table.shown = Shown::in_text;
  table.whole = true;
  table.columns = {{"figures", "", Kind::text}, {"text", "", Kind::text, Shown::everywhere, true}};
  table.set_rows(std::move(rows));
  return table;
}

// Makes a table for people with two or three lines per suspect.
Table suspects_text(const Suspects &suspects, const Question &question) {
  const u64 most = question.top_is_asked ? (question.top ? question.top : ~u64{0}) : 5;
  std::vector<Row> rows;
  for (u64 i = 0; i < std::min<u64>(suspects.list.size(), most); ++i) {
    const Suspect &s = suspects.list[i];
    rows.push_back({fmt::format("@{:<3}{:>10} {:>5.1f}%", i + 1, bytes_text(s.retained),
                                100 * share_of(s.retained, suspects.live_bytes)),
                    s.way() + "  [" + short_signature(s.signature) + "]"});
    rows.push_back({"", s.text() + (s.by_chance ? " (words on a stack: may be chance)" : "")});
    if (const std::string also = s.also_text(); !also.empty())
      rows.push_back({"", also});
  }
  Table table = figures_table(
      "suspects_text",
      fmt::format("Who holds most of the {} that are alive (freed if it let go)", bytes_text(suspects.live_bytes)),
      std::move(rows));
  if (suspects.list.empty())
    table.notes.push_back("nobody holds 2 % of it");
  else if (suspects.list.size() > most)
    table.notes.push_back(fmt::format("… {} more; --top 0 shows all", suspects.list.size() - most));
  return table;
}

// Returns a row of waste in words: "374,936 equal Int32[] in Graph.Node.Payload".
std::string waste_text(const WasteRow &row) {
  const char *what = "";
  switch (row.kind) {
  case WasteKind::duplicate_strings:
  case WasteKind::duplicate_arrays:
  case WasteKind::duplicate_objects: what = "duplicates"; break;
  case WasteKind::mostly_zero_arrays: what = "mostly zero"; break;
  case WasteKind::empty_collections: what = "empty"; break;
  case WasteKind::one_element_collections: what = "with one element"; break;
  case WasteKind::over_allocated_collections: what = "less than a third full"; break;
  case WasteKind::boxes: what = "boxes"; break;
  case WasteKind::free_beside_pins: what = "pinned beside holes"; break;
  }
  return fmt::format("{} × {}, {}, in {}", count_text(row.count), brief_type_name(row.what), what,
                     variable_in_words(row.field));
}

Table waste_table(const Waste &waste, u64 live) {
  using W = WasteRow;
  Table table = report::ColumnsOf<W>{
      {{"bytes", "", Kind::bytes}, &W::bytes},
      {{"share", "", Kind::percent}, [=](const W &w) { return share_of(w.bytes, live); }},
      {{"count", "", Kind::count}, &W::count},
      {{"kind", "", Kind::text}, [](const W &w) { return name_of(w.kind); }},
      {{"what", "", Kind::text}, &W::what},
      {{"field", "", Kind::text},
       &W::field}}.table("waste", "", waste.rows);
  table.shown = Shown::in_data;
  return table;
}

constexpr u64 most_told = 3;        // rows of waste, and neighbours of holes
constexpr double least_told = 0.01; // share of the live bytes, or of the holes
constexpr double least_holes = 0.1; // share of holes in the heap; smaller ones are not examined
constexpr u64 least_hole_bytes = 1 << 20;

std::string figures(u64 part, u64 whole) {
  return fmt::format("    {:>10} {:>5.1f}%", bytes_text(part), 100 * share_of(part, whole));
}

Table waste_as_text(const Waste &waste, u64 live, const Question &question) {
  std::vector<Row> rows;
  for (const WasteRow &row : waste.rows)
    if (rows.size() < most_told && share_of(row.bytes, live) >= least_told)
      rows.push_back({figures(row.bytes, live), waste_text(row)});
  Table table = figures_table(
      "waste_text", fmt::format("Waste: {} of the {} that are alive", bytes_text(waste.bytes), bytes_text(live)),
      std::move(rows));
  table.notes.push_back("see all: dnheap waste " + shell_word(question.target) + " --live");
  return table;
}

// Returns "1,500 holes beside Byte[], pinned (handle:pinned)".
std::string beside_text(Snapshot &snapshot, const BesideHoles &one) {
  const std::string type =
      one.method_table ? brief_type_name(snapshot.runtime().types().name(one.method_table)) : "nothing";
  return fmt::format("{} {} beside {}", count_text(one.holes.count), one.holes.count == 1 ? "hole" : "holes", type) +
         (one.pin.empty() ? "" : fmt::format(", pinned ({})", one.pin));
}

Table fragmentation_table(Snapshot &snapshot, const std::optional<Fragmentation> &holes) {
  using B = BesideHoles;
  const u64 whole = holes ? holes->total().bytes : 0;
  Table table = report::ColumnsOf<B>{
      {{"bytes", "", Kind::bytes}, [](const B &b) { return b.holes.bytes; }},
      {{"share", "", Kind::percent}, [=](const B &b) { return share_of(b.holes.bytes, whole); }},
      {{"count", "", Kind::count}, [](const B &b) { return b.holes.count; }},
      {{"pin", "", Kind::text}, [](const B &b) { return report::text_cell(b.pin); }},
      {{"type", "", Kind::text}, [&](const B &b) {
         return b.method_table ? Cell(snapshot.runtime().types().name(b.method_table)) : Cell();
       }}}.table("fragmentation", "", holes ? holes->beside : std::vector<B>());
  table.shown = Shown::in_data;
  return table;
}

Table fragmentation_as_text(Snapshot &snapshot, const Fragmentation &holes, u64 whole, const Question &question) {
  const HoleSum all = holes.total();
  std::vector<Row> rows;
  for (const BesideHoles &one : holes.beside)
    if (rows.size() < most_told && share_of(one.holes.bytes, all.bytes) >= least_told)
      rows.push_back({figures(one.holes.bytes, all.bytes), beside_text(snapshot, one)});
  Table table = figures_table("fragmentation_text",
                              fmt::format("Holes between objects: {} in {}, {:.0f} % of the heap, the largest {}",
                                          bytes_text(all.bytes), count_text(all.count),
                                          100 * share_of(all.bytes, whole), bytes_text(all.largest)),
                              std::move(rows));
  table.notes.push_back("all of them: dnheap frag " + shell_word(question.target));
  return table;
}

u64 finalizer_objects(Snapshot &snapshot) {
  const std::vector<Root> &roots = snapshot.roots().roots;
  return static_cast<u64>(
      std::count_if(roots.begin(), roots.end(), [](const Root &root) { return root.kind == RootKind::finalizer; }));
}

u64 pinned_objects(Snapshot &snapshot) {
  const std::vector<Root> &roots = snapshot.roots().roots;
  return static_cast<u64>(std::count_if(roots.begin(), roots.end(), [](const Root &root) {
    return root.kind == RootKind::handle &&
           (root.handle == HandleType::pinned || root.handle == HandleType::async_pinned);
  }));
}

VerdictFacts facts_of(Snapshot &snapshot, const AccountMap &map, const Suspects &suspects) {
  VerdictFacts out;
  out.process = map.mapped - map.of(reserved).bytes;
  out.live = suspects.live_bytes;
  out.dead = map.of(dead_objects).bytes;
  out.free_inside = map.of(free_objects).bytes;
  out.gc_empty = bytes_of(map, {gc_behind_objects, gc_free_regions, gc_to_decommit, allocation_contexts});
  out.heap =
      out.gc_empty + bytes_of(map, {objects, live_objects, dead_objects, frozen_objects, free_objects, gc_not_walked});
  out.runtime = bytes_of(map, of_runtime);
  out.malloc_in_use = bytes_of(map, {malloc_in_use, malloc_large});
  out.malloc_free = bytes_of(map, {malloc_cached, malloc_free, malloc_top});
  out.other_allocators = map.other_allocators;
  out.perhaps_theirs = map.perhaps_theirs;
  out.stacks = bytes_of(map, {stacks_in_use, stacks_below});
  out.threads = map.of(stacks_in_use).pieces;
  out.pinned = pinned_objects(snapshot);
  out.finalizer_objects = finalizer_objects(snapshot);
  bool has_many = false; // the suspect's type has many objects
  for (const Suspect &s : suspects.list) {
    if (s.owner == name_of(RootKind::finalizer))
      out.finalizers_text = out.finalizers ? out.finalizers_text : s.text(), out.finalizers += s.retained;
    if (s.is_own)
      out.largest = std::max(out.largest, s.retained);
    if (!s.by_chance && s.owner != name_of(RootKind::finalizer) && s.retained > out.holder) {
      out.holder = s.retained;
      out.holder_elements = s.elements;
      out.holder_text = s.way() + ": " + s.text();
    }
    if (s.is_own && s.elements >= least_elements && s.retained * 10 >= out.live) {
      ++out.large_suspects;
      out.large_suspects_bytes += s.retained;
      out.large_suspects_text += fmt::format("{}{} ({:.0f} %)", out.large_suspects_text.empty() ? "" : ", ", s.way(),
                                             100 * share_of(s.retained, out.live));
    }
    const bool is_many = s.elements >= least_elements || s.kept[index_of(KeptKind::context)];
    if (s.is_own && (is_many || !has_many) && (s.retained > out.suspect || is_many > has_many)) {
      has_many = is_many;
      out.suspect = s.retained;
      out.suspect_elements = s.elements;
      out.suspect_text = s.text();
      out.suspect_way = s.way();
      out.suspect_contexts = s.kept[index_of(KeptKind::context)];
      out.suspect_http_clients = s.kept[index_of(KeptKind::http_client)];
      out.suspect_db_connections = s.kept[index_of(KeptKind::db_connection)];
    }
  }
  out.http_clients_field = suspects.kept.held_by[index_of(KeptKind::http_client)];
  out.db_connections_field = suspects.kept.held_by[index_of(KeptKind::db_connection)];
  return out;
}

// Returns "Plugin" for "Plugin1", "Plugin42": assemblies made in a series differ in a number.
std::string without_number(std::string_view name) {
  if (name.ends_with(".dll"))
    name.remove_suffix(4);
  std::string out;
  for (char c : name)
    if (c < '0' || c > '9')
      out += c;
    else if (!out.ends_with('#'))
      out += '#';
  return out;
}

// Libraries that generate assemblies, by the names of these, with advice.
struct Maker {
  const char *assembly, *words;
};
constexpr Maker makers[] = {
    {"Microsoft.GeneratedCode", "XmlSerializer makes one for each instance that is made with more than a type: keep "
                                "these instances, and use them again"},
    {"DynamicProxyGenAssembly2", "Castle's ProxyGenerator makes these: one generator is enough"},
    {"ℛ*", "C# scripts are compiled to these: each compiled script stays"},
};

// Returns the static field that leads to most of some assembly objects.
std::string holder_of_assemblies(Snapshot &snapshot) {
  constexpr u64 looked_at = 256;
  std::vector<TypedObject> objects = objects_that(snapshot, [&](Address type) {
    return snapshot.runtime().types().name(type) == "System.Reflection.RuntimeAssembly";
  });
  std::reverse(objects.begin(), objects.end()); // the program's own assemblies were loaded first
  if (objects.size() > looked_at)
    objects.resize(looked_at);
  if (objects.empty())
    return "";
  const std::shared_ptr<const RankedPaths> paths = ranked_paths(snapshot);
  std::map<std::string, u64> counts;
  for (const TypedObject &object : objects)
    if (const ObjectId id = snapshot.index().find(object.address); id != no_object)
      if (const std::optional<OwnedPath> path = paths->find(id))
        if (const WayOwner owner = way_owner(snapshot, path->owner);
            owner.is_static && owner.name.find('<') == owner.name.npos) // skip fields without a readable name
          ++counts[owner.name];
  for (const auto &[name, count] : counts)
    if (count * 2 > objects.size())
      return name + " leads to most of them";
  return "";
}

void add_assemblies(Snapshot &snapshot, VerdictFacts &facts) {
  std::map<std::string, std::pair<u64, std::string>> names; // name without number → count, first name
  for (const LoadedAssembly &one : snapshot.assemblies())
    if (one.path.empty() && !one.is_framework) {
      ++facts.made_assemblies;
      auto &[count, first] = names[without_number(one.name)];
      if (!count++)
        first = one.name;
    }
  u64 most = 0;
  for (const auto &[name, sum] : names)
    if (sum.first > most) {
      most = sum.first;
      facts.made_assemblies_name = sum.first == 1 ? sum.second
                                                  : fmt::format("{} called \"{}\"{}", count_text(sum.first), sum.second,
                                                                name.find('#') == name.npos ? "" : " and alike");
      facts.made_assemblies_by.clear();
      for (const Maker &maker : makers)
        if (sum.second.starts_with(maker.assembly))
          facts.made_assemblies_by = maker.words;
    }
  if (facts.made_assemblies >= many_assemblies && facts.made_assemblies_by.empty())
    facts.made_assemblies_by = holder_of_assemblies(snapshot);
}

// Equal arrays do not count: often they are buffers that nothing was written to yet.
bool are_copies(const WasteRow &row) {
  return row.kind == WasteKind::duplicate_strings || row.kind == WasteKind::duplicate_objects;
}

void add_waste(const Waste &waste, VerdictFacts &facts) {
  facts.waste = waste.bytes;
  if (!waste.rows.empty())
    facts.waste_text = waste_text(waste.rows[0]);
  for (const WasteRow &row : waste.rows)
    if (are_copies(row)) {
      if (!facts.copies)
        facts.copies_text = waste_text(row);
      facts.copies += row.bytes;
    }
}

std::string next_command(const MemoryVerdict &verdict, const Suspects &suspects, const Question &question) {
  const std::string target = shell_word(question.target);
  if (*verdict.verb)
    return fmt::format("dnheap {} {}{}", verdict.verb, target, verdict.options);
  return suspects.list.empty() ? "dnheap stat " + target : next_of(question, 1);
}

} // namespace

Plan plan_report(const Question &) {
  Plan plan(Pass::tally | Pass::roots);
  foresee_suspects(plan);
  return plan.then("waste").then("holders").perhaps("walk").perhaps("tasks").perhaps("headers");
}

report::Answer answer_report(Snapshot &snapshot, const Question &question) {
  const bool is_process = snapshot.target().container == "process";
  // For a dump this would be one more look at all of it.
  const std::optional<ResidentPages> resident = is_process ? resident_pages(snapshot) : std::nullopt;
  report::Answer answer = begin_answer(snapshot, "report");
  const Suspects suspects = find_suspects(snapshot, names_called(snapshot, question.hubs));
  const AccountMap map = make_account_map(snapshot, resident, suspects.live->by_segment);
  const Waste waste = find_live_waste(snapshot, suspects.live->all);
  VerdictFacts facts = facts_of(snapshot, map, suspects);
  add_waste(waste, facts);
  add_assemblies(snapshot, facts);
  const u64 with_holes = facts.live + facts.dead + facts.free_inside;
  std::optional<Fragmentation> holes;
  if (facts.free_inside >= least_hole_bytes && share_of(facts.free_inside, with_holes) >= least_holes)
    holes = find_holes(snapshot);
  if (holes && !holes->beside.empty())
    facts.beside_holes = beside_text(snapshot, holes->beside[0]);
  const HangFacts hang_facts = find_hangs(snapshot);
  facts.finalizer_place = hang_facts.finalizer_text;
  facts.threads_place = hang_facts.threads_text;
  Notes &notes = answer.completeness->notes;
  notes.add_all(map.notes);
  notes.add_all(waste.notes.up_to(Effect::none)); // one of several tables
  if (!hang_facts.note.empty())
    notes.add(hang_facts.note);
  add_root_notes(snapshot, answer);
  add_reference_notes(snapshot, answer);
  facts.knows_all_roots = knows_all_roots(snapshot);
  facts.is_incomplete = !answer.completeness->complete() || !facts.knows_all_roots;
  const MemoryVerdict verdict = judge(facts);
  const HangVerdict hang = judge_hang(hang_facts);
  add_crash(snapshot, answer);
  const bool is_of_memory = verdict.rule != "nothing";
  const bool tells_crash_alone = !answer.lead.empty() && !is_of_memory; // memory was not the reason
  if (!hang.rule.empty())
    answer.lead += (answer.lead.empty() ? "" : "\n\n") + hang.text;
  if (!tells_crash_alone && (is_of_memory || hang.rule.empty()))
    answer.lead += (answer.lead.empty() ? "" : "\n\n") + verdict.text;
  answer.target.push_back(
      {"verdict", std::vector<report::Fact>{{"rule", verdict.rule},
                                            {"text", verdict.text},
                                            {"bytes", verdict.bytes},
                                            {"hang", report::text_cell(hang.rule)},
                                            {"hang_text", hang.rule.empty() ? Cell() : Cell(hang.text)}}});
  answer.tables.push_back(account_table(map, is_process, false));
  answer.tables.push_back(suspects_table(suspects, question));
  answer.tables.push_back(where_table(map, snapshot.target(), facts.knows_all_roots));
  answer.tables.push_back(suspects_text(suspects, question));
  answer.tables.push_back(waste_table(waste, facts.live));
  if (!waste.rows.empty() && share_of(waste.rows[0].bytes, facts.live) >= least_told)
    answer.tables.push_back(waste_as_text(waste, facts.live, question));
  answer.tables.push_back(fragmentation_table(snapshot, holes));
  if (holes)
    answer.tables.push_back(fragmentation_as_text(snapshot, *holes, with_holes, question));
  add_name_notes(snapshot, answer);
  if (tells_crash_alone)
    answer.next_command = "dnheap exceptions " + shell_word(question.target);
  else if (!hang.rule.empty() && !is_of_memory)
    answer.next_command = std::string("dnheap ") + hang.verb + " " + shell_word(question.target);
  else
    answer.next_command = next_command(verdict, suspects, question);
  return answer;
}

} // namespace dnheap
