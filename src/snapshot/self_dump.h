// SelfDump: a dump that a .NET process writes of itself, by its runtime's createdump, when it is asked on its
// diagnostics port: that takes no right but the process's own user. The process stands still while createdump reads it.
// The runtime writes where the process can write; from another container the file is copied. Waits for as long as the
// process takes. One thread.
#pragma once
#include "base/host/host.h"
#include "base/watch.h"
#include "dump/live/diagnostics_port.h"

namespace dnheap {

// The numbers are the runtime's.
enum class SelfDumpKind : u8 { mini = 1, heap = 2, triage = 3, full = 4 };

// A process that takes commands.
struct ListeningProcess {
  u64 pid = 0; // 0: it has no number here, as it runs in another container
  DiagnosticsPort port;
  PortProcess described;
  // Returns its number, as this process sees it, or else as the process knows itself.
  u64 shown_pid() const { return pid ? pid : described.pid; }
};
// Throws Error that says why the process does not answer, and what to do.
ListeningProcess find_listening_process(u64 pid, const Watch &watch);

// Whether a process takes commands. `silent`: it listens, but does not answer within a second.
enum class PortState : u8 { none, silent, answers };
struct PortLook {
  PortState state = PortState::none;
  PortProcess described; // if it answers
};
PortLook look_at_port(u64 pid);

class SelfDump {
public:
  // Asks, and waits until the dump is there. `path`: its name once it is committed; until then it has another one in
  // the same folder, and without commit() it is removed. Throws Error if the folder lacks room for it, if the process
  // cannot write it, or ends meanwhile; Interrupted if `watch` is cancelled: the process then goes on writing to a file
  // without a name.
  SelfDump(ListeningProcess &process, const std::string &path, SelfDumpKind kind, const Watch &watch);

  const std::string &path_for_now() const { return file_.path_for_now(); }
  u64 size() const { return file_.size(); }
  void commit() { file_.commit(); }

private:
  NewFile file_;
};

} // namespace dnheap
