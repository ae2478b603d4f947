// `report`: the state of a program on one screen: a verdict, the use of memory, and the owners of most of it.
#include "analysis/answer_head.h"
#include "analysis/findings/activity.h"
#include "analysis/findings/all_clear.h"
#include "analysis/findings/examination.h"
#include "analysis/findings/find_findings.h"
#include "analysis/findings/paragraphs.h"
#include "analysis/names/brief_type_name.h"
#include "analysis/names/compiled_names.h"
#include "analysis/names/named_types.h"
#include "analysis/owners/signature.h"
#include "analysis/shapes/gc_memory_info.h"
#include "analysis/suspects/suspect_code.h"
#include "analysis/verbs/tables/account_table.h"
#include "analysis/verbs/tables/activity_table.h"
#include "analysis/verbs/tables/figures_table.h"
#include "analysis/verbs/verbs.h"
#include "analysis/verdict/crash.h"
#include "analysis/verdict/hangs.h"
#include "analysis/verdict/heap_damage.h"
#include "base/share.h"
#include "base/text.h"
#include "report/columns_of.h"
#include "target/heap_record.h"

#include <algorithm>
#include <fmt/format.h>

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

constexpr Line lines[] = {
    {"live objects, and all frozen ones", {objects, live_objects, frozen_objects}},
    {"garbage, not collected yet", {dead_objects}},
    {"free between objects", {free_objects}},
    {"committed by the GC, empty", {gc_behind_objects, gc_free_regions, gc_to_decommit, allocation_contexts}},
    {"heap that could not be walked", {gc_not_walked}},
    {"runtime: GC's tables, loader heaps, code", classes_of_runtime},
    {"malloc: in use", {malloc_in_use, malloc_large, malloc_not_walked}},
    {"malloc: freed, or not handed out", {malloc_cached, malloc_free, malloc_top}},
    {"stacks of threads: in use", {stacks_in_use}},
    {"stacks: reserved, unused", {stacks_below}},
    {"programs, libraries, mapped files", {images, mapped_files}},
    {"shared memory", {shared_memory}},
    {"not identified", {kernel, not_identified}},
};

constexpr const char *maybe_dead = "dead objects, or held by roots that could not be read";

// Returns the GC's limit, if it is one that somebody set or a container's; else empty. Costs a look at the settings.
std::string limit_note(const Snapshot &snapshot) {
  const std::optional<GCMemoryInfo> info = find_gc_memory_info(snapshot).newest;
  if (!info || !info->has_own_limit())
    return "";
  return fmt::format("the GC may use {}: {}", bytes_text(info->limit),
                     origin_of_limit(*info, find_gc_settings(snapshot)));
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
    if (const u64 bytes = map.sum_of(line.classes))
      parts.push_back({bytes, share_of(bytes, whole), &line});
  using P = Part;
  Table table =
      report::ColumnsOf<P>{{{"bytes", "Mapped", Kind::bytes}, &P::bytes},
                           {{"part", is_process ? "Resident" : "In dump", Kind::bytes},
                            [&](const P &p) {
                              if (is_process)
                                return map.resident ? Cell(map.sum_of(p.line->classes, &ClassSum::resident_high))
                                                    : Cell();
                              return Cell(map.sum_of(p.line->classes, &ClassSum::stored));
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
  for (const std::string &hub : question.hubs) // without these options the suspects would have other numbers
    out += " --hub " + shell_word(hub);
  return out;
}

Table suspects_table(const Suspects &suspects, std::span<const OtherOwners> others, std::span<const std::string> codes,
                     const Question &question) {
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
      {{"also_owners", "", Kind::text},
       [&](const S &s) { return rank(s) <= others.size() ? report::text_cell(others[rank(s) - 1].text()) : Cell(); }},
      {{"code", "", Kind::text},
       [&](const S &s) { return rank(s) <= codes.size() ? report::text_cell(codes[rank(s) - 1]) : Cell(); }},
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

// Makes a table for people with two or three lines per suspect.
Table suspects_text(const Suspects &suspects, std::span<const OtherOwners> others, std::span<const std::string> codes,
                    const Question &question) {
  const u64 most = question.top_is_asked ? (question.top ? question.top : ~u64{0}) : 5;
  std::vector<Row> rows;
  for (u64 i = 0; i < std::min<u64>(suspects.list.size(), most); ++i) {
    const Suspect &s = suspects.list[i];
    rows.push_back({fmt::format("@{:<3}{:>10} {:>5.1f}%", i + 1, bytes_text(s.retained),
                                100 * share_of(s.retained, suspects.live_bytes)),
                    s.way() + "  [" + short_signature(s.signature) + "]"});
    rows.push_back({"", s.text() + (s.by_chance ? " (words on a stack: may be chance)" : "")});
    if (i < others.size() && !others[i].names.empty())
      rows.push_back({"", fmt::format("held as well by {}: freed only when all of them let go", others[i].text())});
    if (const std::string also = s.also_text(); !also.empty())
      rows.push_back({"", also});
    if (i < codes.size() && !codes[i].empty())
      rows.push_back({"", codes[i]});
  }
  Table table = figures_table("suspects_text",
                              fmt::format("Who holds most of the {} that are alive (what would be freed if it let go)",
                                          bytes_text(suspects.live_bytes)),
                              std::move(rows));
  if (suspects.list.empty())
    table.notes.push_back("no owner holds 2 % of these bytes");
  else if (suspects.list.size() > most)
    table.notes.push_back(fmt::format("… {} more; --top 0 shows all", suspects.list.size() - most));
  return table;
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

constexpr u64 most_findings = 6;    // paragraphs; the others are in the data
constexpr u64 most_activities = 6;  // groups of threads and calls: one screen has room for few
constexpr u64 most_told = 3;        // rows of waste, and neighbours of holes
constexpr double least_told = 0.01; // share of the live bytes, or of the holes

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

Table fragmentation_table(const Snapshot &snapshot, const std::optional<Fragmentation> &holes) {
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

Table fragmentation_as_text(const Snapshot &snapshot, const Fragmentation &holes, u64 whole, const Question &question) {
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

bool has_harm(const std::vector<Finding> &findings, EnumSet<Harm> harms) {
  return std::ranges::any_of(findings, [&](const Finding &one) { return harms.has(one.harm); });
}

// Returns the verb that shows more of what the program does: of the group with which to begin, else of the largest
// group of threads or calls. Empty if there is none, or if a suspect is large enough to be the better question.
std::string verb_of(const Activities &activities, const Suspects &suspects) {
  constexpr u64 small = u64{4} << 20;
  const bool is_large = !suspects.list.empty() && suspects.list.front().retained >= small &&
                        share_of(suspects.list.front().retained, suspects.live_bytes) >= 0.5;
  if (is_large)
    return "";
  if (const std::string_view begin = verb_to_begin(activities); !begin.empty())
    return std::string(begin);
  for (const Activity &one : activities.list)
    if (!one.method.empty())
      return one.who == Activity::Who::threads ? "threads" : "async";
  return "";
}

constexpr u64 least_held = u64{1} << 20; // bytes, for an owner that is worth a path to it

// Returns the verb that shows more where no owner holds enough to be looked at.
std::string verb_without_owner(const Snapshot &snapshot, const VerdictFacts &facts) {
  if (!facts.has_threads)
    return "stat";
  const u64 elsewhere = facts.process - std::min(facts.process, facts.heap + facts.stacks);
  constexpr u64 much = u64{256} << 20; // libraries and code take less
  return elsewhere >= much && elsewhere > facts.heap && snapshot.target().container != "process" ? "account"
                                                                                                 : "threads";
}

std::string command_of(const Finding &finding, const Suspects &suspects, const Question &question) {
  const std::string target = shell_word(question.target);
  if (!finding.verb.empty())
    return fmt::format("dnheap {} {}{}", finding.verb, target, finding.options);
  return suspects.list.empty() ? "dnheap stat " + target : next_of(question, 1);
}

// Returns one paragraph for each finding; the first one's command is the answer's next. Another command ends its
// paragraph, without a stop, so that it can be copied.
std::string lead_of(const std::vector<Finding> &findings, const Suspects &suspects, const Question &question) {
  const u64 most = question.top_is_asked ? (question.top ? question.top : ~u64{0}) : most_findings;
  std::string out;
  for (u64 i = 0; i < std::min<u64>(findings.size(), most); ++i) {
    out += (i ? "\n\n" : "") + findings[i].text;
    const std::string command = command_of(findings[i], suspects, question);
    if (!findings[i].verb.empty() && command != command_of(findings.front(), suspects, question))
      out += " See: " + command;
  }
  if (findings.size() > most)
    out += fmt::format("\n\n… {} more findings; --top 0 shows all", findings.size() - most);
  return out;
}

Table findings_table(const std::vector<Finding> &findings, const Suspects &suspects, const Question &question) {
  using F = Finding;
  auto known = [](u64 F::*member) { return [member](const F &f) { return f.*member ? Cell(f.*member) : Cell(); }; };
  Table table = report::ColumnsOf<F>{
      {{"kind", "", Kind::text}, &F::kind},
      {{"harm", "", Kind::text}, [](const F &f) { return name_of(f.harm); }},
      {{"sureness", "", Kind::text}, [](const F &f) { return name_of(f.sureness); }},
      {{"text", "", Kind::text}, &F::text},
      {{"count", "", Kind::count}, known(&F::count)},
      {{"bytes", "", Kind::bytes}, known(&F::bytes)},
      {{"example", "", Kind::address}, known(&F::example)},
      {{"next", "", Kind::text}, [&](const F &f) {
         return command_of(f, suspects, question);
       }}}.table("findings", "", findings);
  table.shown = Shown::in_data;
  return table;
}

} // namespace

namespace {

// A dump without heap shows what ended the process, and where its threads are. Whatever rests on objects is left out:
// pieces of the heap would show wrong numbers.
report::Answer report_without_heap(const Snapshot &snapshot, const Question &question) {
  report::Answer answer = begin_answer(snapshot, "report", HeapSum::none);
  const std::optional<Crash> crash = add_crash(snapshot, answer);
  SourceLines lines(snapshot);
  const Activities activities =
      find_activities(snapshot, find_standing_threads(snapshot, lines), lines, most_activities);
  answer.completeness->notes.add_all(lines.notes());
  const std::vector<Finding> findings = crash ? std::vector{finding_of(*crash)} : std::vector<Finding>();
  constexpr const char *no_memory =
      "This dump holds no heap, so memory and asynchronous calls are unknown: to see them, "
      "take one with createdump --withheap PID, or with DOTNET_DbgMiniDumpType=2.";
  answer.lead = crash ? crash->text + "\n\n" + no_memory : no_memory;
  answer.tables.push_back(findings_table(findings, {}, question));
  answer.tables.push_back(activity_table(activities));
  if (!activities.list.empty())
    answer.tables.push_back(activity_as_text(activities, question));
  add_name_notes(snapshot, answer);
  const Finding nothing = {.kind = {}, .text = {}, .verb = "threads"};
  answer.next_command = command_of(crash ? findings.front() : nothing, {}, question);
  return answer;
}

// True if the runtime itself failed while it moved objects.
bool is_in_collection(const Snapshot &snapshot, const Crash &crash) {
  Notes noted_elsewhere;
  const Runtime &runtime = snapshot.runtime();
  return runtime.gc_structures_valid(noted_elsewhere) == false &&
         crash.text.find(": in " + std::string(runtime.module().file_name())) != std::string::npos;
}

// Returns the code behind the suspect that the verdict is about; empty: unknown.
std::string code_of_holder(const Suspects &suspects, u64 bytes, const std::vector<std::string> &codes) {
  for (u64 i = 0; i < codes.size(); ++i)
    if (suspects.list[i].retained == bytes)
      return codes[i];
  return "";
}

// A collection fails where objects were overwritten: where they were is nearer to the fault than where it failed.
void lead_with_damage(const Snapshot &snapshot, Crash &crash) {
  const std::string damage = crash.is_in_native ? heap_damage(snapshot) : "";
  if (damage.empty() && crash.is_in_native && is_in_collection(snapshot, crash))
    crash.text +=
        ". It was in the GC, which was moving objects: it ends so where unsafe or native code has overwritten "
        "objects, or the room behind an array";
  if (damage.empty())
    return;
  crash = {.text = damage + ". The process was " + crash.text, .verb = "verify", .options = ""};
  crash.text.front() = 'T';
}

} // namespace

Plan plan_report(const Question &) { return plan_examination(); }

report::Answer answer_report(const Snapshot &snapshot, const Question &question) {
  if (!snapshot.runtime().why_no_heap().empty())
    return report_without_heap(snapshot, question);
  report::Answer answer = begin_answer(snapshot, "report");
  Examination examined = examine(snapshot, names_called(snapshot, question.hubs));
  const bool is_process = snapshot.target().container == "process";
  const Suspects &suspects = examined.suspects;
  answer.completeness->notes.add_all(examined.notes);
  add_root_notes(snapshot, answer);
  add_reference_notes(snapshot, answer);
  const bool is_incomplete = !answer.completeness->complete() || !examined.facts.knows_all_roots;
  std::optional<Crash> crash = add_crash(snapshot, answer);
  if (crash)
    lead_with_damage(snapshot, *crash);
  const std::vector<HangVerdict> hangs = judge_hangs(examined.hangs);
  const Activities activities = find_activities(snapshot, examined.standing, *examined.lines, most_activities);
  if (hangs.empty() && !crash)
    examined.facts.activity = where_to_begin(activities);
  const std::vector<MemoryVerdict> verdicts = judge(examined.facts, is_incomplete);
  const MemoryVerdict &verdict = verdicts.front();
  const std::vector<Finding> findings = findings_of(snapshot, examined, verdicts, hangs, crash);
  answer.completeness->notes.add_all(examined.lines->notes());
  const u64 live = examined.facts.live;
  const bool is_worth_a_look = live >= least_held || question.top_is_asked; // else the runtime's own few statics
  const std::vector<std::string> codes =
      is_worth_a_look ? code_texts(snapshot, suspects.list) : std::vector<std::string>();
  const MemoryVerdict explained = with_code(verdict, code_of_holder(suspects, verdict.bytes, codes));
  const std::vector<Finding> paragraphs = paragraphs_of(findings, explained, examined.facts);
  answer.lead = paragraphs.empty() ? explained.text : lead_of(paragraphs, suspects, question);
  if (findings.empty() && verdict.is_size_alone && !examined.facts.activity.empty())
    answer.lead += " " + examined.facts.activity;
  if (snapshot.target().record)
    answer.lead += fmt::format(" This is {}: threads, locks and contents of objects are not in it.",
                               snapshot.target().record->source);
  else if (findings.empty() && !is_incomplete)
    answer.lead += all_clear(examined, activities, verdict.text.find("No memory problem") != std::string::npos);
  answer.target.push_back(
      {"verdict", std::vector<report::Fact>{{"rule", verdict.rule},
                                            {"text", verdict.text},
                                            {"bytes", verdict.bytes},
                                            {"hang", hangs.empty() ? Cell() : Cell(hangs.front().rule)},
                                            {"hang_text", hangs.empty() ? Cell() : Cell(hangs.front().text)}}});
  answer.tables.push_back(account_table(examined.map, is_process, false));
  answer.tables.push_back(suspects_table(suspects, examined.others, codes, question));
  answer.tables.push_back(findings_table(findings, suspects, question));
  answer.tables.push_back(activity_table(activities));
  // What the program does comes first where it may be the question, and last where the memory is.
  const bool has_failed = crash && !crash->is_sent;
  const bool is_explained = has_failed || has_harm(findings, {Harm::hang}) || activities.list.empty();
  const bool is_of_memory = has_harm(findings, {Harm::memory, Harm::resource});
  if (!is_explained && !is_of_memory)
    answer.tables.push_back(activity_as_text(activities, question));
  answer.tables.push_back(where_table(examined.map, snapshot.target(), examined.facts.knows_all_roots));
  if (const std::string note = limit_note(snapshot); !note.empty())
    answer.tables.back().notes.push_back(note);
  if (is_worth_a_look)
    answer.tables.push_back(suspects_text(suspects, examined.others, codes, question));
  answer.tables.push_back(waste_table(examined.waste, live));
  if (is_worth_a_look && !examined.waste.rows.empty() && share_of(examined.waste.rows[0].bytes, live) >= least_told)
    answer.tables.push_back(waste_as_text(examined.waste, live, question));
  answer.tables.push_back(fragmentation_table(snapshot, examined.holes));
  if (examined.holes)
    answer.tables.push_back(fragmentation_as_text(snapshot, *examined.holes, examined.facts.in_heap(), question));
  if (!is_explained && is_of_memory)
    answer.tables.push_back(activity_as_text(activities, question));
  add_name_notes(snapshot, answer);
  Finding first = {.kind = {}, .text = {}, .verb = verb_of(activities, suspects)};
  if (!paragraphs.empty())
    first = paragraphs.front();
  const bool has_owner = !suspects.list.empty() && suspects.list.front().retained >= least_held;
  if (has_owner && is_harmless_rule(first.kind)) // who holds what is alive matters more than what is not
    first.verb.clear();
  if (first.verb.empty() && !has_owner && !suspects.list.empty())
    first.verb = verb_without_owner(snapshot, examined.facts), first.options.clear();
  answer.next_command = command_of(first, suspects, question);
  return answer;
}

} // namespace dnheap
