// watch(): looks at a running process every now and then, without stopping it, and takes a small core, as the verb
// `extract` does, when its memory has grown beyond what was said. Linux. A look takes milliseconds; a core what
// `extract` takes, and the process stands still while its memory is copied. One thread; ends when Progress is
// cancelled.
#pragma once
#include "dnheap/snapshot.h"

#include <functional>

namespace dnheap::DNHEAP_ABI {

struct WatchOptions {
  // Nothing: the one .NET process that runs here, as soon as there is one; and the next one when it has ended.
  std::optional<std::uint64_t> pid = {};
  // "rss>1.5G", "gen2>800M", "container>90%", "oom"; several may stand in one, with | between them. See
  // doc/containers.md.
  std::vector<std::string> conditions = {};
  std::string folder = {};  // where the cores go; of this call alone as long as it lasts
  std::uint64_t keep = 3;   // cores in the folder at most: the oldest is removed
  std::uint64_t every = 60; // seconds between two looks
  std::uint64_t again = 0;  // seconds after which a condition that stays true is due again; 0 = never
  bool no_values = false;   // blank the contents in the cores
  OpenOptions open = {};    // `pause` is of the cores
};

struct WatchEvent {
  std::string kind = {}; // "waiting", "began", "taken", "not_taken", "blind", "ended"
  std::string text = {}; // one line for people
  std::string json = {}; // one line for programs: doc/schema/watch.json
  std::string file = {}; // the core, of "taken"
};

// Returns true when the process has ended, false when `open.progress` was cancelled. Throws UsageError where the
// options make no sense, or a condition can never be told of this process, and Error where it cannot begin.
bool watch(const WatchOptions &options, const std::function<void(const WatchEvent &)> &tell);

// Why such a condition cannot be one; nothing: it can.
std::optional<std::string> condition_problem(std::string_view condition);

} // namespace dnheap::DNHEAP_ABI
