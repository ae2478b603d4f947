// explore(): serves a page that shows a dump, or a live process, to the browser of this machine. One Snapshot is held:
// a thread of its own opens it and works out the counts, the graph, the dominator tree and the ways from the roots, in
// that order; between two of these, and afterwards, it answers what the page asks. Memory: what `retained` takes, 4 to
// 8 bytes per object for the ways, and 64 MiB of answers that are kept. Called from one thread, which serves meanwhile.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace dnheap::explore {

// A dump that was opened before, as a record in JSON, which `check --record` writes.
struct Earlier {
  std::string name;                    // of the file
  std::function<std::string()> record; // asked once, by the thread that holds the snapshot, when somebody wants to know
};

struct ExploreOptions {
  std::string target;                   // file, or what the process is called in answers
  std::optional<std::uint64_t> process; // instead of a file
  std::vector<std::string> module_folders;
  std::string temp_dir;
  unsigned threads = 0; // 0 = as many as there are processors
  std::optional<std::uint32_t> runtime;
  std::uint64_t max_memory = 0;
  bool pause = true;
  bool values = false;            // contents of strings and fields may be told
  std::optional<Earlier> against; // what it is compared with
  std::uint16_t port = 0;         // 0: one that is free
  std::uint64_t idle_seconds = 0; // ends after that long without a request; 0: never
  // The address of the page, and one that leads there once.
  std::function<void(const std::string &url, const std::string &url_for_once)> listening;
  std::function<bool()> should_end = [] { return false; };
};

// Until should_end(), or until nobody asked for so long. Throws Error when the port is taken, or the target cannot be
// opened.
void explore(const ExploreOptions &options);

// The page as one file with answers inside (kept_page.h). Throws as explore() does, and Interrupted.
std::string page_of(const ExploreOptions &options);

} // namespace dnheap::explore
