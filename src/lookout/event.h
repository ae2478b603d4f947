// Event: a message to the user who watches a process, as a line of text or, for programs, of JSON
// (doc/schema/watch.json). Plain data.
#pragma once
#include "lookout/figures.h"

namespace dnheap {

struct Event {
  // waiting: no .NET process is running here; blind: a condition cannot be measured; not_taken: a core was due.
  enum class Kind : u8 { waiting, began, taken, not_taken, blind, ended };
  Kind kind = Kind::waiting;
  u64 time = 0; // seconds since 1970
  u64 pid = 0;
  std::string runtime;                 // began: ".NET 10.0.14"
  std::vector<std::string> conditions; // conditions that became true; blind: those that cannot be measured; began: all
  Figures figures;
  std::string reason; // the cause of not_taken, blind or ended, or what it means for the user
  std::string file;   // taken
  u64 file_bytes = 0;
  std::optional<double> pause_seconds;
  std::string by_port;              // began, taken: why the process writes dumps of itself instead of being read
  std::vector<std::string> removed; // older files
};
const char *name_of(Event::Kind kind); // "waiting", "began", …

std::string text_of(const Event &event); // without a line end
std::string json_of(const Event &event);

} // namespace dnheap
