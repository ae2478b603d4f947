// Makes the table of the runtime's stress log for `info`. Reads the whole log; names are looked up only for messages
// that are shown.
#pragma once
#include "base/notes.h"
#include "report/answer.h"
#include "snapshot/snapshot.h"

namespace dnheap {

struct StressLogAnswer {
  report::Table table; // "stress_log", oldest first
  std::string fact;    // a summary in one phrase; empty: the process keeps no such log
  Notes notes;
};

// `is_asked`: show all messages; else the newest thousand, in data formats only.
StressLogAnswer stress_log_table(const Snapshot &snapshot, bool is_asked);

} // namespace dnheap
