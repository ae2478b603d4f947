// The heap of a running .NET process, as its GC lists it over the diagnostics port: no tracer stops the process, and
// neither file nor copy is made. The process collects its garbage first, stands still while its GC lists the objects,
// and keeps the events until they are sent. For snapshot/ alone.
#pragma once
#include "base/watch.h"
#include "target/target.h"

namespace dnheap {

struct PortHeapOptions {
  unsigned threads = 1;  // for laying out the objects
  double patience = 120; // seconds in which nothing arrives, after which it gives up
  Watch watch;
};

// Throws Error that says why the process cannot be asked, and what to do; Interrupted when cancelled. In all cases the
// session is ended.
std::unique_ptr<Target> open_port_heap(u64 pid, const PortHeapOptions &options);
// The same on a port that was found.
class DiagnosticsPort;
std::unique_ptr<Target> open_port_heap(u64 pid, DiagnosticsPort &port, const PortHeapOptions &options);

} // namespace dnheap
