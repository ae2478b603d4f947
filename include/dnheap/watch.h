// watch(): looks at a running process regularly, without stopping it, and takes a small core, as the verb `extract`
// does, when its memory exceeds a limit. Linux. A look takes milliseconds; a core takes as long as `extract`, and the
// process stands still while its memory is copied. Runs on the calling thread; also ends when Progress is cancelled.
#pragma once
#include "dnheap/snapshot.h"

#include <functional>

namespace dnheap::DNHEAP_ABI {

struct WatchOptions {
  // Nullopt: watch the one .NET process on this machine, as soon as there is one, and the next one after it has ended.
  std::optional<std::uint64_t> pid = {};
  // "rss>1.5G", "gen2>800M", "container>90%", "oom"; one string may contain several with | between them. See
  // doc/containers.md.
  std::vector<std::string> conditions = {};
  std::string folder = {};  // folder for the cores; reserved for this call while it runs
  std::uint64_t keep = 3;   // most cores in the folder: the oldest is removed
  std::uint64_t every = 60; // seconds between two looks
  std::uint64_t again = 0;  // seconds until a condition that stays true triggers again; 0 = never
  bool no_values = false;   // blank the contents in the cores
  OpenOptions open = {};    // `pause` applies to the cores
};

struct WatchEvent {
  std::string kind = {}; // "waiting", "began", "taken", "not_taken", "blind", "ended"
  std::string text = {}; // one line for people
  std::string json = {}; // one line for programs: doc/schema/watch.json
  std::string file = {}; // path of the core, for "taken"
};

// Returns true when the process has ended, false when `open.progress` was cancelled. Throws UsageError if the options
// make no sense or a condition cannot be measured for this process, and Error if it cannot begin.
bool watch(const WatchOptions &options, const std::function<void(const WatchEvent &)> &tell);

// Returns why the text is not a valid condition; nullopt: it is valid.
std::optional<std::string> condition_problem(std::string_view condition);

} // namespace dnheap::DNHEAP_ABI
