// DiagnosticsPort: the socket, or on Windows the named pipe, on which the runtime of a .NET process takes commands.
// Whoever may open it, usually the process's own user, needs no other right. A search lists one folder, or tries one
// name; a command is one connection. Waits no longer than it is asked to. One thread at a time.
#pragma once
#include "base/host/local_socket.h"
#include "dump/live/diagnostics_message.h"

#include <functional>

namespace dnheap {

inline constexpr double seconds_to_connect = 1; // a runtime that runs accepts at once

// How long to wait for a reply. `turn` is called several times a second, and may throw.
struct Patience {
  double seconds = 5; // 0 = no limit
  std::function<void()> turn = {};
};

// A folder of sockets: its path for this process, and for the process that listens.
struct PortFolder {
  std::string path, inside;
};

class DiagnosticsPort {
public:
  explicit DiagnosticsPort(std::string path, PortFolder folder = {}) : path_(std::move(path)), folder_(folder) {}
  // `connection`: for the first command. `anew`: for the others; without it they connect to `path`.
  using Connecting = std::function<LocalSocket(const Patience &)>;
  DiagnosticsPort(std::string path, PortFolder folder, LocalSocket connection, Connecting anew = {});

  const std::string &path() const { return path_; }
  // The process's folder for temporary files, which it may write to.
  const PortFolder &folder() const { return folder_; }
  // Throws Error if nothing accepts or answers in time, or if the answer is no reply; whatever `turn` throws.
  DiagnosticsReply ask(DiagnosticsCommand command, Bytes payload, const Patience &patience = {});

private:
  LocalSocket connection(const Patience &patience);

  std::string path_;
  PortFolder folder_;
  std::optional<LocalSocket> connection_; // for the first command
  Connecting anew_;
};

struct PortSearch {
  std::optional<DiagnosticsPort> port;
  std::string why_not; // if there is none: one sentence that says what to do
};

// Never throws because of the process, which may have ended. Of several sockets, as ended processes leave them, takes
// the one on which this process listens.
PortSearch find_diagnostics_port(u64 pid);
// The same for sockets in given folders; `id`: of the process, as it knows itself. Not on Windows.
PortSearch find_diagnostics_port(u64 pid, u64 id, const std::vector<PortFolder> &folders);

// Returns the process's folder for temporary files, below its root; nullopt: this process may not see that.
std::optional<PortFolder> folder_of_process(u64 pid);

// Returns the name of a variable that has switched the port off; empty if there is none.
std::string diagnostics_switched_off_by(u64 pid);

// What a runtime says of its process. Empty texts: an older runtime does not say.
struct PortProcess {
  u64 pid = 0; // as the process knows itself
  std::string command_line, os, architecture, assembly, version;
};
// Throws as ask() does.
PortProcess ask_for_process(DiagnosticsPort &port, const Patience &patience = {});

} // namespace dnheap
