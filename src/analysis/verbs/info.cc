// `info`: what is this dump, how was it interpreted, and how complete is it?
#include "analysis/answer_head.h"
#include "analysis/process/stress_log_table.h"
#include "analysis/verbs/verbs.h"
#include "analysis/verdict/crash.h"
#include "base/text.h"
#include "runtime/coreclr/code_heaps.h"
#include "snapshot/source_lines.h"

#include <set>
#include <tuple>

namespace dnheap {

namespace {

using report::Cell;
using report::Kind;

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
std::string code_text(const Runtime &runtime, report::Notes &notes) {
  std::vector<std::string> problems;
  const std::optional<std::vector<CodeHeap>> heaps = find_code_heaps(runtime.memory(), runtime.descriptor(), problems);
  notes.add_all(problems);
  if (!heaps)
    return "";
  u64 bytes = 0;
  for (const CodeHeap &heap : *heaps)
    bytes += heap.end - heap.start;
  return bytes_text(bytes) + " in " + count_text(heaps->size()) + (heaps->size() == 1 ? " heap" : " heaps");
}

report::Table facts_table(Snapshot &snapshot, report::Answer &answer, const std::string &stress_log) {
  const Target &target = snapshot.target();
  const Heap &heap = snapshot.heap();
  report::Table table;
  table.name = "facts";
  table.columns = {{"fact", "What", Kind::text}, {"value", "Value", Kind::text, report::Shown::everywhere, true}};
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
  add("process", target.pid ? std::to_string(target.pid) : "");
  add("program", target.program);
  add("system", std::string(name_of(target.os)) + " " + name_of(target.architecture));
  add("runtime", snapshot.runtime().module().path);
  add("version", snapshot.runtime().version());
  std::string identifiers;
  for (const std::string &id : snapshot.runtime().gc_flavour().identifiers)
    identifiers += (identifiers.empty() ? "" : ", ") + id;
  add("garbage collector", identifiers);
  add("memory in the dump",
      bytes_text(target.memory.size()) + " in " + count_text(target.memory.ranges().size()) + " ranges");
  add("threads", count_text(target.threads.size()));
  add("contract descriptor", snapshot.runtime().descriptor().found_by.empty()
                                 ? "none in the dump; the layout was derived"
                                 : snapshot.runtime().descriptor().found_by);
  add("compiled code", code_text(snapshot.runtime(), answer.completeness->notes));
  add("stress log", stress_log);
  add("assemblies", assemblies_text(snapshot.assemblies()));
  add("heap segments", count_text(heap.segments().size()) + ", " + bytes_text(heap.segment_bytes()));
  add("allocation contexts", count_text(heap.context_count()) + ", " + bytes_text(heap.context_bytes()));
  add("objects", count_text(answer.completeness->objects) + ", " + bytes_text(answer.completeness->bytes));
  add("heap", answer.completeness->complete ? "walked completely: objects + contexts = segments"
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
  report::Table table;
  table.name = "modules";
  table.title = "Module files looked at";
  table.columns = {{"module", "Module", Kind::text, report::Shown::in_data},
                   {"outcome", "Outcome", Kind::text},
                   {"identity", "Identity", Kind::text},
                   {"reason", "Why", Kind::text, report::Shown::everywhere, true},
                   {"file", "File", Kind::text}};
  std::vector<report::Row> rows;
  bool missing = false;
  std::set<std::tuple<std::string, std::string, Provenance::Outcome>> told; // avoids repeats: assemblies are mapped
                                                                            // twice
  for (const Provenance &p : target.provenance) {
    if (!told.emplace(p.module, p.file, p.outcome).second)
      continue;
    rows.push_back(
        {p.module, name_of(p.outcome), report::text_cell(p.identity), p.reason, p.file.empty() ? p.module : p.file});
    missing |= p.outcome != Provenance::Outcome::used;
  }
  if (rows.empty())
    table.notes.push_back("the dump holds all of the runtime's own libraries");
  if (missing)
    table.notes.push_back("the data of such a file were derived from memory: it is needed only if notes say so");
  table.set_rows(std::move(rows));
  return table;
}

Cell flag_cell(std::optional<bool> flag) { return flag ? Cell(*flag) : Cell(); }

// Lists assemblies with their origin, which decides who owns what (ranked_owners.h).
report::Table assemblies_table(Snapshot &snapshot, bool is_asked) {
  report::Table table;
  table.name = "assemblies";
  table.title = "Assemblies";
  table.shown = is_asked ? report::Shown::everywhere : report::Shown::in_data; // some hundred rows
  table.columns = {{"assembly", "Assembly", Kind::text},
                   {"origin", "Origin", Kind::text},
                   {"reason", "Why", Kind::text},
                   {"collectible", "Collectible", Kind::boolean, report::Shown::in_data},
                   {"dynamic", "Dynamic", Kind::boolean, report::Shown::in_data},
                   {"loaded", "Loaded", Kind::boolean, report::Shown::in_data},
                   {"context", "Context", Kind::address, report::Shown::in_data},
                   {"file", "File", Kind::text}};
  std::vector<report::Row> rows;
  for (const LoadedAssembly &one : snapshot.assemblies())
    rows.push_back({one.name, one.is_framework ? "framework" : "program", one.why, flag_cell(one.is_collectible),
                    flag_cell(one.is_dynamic), flag_cell(one.is_loaded), one.context ? Cell(one.context) : Cell(),
                    one.path.empty() ? Cell() : Cell(printable(one.path, 4096))});
  table.set_rows(std::move(rows));
  return table;
}

// Lists everything that was mapped from files, including native libraries and data.
report::Table images_table(const Target &target, bool is_asked) {
  report::Table table;
  table.name = "images";
  table.title = "Mapped files";
  table.shown = is_asked ? report::Shown::everywhere : report::Shown::in_data; // some hundred rows
  table.columns = {{"start", "Start", Kind::address},
                   {"end", "End", Kind::address},
                   {"bytes", "Bytes", Kind::bytes},
                   {"file", "File", Kind::text}};
  std::vector<report::Row> rows;
  for (const Module &module : target.modules) {
    u64 bytes = 0;
    for (const Extent &extent : module.extents)
      bytes += extent.end - extent.start;
    rows.push_back({module.base, module.end(), bytes, printable(module.path, 4096)});
  }
  table.set_rows(std::move(rows));
  return table;
}

// Lists the symbols that source lines come from.
report::Table symbols_table(Snapshot &snapshot, const Question &question, report::Notes &notes) {
  report::Table table;
  table.name = "symbols";
  table.title = "Symbols of source lines, looked for";
  table.columns = {{"module", "Module", Kind::text},
                   {"outcome", "Outcome", Kind::text},
                   {"reason", "Why", Kind::text, report::Shown::everywhere, true},
                   {"file", "File", Kind::text}};
  std::vector<std::string> problems;
  std::vector<report::Row> rows;
  for (const Provenance &p : SourceLines(snapshot, question.symbol_folders).files(problems))
    rows.push_back({p.module, name_of(p.outcome), p.reason, report::text_cell(p.file)});
  for (const std::string &problem : problems)
    notes.add(problem, "which assemblies have symbols");
  if (rows.empty())
    table.shown = report::Shown::in_data;
  table.set_rows(std::move(rows));
  return table;
}

// Lists which contract is read by which reader, and how many of its values came from where.
report::Table contracts_table(const ContractDescriptor &d) {
  report::Table table;
  table.name = "contracts";
  table.title = "Contracts";
  table.columns = {
      {"contract", "Contract", Kind::text}, {"version", "Version", Kind::text}, {"origin", "Origin", Kind::text}};
  std::vector<report::Row> rows;
  for (const auto &[name, version] : d.contracts)
    rows.push_back({name, version, name_of(d.contract_origin.find(name)->second)});
  u64 count[3] = {};
  for (const auto &[name, type] : d.types)
    for (const auto &[field_name, field] : type.fields)
      ++count[static_cast<u8>(field.origin)];
  for (const auto &[name, global] : d.globals)
    ++count[static_cast<u8>(global.origin)];
  table.notes.push_back("values: " + count_text(count[0]) + " published by the target, " + count_text(count[1]) +
                        " discovered in its memory, " + count_text(count[2]) + " from shipped tables");
  table.set_rows(std::move(rows));
  return table;
}

report::Table gaps_table(const report::Completeness &completeness) {
  report::Table table;
  table.name = "gaps";
  table.title = "Gaps";
  table.columns = {{"start", "Start", Kind::address},
                   {"end", "End", Kind::address},
                   {"bytes", "Bytes", Kind::bytes},
                   {"reason", "Why", Kind::text, report::Shown::everywhere, true}};
  std::vector<report::Row> rows;
  for (const auto &gap : completeness.gaps)
    rows.push_back({gap.start, gap.end, gap.end - gap.start, gap.reason});
  table.set_rows(std::move(rows));
  return table;
}

} // namespace

report::Answer answer_info(Snapshot &snapshot, const Question &question) {
  report::Answer answer = begin_answer(snapshot, "info");
  StressLogAnswer stress_log = stress_log_table(snapshot, question.table == "stress_log");
  answer.completeness->notes.add_all(stress_log.notes);
  answer.tables = {facts_table(snapshot, answer, stress_log.fact),
                   modules_table(snapshot.target()),
                   assemblies_table(snapshot, question.table == "assemblies"),
                   images_table(snapshot.target(), question.table == "images"),
                   symbols_table(snapshot, question, answer.completeness->notes),
                   contracts_table(snapshot.runtime().descriptor()),
                   std::move(stress_log.table),
                   gaps_table(*answer.completeness)};
  add_crash(snapshot, answer);
  // Without a heap there is nothing to sum up except the threads' stacks.
  answer.next_command =
      (snapshot.runtime().why_no_heap().empty() ? "dnheap stat " : "dnheap stack ") + shell_word(question.target);
  return answer;
}

} // namespace dnheap
