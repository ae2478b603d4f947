// `ps`: which .NET processes run here? Reads the memory maps and the symbols of all programs, and a little of the
// memory of .NET processes, without suspending any.
#include "analysis/process/dotnet_process.h"
#include "analysis/verbs/verbs.h"
#include "base/host/process.h"
#include "base/text.h"
#include "report/columns_of.h"
#include "snapshot/snapshot.h"

#include <algorithm>

namespace dnheap {

namespace {

struct DotnetProcess {
  u64 pid;
  std::optional<u64> memory;
  std::string command_line;
  report::Cell runtime = {}, version = {}, gc = {};
};

DotnetProcess process_of(u64 pid, const Snapshot &snapshot, std::vector<std::string> &notes) {
  DotnetProcess out{pid, resident_memory(pid), snapshot.target().program};
  try {
    const Runtime &runtime = snapshot.runtime();
    out.runtime = runtime.kind();
    out.version = report::text_cell(runtime.version());
    const GCFlavour gc = runtime.gc_flavour();
    out.gc = std::string(gc.server ? "server, " + std::to_string(gc.heaps) + " heaps" : "workstation") +
             (gc.regions ? "" : ", segments");
  } catch (const Error &error) {
    notes.push_back(error.what());
  }
  return out;
}

} // namespace

report::Answer answer_ps(const Question &question, const Watch &watch) {
  using report::Kind;
  report::Answer answer;
  answer.command = "ps";
  std::vector<DotnetProcess> processes;
  std::vector<std::string> notes;
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
        processes.push_back(process_of(pid, *Snapshot::attach(pid, options), notes));
    } catch (const Interrupted &) {
      throw;
    } catch (const Error &error) {
      notes.push_back(error.what());
    }
  }
  answer.headline.what = count_text(processes.size()) + (processes.size() == 1 ? " .NET process" : " .NET processes");
  if (refused)
    notes.push_back(count_text(refused) + (refused == 1 ? " process" : " processes") +
                    " not looked at for lack of rights, such as " + why);
  if (processes_are_hidden())
    notes.push_back("/proc hides the processes of other users (hidepid), so they were not looked at");
  using P = DotnetProcess;
  if (question.sort == "memory")
    std::ranges::stable_sort(processes, std::greater(), &P::memory);
  const auto known = std::ranges::find_if(processes, [](const P &p) { return p.runtime.text().has_value(); });
  if (known != processes.end())
    answer.next_command = "dnheap stat -p " + std::to_string(known->pid);
  report::Table table = report::ColumnsOf<P>{{{"pid", "PID", Kind::number}, &P::pid},
                                             {{"runtime", "Runtime", Kind::text}, &P::runtime},
                                             {{"version", "Version", Kind::text}, &P::version},
                                             {{"gc", "GC", Kind::text}, &P::gc},
                                             {{"memory", "Memory", Kind::bytes}, &P::memory},
                                             {{"command_line", "Command line", Kind::text}, &P::command_line}}
                            .table("processes", "", processes);
  table.notes = std::move(notes);
  answer.tables.push_back(std::move(table));
  return answer;
}

} // namespace dnheap
