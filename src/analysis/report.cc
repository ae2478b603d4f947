// `report`: what is going on, on one screen: a verdict, where the memory is, who holds most of it.
#include "analysis/account_table.h"
#include "analysis/answer_head.h"
#include "analysis/crash.h"
#include "analysis/signature.h"
#include "analysis/suspects.h"
#include "analysis/verbs.h"
#include "analysis/verdict.h"
#include "base/share.h"
#include "base/text.h"
#include "objects/object_index.h"
#include "objects/roots.h"

#include <algorithm>
#include <fmt/format.h>

namespace dnheap {

namespace {

using report::Cell;
using report::Kind;
using report::Row;
using report::Shown;
using report::Table;

// Classes that are one line of the screen.
struct Line {
  const char *text;
  EnumSet<MemoryClass> classes;
};

using enum MemoryClass;

constexpr Line lines[] = {
    {"live objects", {objects, live_objects, frozen_objects}},
    {"dead objects, not collected yet", {dead_objects}},
    {"free between objects", {free_objects}},
    {"committed by the GC, empty", {gc_behind_objects, gc_free_regions, gc_to_decommit, allocation_contexts}},
    {"heap that could not be walked", {gc_not_walked}},
    {"runtime: GC's tables, loader heaps, code",
     {gc_bookkeeping, gc_other, handle_tables, jit_code, runtime_stubs, loader_heaps, runtime_other}},
    {"malloc: in use", {malloc_in_use, malloc_large, malloc_not_walked}},
    {"malloc: freed, or not handed out", {malloc_cached, malloc_free, malloc_top}},
    {"stacks of threads", {stacks_in_use, stacks_below}},
    {"programs, libraries, mapped files", {images, mapped_files}},
    {"shared memory", {shared_memory}},
    {"not identified", {kernel, not_identified}},
};

u64 bytes_of(const AccountMap &map, EnumSet<MemoryClass> classes, u64 ClassSum::*member = &ClassSum::bytes) {
  u64 out = 0;
  for (u32 i = 0; i < memory_class_count; ++i)
    if (classes.has(static_cast<MemoryClass>(i)))
      out += map.of(static_cast<MemoryClass>(i)).*member;
  return out;
}

Table where_table(const AccountMap &map, bool is_process) {
  Table table;
  table.name = "where";
  table.title = "Where it is";
  table.shown = Shown::in_text;
  table.whole = true;
  table.columns = {{"bytes", "Mapped", Kind::bytes},
                   {"part", is_process ? "Resident" : "In dump", Kind::bytes},
                   {"share", "Share", Kind::percent},
                   {"what", "", Kind::text},
                   {"bar", "", Kind::bar, Shown::in_text}};
  const u64 whole = map.mapped - map.of(reserved).bytes;
  auto part = [&](const EnumSet<MemoryClass> &classes) -> Cell {
    if (is_process)
      return map.resident ? Cell(bytes_of(map, classes, &ClassSum::resident_high)) : Cell();
    return bytes_of(map, classes, &ClassSum::stored);
  };
  std::vector<Row> rows;
  for (const Line &line : lines)
    if (const u64 bytes = bytes_of(map, line.classes))
      rows.push_back({bytes, part(line.classes), share_of(bytes, whole), line.text, share_of(bytes, whole)});
  table.set_rows(std::move(rows));
  table.total = Row{whole, is_process ? Cell(map.resident) : Cell(map.stored), 1.0, "total, each byte once", Cell()};
  return table;
}

std::vector<Cell> steps_of(const Suspect &suspect) {
  std::vector<Cell> out;
  for (const Suspect::Step &step : suspect.steps)
    out.push_back(std::vector<report::Fact>{{"address", hex(step.address)},
                                            {"type", step.type},
                                            {"field", step.field.empty() ? Cell() : Cell(step.field)}});
  return out;
}

std::string next_of(const Question &question, u64 number) {
  return fmt::format("dnheap path {} @{}", shell_word(question.target), number);
}

Table suspects_table(const Suspects &suspects, const Question &question) {
  Table table;
  table.name = "suspects";
  table.shown = Shown::in_data;
  table.columns = {{"rank", "", Kind::number},
                   {"kind", "", Kind::text},
                   {"owner", "", Kind::text},
                   {"text", "", Kind::text},
                   {"retained", "", Kind::bytes},
                   {"share", "", Kind::percent},
                   {"objects", "", Kind::count},
                   {"element", "", Kind::text},
                   {"elements", "", Kind::count},
                   {"own", "", Kind::boolean},
                   {"conservative", "", Kind::boolean},
                   {"signature", "", Kind::text},
                   {"address", "", Kind::address},
                   {"path", "", Kind::nested},
                   {"next", "", Kind::text}};
  std::vector<Row> rows;
  for (const Suspect &s : suspects.list)
    rows.push_back({u64{rows.size() + 1}, name_of(s.kind), s.owner, s.text(), s.retained,
                    share_of(s.retained, suspects.live_bytes), s.objects, s.element.empty() ? Cell() : Cell(s.element),
                    s.elements, s.is_own, s.by_chance, s.signature, s.example ? Cell(s.example) : Cell(), steps_of(s),
                    next_of(question, rows.size() + 1)});
  table.set_rows(std::move(rows));
  return table;
}

// For people: two lines each.
Table suspects_text(const Suspects &suspects, const Question &question) {
  const u64 most = question.top_is_asked ? (question.top ? question.top : ~u64{0}) : 5;
  Table table;
  table.name = "suspects_text";
  table.title =
      fmt::format("Who holds most of the {} that are alive (freed if it let go)", bytes_text(suspects.live_bytes));
  table.shown = Shown::in_text;
  table.whole = true;
  table.columns = {{"figures", "", Kind::text}, {"text", "", Kind::text, Shown::everywhere, true}};
  std::vector<Row> rows;
  for (u64 i = 0; i < std::min<u64>(suspects.list.size(), most); ++i) {
    const Suspect &s = suspects.list[i];
    rows.push_back({fmt::format("@{:<3}{:>10} {:>5.1f}%", i + 1, bytes_text(s.retained),
                                100 * share_of(s.retained, suspects.live_bytes)),
                    s.way() + "  [" + short_signature(s.signature) + "]"});
    rows.push_back({"", s.text() + (s.by_chance ? " (words on a stack: may be chance)" : "")});
  }
  table.set_rows(std::move(rows));
  if (suspects.list.empty())
    table.notes.push_back("nobody holds 2 % of it");
  else if (suspects.list.size() > most)
    table.notes.push_back(fmt::format("… {} more; --top 0 shows all", suspects.list.size() - most));
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
  out.malloc_in_use = bytes_of(map, {malloc_in_use, malloc_large});
  out.malloc_free = bytes_of(map, {malloc_cached, malloc_free, malloc_top});
  out.stacks = bytes_of(map, {stacks_in_use, stacks_below});
  out.threads = map.of(stacks_in_use).pieces;
  out.pinned = pinned_objects(snapshot);
  out.finalizer_objects = finalizer_objects(snapshot);
  for (const Suspect &s : suspects.list) {
    if (s.owner == name_of(RootKind::finalizer))
      out.finalizers += s.retained;
    if (s.is_own && s.retained > out.suspect) {
      out.suspect = s.retained;
      out.suspect_elements = s.elements;
      out.suspect_text = s.text();
      out.suspect_way = s.way();
    }
  }
  return out;
}

} // namespace

Plan plan_report(const Question &) {
  Plan plan(Pass::tally | Pass::roots);
  foresee_suspects(plan);
  return plan.then("walk");
}

report::Answer answer_report(Snapshot &snapshot, const Question &question) {
  const bool is_process = snapshot.target().container == "process";
  const std::optional<ResidentPages> resident = snapshot.resident();
  report::Answer answer = begin_answer(snapshot, "report");
  const Suspects suspects = find_suspects(snapshot);
  const AccountMap map = make_account_map(snapshot, resident, tally_of_live(snapshot));
  const MemoryVerdict verdict = judge(facts_of(snapshot, map, suspects));
  add_crash(snapshot, answer);
  const bool tells_crash_alone = snapshot.target().crash && verdict.rule == "nothing"; // memory was not the reason
  if (!tells_crash_alone)
    answer.lead += (answer.lead.empty() ? "" : "\n\n") + verdict.text;
  answer.target.push_back(
      {"verdict", std::vector<report::Fact>{{"rule", verdict.rule}, {"text", verdict.text}, {"bytes", verdict.bytes}}});
  answer.tables.push_back(account_table(map, is_process, false));
  answer.tables.push_back(suspects_table(suspects, question));
  answer.tables.push_back(where_table(map, is_process));
  answer.tables.push_back(suspects_text(suspects, question));
  std::vector<std::string> &notes = answer.completeness->notes;
  notes.insert(notes.end(), map.notes.begin(), map.notes.end());
  add_root_notes(snapshot, answer);
  add_reference_notes(snapshot, answer);
  if (tells_crash_alone)
    answer.next_command = "dnheap exceptions " + shell_word(question.target);
  else
    answer.next_command = suspects.list.empty() ? "dnheap stat " + shell_word(question.target) : next_of(question, 1);
  return answer;
}

} // namespace dnheap
