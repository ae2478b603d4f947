// The end of a process, for the answers that begin with it: the signal or code that the dump's container names, where
// the crashed thread stands, and the exception that this thread was handling. Costs nothing if the container names no
// crash; else a walk of that one thread's stack and a look at all Threads and strong handles. Not for several threads
// at once.
#pragma once
#include "report/answer.h"
#include "snapshot/snapshot.h"

#include <optional>
#include <string>

namespace dnheap {

struct Crash {
  std::string text;
  std::string verb, options; // of the command that shows more, and its options after the target
  bool is_sent = false;      // another process sent the signal: nothing in this one has failed
  bool is_in_native = false; // native code failed, maybe the runtime's
};

// Adds the crash to the answer's lead and facts, and what is unknown about it to the notes. Nullopt: no crash is known.
std::optional<Crash> add_crash(const Snapshot &snapshot, report::Answer &answer);

} // namespace dnheap
