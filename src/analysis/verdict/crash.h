// The end of a process, for the answers that begin with it: the signal or code that the dump's container names, where
// the crashed thread stands, and the exception that this thread was handling. Costs nothing if the container names no
// crash; else a walk of that one thread's stack and a look at all Threads and strong handles. Not for several threads
// at once.
#pragma once
#include "report/answer.h"
#include "snapshot/snapshot.h"

#include <string>

namespace dnheap {

// "SIGSEGV (invalid address 0x10)", "access violation (0xc0000005, writing to 0x10)"
std::string signal_text(const CrashSignal &crash, OperatingSystem os);

// Adds the crash to the answer's lead and facts, and what is unknown about it to the notes.
void add_crash(const Snapshot &snapshot, report::Answer &answer);

} // namespace dnheap
