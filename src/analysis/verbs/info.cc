// `info`: what is this dump, how was it interpreted, and how complete is it?
#include "analysis/answer_head.h"
#include "analysis/process/stress_log_table.h"
#include "analysis/verbs/tables/contracts_table.h"
#include "analysis/verbs/verbs.h"
#include "analysis/verdict/crash.h"
#include "base/text.h"
#include "report/columns_of.h"
#include "runtime/coreclr/code/code_heaps.h"
#include "snapshot/source_lines.h"

#include <set>
#include <tuple>

namespace dnheap {

namespace {

using report::Cell;
using report::Kind;
using report::Shown;

std::string assemblies_text(const std::vector<LoadedAssembly> &assemblies) {
  constexpr u64 most_named = 5;
  std::string out;
  u64 own = 0;
  for (const LoadedAssembly &one : assemblies)
    if (!one.is_framework && ++own <= most_named)
      out += (out.empty() ? "" : ", ") + one.name;
  if (own > most_named)
    out += " and " + count_text(own - most_named) + " more";
  if (assemblies.empty())
    return "";
  return (own ? out + "; " : "") + count_text(assemblies.size() - own) + " of .NET's (--table assemblies)";
}

// Returns how much code was compiled while the program ran, in words.
std::string code_text(const Runtime &runtime, Notes &notes) {
  Notes of_code;
  const std::optional<std::vector<CodeHeap>> heaps = find_code_heaps(runtime.memory(), runtime.descriptor(), of_code);
  notes.add_all(of_code.up_to(Effect::none));
  if (!heaps)
    return "";
  u64 bytes = 0;
  for (const CodeHeap &heap : *heaps)
    bytes += heap.end - heap.start;
  return bytes_text(bytes) + " in " + count_text(heaps->size()) + (heaps->size() == 1 ? " heap" : " heaps");
}

// Returns what systemd-coredump has written down: "2026-11-29T21:45:14Z: /app/shop, process 4711 of user 1654, …".
std::string stored_text(const CoreRecord &record) {
  std::string out;
  const auto add = [&](const std::string &text) { out += (out.empty() ? "" : ", ") + text; };
  if (record.seconds)
    add("ended at " + utc_text(*record.seconds));
  if (record.signal)
    add("by signal " + std::to_string(*record.signal));
  const std::string &name = record.executable.empty() ? record.name : record.executable;
  if (!name.empty())
    add(printable(name, 200));
  if (record.pid)
    add("process " + std::to_string(*record.pid));
  if (record.user)
    add("user " + std::to_string(*record.user));
  if (!record.host.empty())
    add("host " + printable(record.host, 100));
  return out + (record.by_attributes ? "; says systemd-coredump, in the file's attributes" : "; says the file's name");
}

report::Table facts_table(const Snapshot &snapshot, report::Answer &answer, const std::string &stress_log) {
  const Target &target = snapshot.target();
  const Heap &heap = snapshot.heap();
  report::Table table;
  table.name = "facts";
  table.columns = {{"fact", "What", Kind::text}, {"value", "Value", Kind::text, Shown::everywhere, true}};
  std::vector<report::Row> rows;
  auto add = [&](const char *fact, const std::string &value) {
    if (!value.empty())
      rows.push_back({fact, value});
  };
  add("file", target.path);
  const char *kind = target.container == "minidump" ? ", of kind " : ", written by ";
  add("container", target.container + (target.dump_kind.empty() ? "" : kind + target.dump_kind));
  if (target.extraction)
    add("extracted",
        "by dnheap from " + target.extraction->from + (target.has_blanked_values() ? ", values blanked" : ""));
  if (target.stored)
    add("stored", stored_text(*target.stored));
  add("process", target.pid ? std::to_string(target.pid) : "");
  add("program", target.program);
  const bool is_record = target.record != nullptr;
  add("system", is_record ? "" : std::string(name_of(target.os)) + " " + name_of(target.architecture));
  add("runtime", is_record ? "unknown: a listing of the heap does not name it" : snapshot.runtime().module().path);
  add("version", snapshot.runtime().version());
  std::string identifiers;
  for (const std::string &id : snapshot.runtime().gc_flavour().identifiers)
    identifiers += (identifiers.empty() ? "" : ", ") + id;
  add("garbage collector", identifiers);
  add("memory in the dump",
      is_record ? ""
                : bytes_text(target.memory.size()) + " in " + count_text(target.memory.ranges().size()) + " ranges");
  add("threads", is_record ? "" : count_text(target.threads.size()));
  add("contract descriptor", is_record ? ""
                             : snapshot.runtime().descriptor().found_by.empty()
                                 ? "none in the dump; the layout was derived"
                                 : snapshot.runtime().descriptor().found_by);
  add("compiled code", code_text(snapshot.runtime(), answer.completeness->notes));
  add("stress log", stress_log);
  add("assemblies", assemblies_text(snapshot.assemblies()));
  add("heap segments", count_text(heap.segments().size()) + ", " + bytes_text(heap.segment_bytes()));
  add("allocation contexts", count_text(heap.context_count()) + ", " + bytes_text(heap.context_bytes()));
  add("objects", count_text(answer.completeness->objects) + ", " + bytes_text(answer.completeness->bytes));
  add("heap", answer.completeness->complete() ? "walked completely: objects + contexts = segments"
                                              : "walked INCOMPLETELY, see gaps and notes");
  table.set_rows(std::move(rows));
  return table;
}

const char *name_of(Provenance::Outcome outcome) {
  return outcome == Provenance::Outcome::used       ? "used"
         : outcome == Provenance::Outcome::rejected ? "rejected"
                                                    : "missing";
}

report::Table modules_table(const Target &target) {
  std::vector<const Provenance *> shown;
  std::set<std::tuple<std::string, std::string, Provenance::Outcome>> told; // avoids repeats: assemblies are mapped
                                                                            // twice
  bool missing = false;
  for (const Provenance &p : target.provenance)
    if (told.emplace(p.module, p.file, p.outcome).second) {
      shown.push_back(&p);
      missing |= p.outcome != Provenance::Outcome::used;
    }
  using P = Provenance;
  report::Table table = report::ColumnsOf<P>{
      {{"module", "Module", Kind::text, Shown::in_data}, &P::module},
      {{"outcome", "Outcome", Kind::text}, [](const P &p) { return name_of(p.outcome); }},
      {{"identity", "Identity", Kind::text}, [](const P &p) { return report::text_cell(p.identity); }},
      {{"reason", "Why", Kind::text, Shown::everywhere, true}, &P::reason},
      {{"file", "File", Kind::text}, [](const P &p) {
         return p.file.empty() ? p.module : p.file;
       }}}.table("modules", "Module files looked at", shown);
  if (shown.empty() && !target.record)
    table.notes.push_back("the dump holds all of the runtime's own libraries");
  if (missing)
    table.notes.push_back("data of a file that was not used were derived from memory: the file is needed only if notes "
                          "say so");
  return table;
}

// Lists assemblies with their origin, which decides who owns what (ranked_owners.h).
report::Table assemblies_table(const Snapshot &snapshot, bool is_asked) {
  using A = LoadedAssembly;
  report::Table table = report::ColumnsOf<A>{
      {{"assembly", "Assembly", Kind::text}, &A::name},
      {{"origin", "Origin", Kind::text}, [](const A &a) { return a.is_framework ? "framework" : "program"; }},
      {{"reason", "Why", Kind::text}, &A::why},
      {{"collectible", "Collectible", Kind::boolean, Shown::in_data}, &A::is_collectible},
      {{"dynamic", "Dynamic", Kind::boolean, Shown::in_data}, &A::is_dynamic},
      {{"loaded", "Loaded", Kind::boolean, Shown::in_data}, &A::is_loaded},
      {{"context", "Context", Kind::address, Shown::in_data},
       [](const A &a) { return a.context ? Cell(a.context) : Cell(); }},
      {{"file", "File", Kind::text}, [](const A &a) {
         return a.path.empty() ? Cell() : Cell(printable(a.path, 4096));
       }}}.table("assemblies", "Assemblies", snapshot.assemblies());
  table.shown = is_asked ? Shown::everywhere : Shown::in_data; // some hundred rows
  return table;
}

// Lists everything that was mapped from files, including native libraries and data.
report::Table images_table(const Target &target, bool is_asked) {
  using M = Module;
  report::Table table = report::ColumnsOf<M>{
      {{"start", "Start", Kind::address}, &M::base},
      {{"end", "End", Kind::address}, &M::end},
      {{"bytes", "Bytes", Kind::bytes},
       [](const M &m) {
         u64 bytes = 0;
         for (const Extent &extent : m.extents)
           bytes += extent.end - extent.start;
         return bytes;
       }},
      {{"file", "File", Kind::text}, [](const M &m) {
         return printable(m.path, 4096);
       }}}.table("images", "Mapped files", target.modules);
  table.shown = is_asked ? Shown::everywhere : Shown::in_data; // some hundred rows
  return table;
}

// Lists the symbols that source lines come from.
report::Table symbols_table(const Snapshot &snapshot, Notes &notes) {
  using P = Provenance;
  Notes problems;
  report::Table table = report::ColumnsOf<P>{
      {{"module", "Module", Kind::text}, &P::module},
      {{"outcome", "Outcome", Kind::text}, [](const P &p) { return name_of(p.outcome); }},
      {{"reason", "Why", Kind::text, Shown::everywhere, true}, &P::reason},
      {{"file", "File", Kind::text}, [](const P &p) {
         return report::text_cell(p.file);
       }}}.table("symbols", "Symbols of source lines, looked for", SourceLines(snapshot).files(problems));
  notes.add_all(problems.up_to(Effect::none), Subject::symbols);
  if (*table.row_count == 0)
    table.shown = Shown::in_data;
  return table;
}

// Adds to the contracts how many of their values came from where.
report::Table counted_contracts_table(const ContractDescriptor &d) {
  u64 count[3] = {};
  for (const auto &[name, type] : d.types)
    for (const auto &[field_name, field] : type.fields)
      ++count[static_cast<u8>(field.origin)];
  for (const auto &[name, global] : d.globals)
    ++count[static_cast<u8>(global.origin)];
  report::Table table = contracts_table(d);
  table.notes.push_back("values: " + count_text(count[0]) + " published by the target, " + count_text(count[1]) +
                        " discovered in its memory, " + count_text(count[2]) + " from shipped tables");
  return table;
}

report::Table gaps_table(const report::Completeness &completeness) {
  using G = report::Completeness::Gap;
  return report::ColumnsOf<G>{{{"start", "Start", Kind::address}, &G::start},
                              {{"end", "End", Kind::address}, &G::end},
                              {{"bytes", "Bytes", Kind::bytes}, [](const G &g) { return g.end - g.start; }},
                              {{"reason", "Why", Kind::text, Shown::everywhere, true}, &G::reason}}
      .table("gaps", "Gaps", completeness.gaps);
}

} // namespace

report::Answer answer_info(const Snapshot &snapshot, const Question &question) {
  report::Answer answer = begin_answer(snapshot, "info");
  StressLogAnswer stress_log = stress_log_table(snapshot, question.table == "stress_log");
  answer.completeness->notes.add_all(stress_log.notes);
  answer.tables = {facts_table(snapshot, answer, stress_log.fact),
                   modules_table(snapshot.target()),
                   assemblies_table(snapshot, question.table == "assemblies"),
                   images_table(snapshot.target(), question.table == "images"),
                   symbols_table(snapshot, answer.completeness->notes),
                   counted_contracts_table(snapshot.runtime().descriptor()),
                   std::move(stress_log.table),
                   gaps_table(*answer.completeness)};
  add_crash(snapshot, answer);
  // Without a heap there is nothing to sum up except the threads' stacks.
  answer.next_command =
      (snapshot.runtime().why_no_heap().empty() ? "dnheap stat " : "dnheap stack ") + shell_word(question.target);
  return answer;
}

} // namespace dnheap
