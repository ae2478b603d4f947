// Options: the command line, parsed and checked, before any file is opened. The options are rows of option_table.h.
#pragma once
#include "cli/options/integers.h"
#include "dnheap/verb.h"

#include <string>
#include <string_view>
#include <vector>

namespace dnheap::cli {

struct Options {
  bool help = false, version = false;
  bool manual = false;              // show the manual page instead of the help
  const Verb *verb = nullptr;       // null only with help and version
  std::string target;               // the last one of `targets`, or "--pid=…"
  std::vector<std::string> targets; // files, in the order given
  Question question;

  std::optional<Format> format; // nullopt only with help and version
  std::optional<u64> top;
  bool exact = false, full_names = false;
  std::string_view color = "auto"; // auto, always or never
  std::string output;              // file for the answer; empty = standard output

  std::vector<std::string> module_folders;
  std::string temp_dir;
  unsigned threads = 0; // 0 = one per processor
  std::optional<u32> runtime;
  u64 max_memory = 0; // 0 = no limit
  std::optional<u64> process;
  bool pause = true;                 // stop a live process while it is read
  std::uint16_t port = 0;            // explore: 0 = any free one
  u64 idle = 0;                      // explore: seconds; 0 = for ever
  std::string against;               // explore: a dump or a record to compare with
  std::vector<std::string> commands; // shell: run instead of typed lines
  std::vector<std::string> when;     // watch: conditions
  u64 every = 60, again = 0;         // watch: seconds
  u64 keep = 3;                      // watch: files
  bool extract = false;              // collect: make a small core of it
  std::string listen, connect;       // collect: a socket instead of a process's number
  u64 wait = 300;                    // collect: seconds, for a runtime to connect
  std::string html;                  // report: file to write the page to instead
  bool perf = false, progress = true, strict = false;
  bool by_port = false; // a live process's GC lists the objects, over the diagnostics port
};

// Returns "usage: dnheap show TARGET ADDR [options]".
std::string usage_of(const Verb &verb);

// `arguments` without the program's name. Throws UsageError: one line that names the wrong word.
Options parse_options(std::span<const std::string_view> arguments, std::span<const Verb> verbs);

// Returns how to open the targets.
OpenOptions open_options(const Options &options, Progress &progress);

} // namespace dnheap::cli
