// The runtime's stress log, as `info` shows it. Reads all of it; names are looked up for the messages that are shown.
#pragma once
#include "report/answer.h"
#include "snapshot/snapshot.h"

namespace dnheap {

struct StressLogAnswer {
  report::Table table; // "stress_log", oldest first
  std::string fact;    // in one phrase; empty: the process keeps no such log
  std::vector<std::string> notes;
};

// `is_asked`: all messages, else the newest thousand, for data formats.
StressLogAnswer stress_log_table(Snapshot &snapshot, bool is_asked);

} // namespace dnheap
