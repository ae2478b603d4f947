// `dnheap watch`: prints the library's events as lines; the library decides when to look and which cores to keep.
#include "dnheap/watch.h"

#include "cli/commands.h"
#include "cli/output.h"
#include "dnheap/error.h"
#include "dnheap/program.h"
#include "dnheap/text.h"

#include <filesystem>

namespace dnheap::cli {

int watch(const Options &options, Progress &progress) {
  constexpr int ended_by_itself = 6;
  WatchOptions out;
  out.pid = options.process;
  out.conditions = options.when;
  out.folder = options.question.output;
  out.keep = options.keep;
  out.every = options.every;
  out.again = options.again;
  out.no_values = options.question.no_values;
  if (options.by_port)
    throw UsageError("--by-port: watch writes cores of the process, and has to stop it for that");
  out.open = open_options(options, progress);
  if (!options.targets.empty())
    throw UsageError("watch needs -p PID: it looks at a running process, not at a file");
  if (out.conditions.empty())
    throw UsageError("missing --when CONDITION, such as --when 'rss>1.5G' or --when oom");
  if (std::error_code ignored; !std::filesystem::is_directory(out.folder, ignored))
    throw UsageError("--output: '" + out.folder + "' is not a folder: cores go there, so make it first");
  cancel_on_interrupt(progress);
  be_first_to_go();
  const bool as_json = std::string_view(options.format->name) == "ndjson";
  const bool has_ended = dnheap::watch(out, [&](const WatchEvent &event) {
    if (!print_text((as_json ? event.json : printable_text(event.text)) + "\n"))
      progress.cancel();
  });
  return has_ended ? ended_by_itself : 0;
}

} // namespace dnheap::cli
