// What ended a process, for the answers that lead with it: the signal, or the code, that the dump's container tells of,
// together with where its thread stands and which exception that thread was dealing with. Nothing where the container
// tells of no crash; else a walk of that one thread's stack and a look at all Threads and strong handles. One thread.
#pragma once
#include "report/answer.h"
#include "snapshot/snapshot.h"

#include <string>

namespace dnheap {

// "SIGSEGV (invalid address 0x10)", "access violation (0xc0000005, writing to 0x10)"
std::string signal_text(const CrashSignal &crash, OperatingSystem os);

// Adds it to the answer's lead and facts, and what could not be told of it to its notes.
void add_crash(Snapshot &snapshot, report::Answer &answer);

} // namespace dnheap
