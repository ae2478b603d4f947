// `dnheap collect`: has a process dump itself, and prints the library's answer about the file.
#include "dnheap/collect.h"

#include "cli/commands.h"
#include "cli/options/option_table.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/screen.h"
#include "dnheap/error.h"
#include "dnheap/program.h"

namespace dnheap::cli {

namespace {

CollectOptions collect_options(const Options &options, Progress &progress) {
  if (!options.pause)
    throw UsageError("--no-pause: the process itself writes the dump, and stands still meanwhile");
  if (options.output == "-")
    throw UsageError("--output: the process writes the dump to a file, not to standard output");
  CollectOptions out;
  out.file = options.output;
  if (!options.question.kind.empty()) {
    check_word("--kind", options.question.kind, dump_kinds());
    out.kind = options.question.kind;
  }
  out.extract = options.extract;
  out.no_values = options.question.no_values;
  out.open = open_options(options, progress);
  return out;
}

CollectPort collect_port(const Options &options) {
  if (!options.connect.empty())
    return {options.connect};
  return {options.listen, true, options.wait, [&options] {
            say("waits up to " + std::to_string(options.wait) + " s for a .NET runtime on " + options.listen +
                ": DOTNET_DiagnosticPorts=" + options.listen + ",nosuspend");
          }};
}

Answer collect_with_line(const Options &options, const CollectOptions &how, Progress &progress) {
  const ProgressLine line(progress, {}, options.progress && is_terminal(2));
  return options.process ? dnheap::collect(*options.process, how) : dnheap::collect(collect_port(options), how);
}

} // namespace

int collect(const Options &options, Progress &progress) {
  const CollectOptions how = collect_options(options, progress);
  cancel_on_interrupt(progress);
  try {
    const Answer answer = collect_with_line(options, how, progress);
    Output output("", {}, false);
    const WriteOptions writing = write_options(options, is_terminal(1));
    if (answer.write(options.format->name, writing, output.begin(), output.name(), nullptr))
      output.finish();
    if (options.perf)
      answer_times(progress).write("text", {}, stderr, "standard error");
    return 0;
  } catch (const Interrupted &) {
    say("nothing is left of the file; a process that has begun to dump itself cannot be stopped, and stands still "
        "until "
        "it is done");
    throw;
  }
}

} // namespace dnheap::cli
