// `dnheap explore`: runs the server; its contents are in src/explore/.
#include "cli/browser.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "dnheap/error.h"
#include "dnheap/program.h"
#include "dnheap/text.h"
#include "explore/explorer.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>

namespace dnheap::cli {

namespace {

explore::ExploreOptions explore_options(const Options &options, Progress &progress) {
  explore::ExploreOptions out;
  out.target = options.target;
  out.process = options.process;
  out.module_folders = options.module_folders;
  out.temp_dir = options.temp_dir;
  out.threads = options.threads;
  out.runtime = options.runtime;
  out.max_memory = options.max_memory;
  out.pause = options.pause;
  out.by_port = options.by_port;
  out.values = options.question.values;
  out.should_end = [&] { return progress.now().is_cancelled; };
  return out;
}

// Returns all files but the one that is shown. They are read later, so that they are there is checked now.
std::vector<std::string> others(const Options &options) {
  std::vector<std::string> out = options.targets;
  if (!options.process)
    out.pop_back(); // the last one is shown
  if (!options.against.empty())
    out.insert(out.begin(), options.against);
  for (const std::string &name : out)
    if (!std::ifstream(name))
      throw Error(name + ": " + std::strerror(errno));
  return out;
}

} // namespace

int explore(const Options &options, Progress &progress) {
  explore::ExploreOptions out = explore_options(options, progress);
  out.others = others(options);
  out.port = options.port;
  out.idle_seconds = options.idle;
  out.listening = [](const std::string &url, const std::string &url_for_once) {
    std::fprintf(stdout, "%s\n", url.c_str());
    std::fflush(stdout);
    std::fprintf(stderr, "dnheap: this address works only on this machine; keep it secret. Ctrl-C ends the server\n");
    open_browser(url_for_once); // `url` itself is secret, and other users can read command lines
  };
  cancel_on_interrupt(progress);
  explore::explore(out);
  return 0;
}

int write_page(const Options &options, Progress &progress) {
  cancel_on_interrupt(progress);
  Output output(options.html, options.targets, options.question.values, "--html");
  const std::string page = explore::page_of(explore_options(options, progress));
  std::FILE *file = output.begin();
  if (std::fwrite(page.data(), 1, page.size(), file) != page.size())
    throw Error("cannot write to " + output.name() + ": " + std::strerror(errno));
  output.finish();
  std::fprintf(stderr, "dnheap: %s has the report as a page, %s; it needs no network\n",
               printable_text(options.html).c_str(), bytes_text(page.size()).c_str());
  return 0;
}

} // namespace dnheap::cli
