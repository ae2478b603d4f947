// collect(): has a running .NET process write a dump of itself. The process is asked on its diagnostics port, which
// takes no right but the process's own user: where nobody may trace, and without the SDK. Linux, Windows. The process
// stands still while its runtime's createdump reads it, and waits for as long as that takes.
#pragma once
#include "dnheap/answer.h"
#include "dnheap/snapshot.h"

#include <functional>

namespace dnheap::DNHEAP_ABI {

struct CollectOptions {
  // Empty: NAME-PID-TIME.core in the current folder, or .core.zst for a small core. A file of that name is replaced,
  // once the dump is complete; a symbolic link stays, and its target is replaced.
  std::string file = {};
  std::string kind = "heap"; // or "full", "mini", "triage"; the latter two have no heap
  bool extract = false;      // make a small core of the dump, as the verb `extract` does, and remove the dump
  bool no_values = false;    // with `extract`: blank the contents
  OpenOptions open = {};     // how to open the dump; `pause` is ignored
};

// A socket instead of the process's number: for one in another container that shares no more than the socket's folder.
struct CollectPort {
  std::string path = {};
  // False: a runtime listens there, as on /tmp/dotnet-diagnostic-1-12345-socket. True: collect() makes the socket,
  // for its own user alone, waits for a runtime that connects (DOTNET_DiagnosticPorts=PATH,nosuspend), resumes it if it
  // waits for that, and removes the socket at the end. A file that is no dead socket is not replaced.
  bool listen = false;
  std::uint64_t seconds = 300;             // how long to wait for a runtime
  std::function<void()> on_listening = {}; // is called when runtimes can connect
};

// Returns an answer about the file, with the table `dump`. Throws UsageError if the options make no sense; Error, which
// says what to do, if the process does not listen, cannot dump itself, or ends meanwhile; Interrupted if
// `open.progress` is cancelled. Then nothing is left of the file; the process itself cannot be stopped, and goes on
// until it has written a file without a name.
Answer collect(std::uint64_t pid, const CollectOptions &options = {});
// The same of the runtime at a socket; of several that connect, the first one. Throws Error as well if none does in
// time.
Answer collect(const CollectPort &port, const CollectOptions &options = {});

} // namespace dnheap::DNHEAP_ABI
