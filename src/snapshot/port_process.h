// A process that is found by a socket instead of by its number: it connects to one that this process makes
// (DOTNET_DiagnosticPorts=PATH), or it listens on its usual one. Works between containers that share no more than the
// socket's folder; then the process has no number here. One thread.
#pragma once
#include "dump/live/diagnostics_listener.h"
#include "snapshot/self_dump.h"

namespace dnheap {

struct PortArrival {
  ListeningProcess process;
  bool was_starting = false; // it connected before the program's own code ran, or waited to be resumed
};

// Waits for the first runtime that connects, and resumes it if it waits for that. Throws Error if none comes in time;
// Interrupted.
PortArrival wait_for_runtime(const std::shared_ptr<DiagnosticsListener> &listener, double seconds, const Watch &watch);

// Throws Error if nothing listens there, or if it does not answer.
ListeningProcess connect_to_process(const std::string &path, const Watch &watch);

} // namespace dnheap
