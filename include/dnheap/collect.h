// collect(): has a running .NET process write a dump of itself. The process is asked on its diagnostics port, which
// takes no right but the process's own user: where nobody may trace, and without the SDK. Linux, Windows. The process
// stands still while its runtime's createdump reads it, and waits for as long as that takes.
#pragma once
#include "dnheap/answer.h"
#include "dnheap/snapshot.h"

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

// Returns an answer about the file, with the table `dump`. Throws UsageError if the options make no sense; Error, which
// says what to do, if the process does not listen, cannot dump itself, or ends meanwhile; Interrupted if
// `open.progress` is cancelled. Then nothing is left of the file; the process itself cannot be stopped, and goes on
// until it has written a file without a name.
Answer collect(std::uint64_t pid, const CollectOptions &options = {});

} // namespace dnheap::DNHEAP_ABI
