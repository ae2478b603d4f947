// `ps`: which .NET processes run here? Reads the memory maps and the symbols of all programs, and a little of the
// memory of .NET processes, without suspending any.
#include "analysis/process/dotnet_process.h"
#include "analysis/verbs/verbs.h"
#include "base/host/process.h"
#include "base/text.h"
#include "snapshot/snapshot.h"

#include <algorithm>

namespace dnheap {

namespace {

report::Row row_of(u64 pid, Snapshot &snapshot, std::vector<std::string> &notes) {
  report::Row row(6);
  row[0] = pid;
  row[4] = resident_memory(pid);
  row[5] = snapshot.target().program;
  try {
    const Runtime &runtime = snapshot.runtime();
    row[1] = runtime.kind();
    if (!runtime.version().empty())
      row[2] = runtime.version();
    const GCFlavour gc = runtime.gc_flavour();
    row[3] = std::string(gc.server ? "server, " + std::to_string(gc.heaps) + " heaps" : "workstation") +
             (gc.regions ? "" : ", segments");
  } catch (const Error &error) {
    notes.push_back(error.what());
  }
  return row;
}

} // namespace

report::Answer answer_ps(const Question &question, const Watch &watch) {
  using report::Kind;
  report::Answer answer;
  answer.command = "ps";
  report::Table table;
  table.name = "processes";
  table.columns = {{"pid", "PID", Kind::number},       {"runtime", "Runtime", Kind::text},
                   {"version", "Version", Kind::text}, {"gc", "GC", Kind::text},
                   {"memory", "Memory", Kind::bytes},  {"command_line", "Command line", Kind::text}};
  std::vector<report::Row> rows;
  std::vector<u64> pids = list_processes();
  std::sort(pids.begin(), pids.end());
  u64 refused = 0;
  std::string why;
  SnapshotOptions options;
  options.pause = false;
  options.watch = watch;
  options.threads = 1;
  for (u64 pid : pids) {
    watch.check();
    std::optional<std::string> maps = process_text(pid, "maps");
    if (!maps && process_text(pid, "status")) {
      if (refused++ == 0)
        why = "process " + std::to_string(pid) + ": " + what_forbids_reading(pid);
      continue;
    }
    if (!maps || maps->empty()) // has ended, or belongs to the kernel
      continue;
    try {
      if (has_dotnet(pid, *maps))
        rows.push_back(row_of(pid, *Snapshot::attach(pid, options), table.notes));
    } catch (const Interrupted &) {
      throw;
    } catch (const Error &error) {
      table.notes.push_back(error.what());
    }
  }
  answer.headline = count_text(rows.size()) + (rows.size() == 1 ? " .NET process" : " .NET processes");
  if (refused)
    table.notes.push_back(count_text(refused) + " not looked at for lack of rights, such as " + why);
  if (processes_are_hidden())
    table.notes.push_back("/proc hides the processes of other users (hidepid), so they were not looked at");
  if (question.sort == "memory")
    report::sort_rows(rows, 4);
  auto known = std::find_if(rows.begin(), rows.end(), [](const report::Row &row) { return row[1].text().has_value(); });
  if (known != rows.end())
    if (const u64 *pid = (*known)[0].get_if<u64>())
      answer.next_command = "dnheap stat -p " + std::to_string(*pid);
  table.set_rows(std::move(rows));
  answer.tables.push_back(std::move(table));
  return answer;
}

} // namespace dnheap
