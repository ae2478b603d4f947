// explore(): serves a page that shows a dump, or a live process, to the browser of this machine. It keeps one Snapshot,
// which a second thread opens. That thread computes the counts, the graph, the dominator tree and the paths from the
// roots, in that order. Between these steps, and afterwards, it answers the page's questions. Memory: that of
// `retained`, 4 to 8 bytes per object for the paths, and 64 MiB of cached answers; while other dumps are summed up,
// that of `retained` once more. The calling thread serves meanwhile.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace dnheap::explore {

struct ExploreOptions {
  std::string target;                   // the file, or the process's name in answers
  std::optional<std::uint64_t> process; // instead of a file
  std::vector<std::string> module_folders;
  std::string temp_dir;
  unsigned threads = 0; // 0 = one per processor
  std::optional<std::uint32_t> runtime;
  std::uint64_t max_memory = 0;
  bool pause = true;
  bool by_port = false;            // the process's GC lists its objects
  bool values = false;             // show contents of strings and fields
  std::vector<std::string> others; // dumps or saved records to compare with, the oldest first
  std::uint16_t port = 0;          // 0: any free port
  std::uint64_t idle_seconds = 0;  // ends after so long without a request; 0: never
  // Receives the address of the page, and an address that works once.
  std::function<void(const std::string &url, const std::string &url_for_once)> listening;
  std::function<bool()> should_end = [] { return false; };
};

// Serves until should_end() returns true, or until nobody has asked for so long. Throws Error if the port is taken, or
// if the target cannot be opened.
void explore(const ExploreOptions &options);

// Returns the page as one file with answers inside (kept_page.h). Throws as explore() does, and Interrupted.
std::string page_of(const ExploreOptions &options);

} // namespace dnheap::explore
