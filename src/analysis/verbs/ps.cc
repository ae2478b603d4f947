// `ps`: which .NET processes run here, and what may be asked of them? Reads the memory maps and the symbols of all
// programs, and a little of the memory of .NET processes, without suspending any; asks the diagnostics ports of these
// processes who they are, for a second at most.
#include "analysis/process/dotnet_process.h"
#include "analysis/verbs/verbs.h"
#include "base/process/process.h"
#include "base/process/process_identity.h"
#include "base/text.h"
#include "report/columns_of.h"
#include "snapshot/self_dump.h"
#include "snapshot/snapshot.h"

#include <algorithm>

namespace dnheap {

namespace {

struct DotnetProcess {
  u64 pid;
  std::optional<u64> memory;
  std::string command_line;
  const char *port;
  bool may_be_traced;
  report::Cell runtime = {}, version = {}, gc = {};
};

const char *word_for(PortState state) {
  return state == PortState::answers ? "answers" : state == PortState::silent ? "silent" : "none";
}

bool may_be_traced(u64 pid) {
  try {
    ProcessMemory allowed(pid);
    return true;
  } catch (const Error &) {
    return false;
  }
}

DotnetProcess outside_of(u64 pid, const PortLook &port) {
  DotnetProcess out{pid, resident_memory(pid), command_line_of(pid), word_for(port.state), may_be_traced(pid)};
  if (const std::string &version = port.described.version; !version.empty())
    out.version = version.substr(0, version.find('+'));
  return out;
}

// What the process's memory says counts more than what it says itself.
void look_inside(DotnetProcess &process, const SnapshotOptions &options, std::vector<std::string> &notes) {
  try {
    const std::unique_ptr<Snapshot> snapshot = Snapshot::attach(process.pid, options);
    const Runtime &runtime = snapshot->runtime();
    process.runtime = runtime.kind();
    process.version = report::text_cell(runtime.version());
    const GCFlavour gc = runtime.gc_flavour();
    process.gc = std::string(gc.server ? "server, " + std::to_string(gc.heaps) + (gc.heaps == 1 ? " heap" : " heaps")
                                       : "workstation") +
                 (gc.regions ? "" : ", segments");
  } catch (const Interrupted &) {
    throw;
  } catch (const Error &error) {
    if (process_start(process.pid)) // it has not ended meanwhile
      notes.push_back(error.what());
  }
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
    const std::optional<std::vector<std::string>> files = loaded_files(pid);
    if (!files && process_start(pid)) {
      if (const PortLook port = look_at_port(pid); port.state == PortState::answers)
        processes.push_back(outside_of(pid, port));
      else if (refused++ == 0)
        why = "process " + std::to_string(pid) + ": " + what_forbids_reading(pid);
      continue;
    }
    if (!files || files->empty() || !has_dotnet(pid, *files)) // empty: has ended, or belongs to the kernel
      continue;
    processes.push_back(outside_of(pid, look_at_port(pid)));
    look_inside(processes.back(), options, notes);
    if (!process_start(pid))
      processes.pop_back();
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
  const auto listening =
      std::ranges::find_if(processes, [](const P &p) { return std::string_view(p.port) == "answers"; });
  if (known != processes.end())
    answer.next_command = "dnheap stat -p " + std::to_string(known->pid);
  else if (listening != processes.end())
    answer.next_command = "dnheap collect -p " + std::to_string(listening->pid);
  report::Table table = report::ColumnsOf<P>{
      {{"pid", "PID", Kind::number}, &P::pid},
      {{"runtime", "Runtime", Kind::text}, &P::runtime},
      {{"version", "Version", Kind::text}, &P::version},
      {{"gc", "GC", Kind::text}, &P::gc},
      {{"memory", "Memory", Kind::bytes}, &P::memory},
      {{"port", "Port", Kind::text}, &P::port},
      {{"ptrace", "Ptrace", Kind::boolean}, &P::may_be_traced},
      {{"command_line", "Command line", Kind::text},
       &P::command_line}}.table("processes", "", processes);
  table.notes = std::move(notes);
  answer.tables.push_back(std::move(table));
  return answer;
}

} // namespace dnheap
