// collect_dump: the work of `dnheap collect`. Has a process dump itself (snapshot/self_dump.h), opens the dump, and
// says what it is; or makes a small core of it. Costs what the process needs for its dump; the small core costs what
// `extract` costs. One thread.
#pragma once
#include "report/answer.h"
#include "snapshot/snapshot.h"

#include <functional>

namespace dnheap {

struct CollectingOptions {
  std::string file;          // empty: NAME-PID-TIME.core in the current folder, .core.zst for a small core
  std::string kind = "heap"; // one of kinds_of_dumps()
  bool extract = false;      // make a small core, and remove the dump
  bool no_values = false;    // blank the contents in the small core
};

// A socket instead of the process's number.
struct PortToAsk {
  std::string path;
  bool listens = false;                    // make it, and wait for a runtime that connects
  u64 seconds = 300;                       // how long to wait for it
  std::function<void()> on_listening = {}; // is called when runtimes can connect
};

std::vector<std::string> kinds_of_dumps();

// Throws UsageError if the options make no sense; Error and Interrupted as SelfDump does. Then there is no file.
report::Answer collect_dump(u64 pid, const SnapshotOptions &options, const CollectingOptions &collecting);
// The same of the runtime at a socket. Throws Error as well if none comes in time.
report::Answer collect_dump(const PortToAsk &port, const SnapshotOptions &options, const CollectingOptions &collecting);

} // namespace dnheap
