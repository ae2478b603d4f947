// `dnheap sample`: takes the time from the command line, and prints the library's answer.
#include "dnheap/sample.h"

#include "cli/commands.h"
#include "cli/output.h"
#include "cli/screen.h"
#include "dnheap/error.h"
#include "dnheap/program.h"
#include "dnheap/text.h"

namespace dnheap::cli {

int sample(const Options &options, Progress &progress) {
  if (!options.process)
    throw UsageError("sample needs -p PID: it looks at a running process, again and again");
  SampleOptions how;
  how.open = open_options(options, progress);
  if (const std::string &time = options.question.subject; !time.empty()) {
    const std::optional<std::uint64_t> seconds = parse_duration(time);
    if (!seconds || !*seconds)
      throw UsageError("'" + time + "' is no time: write 10s or 2m");
    how.seconds = static_cast<double>(*seconds);
  }
  Output output(options.output, {}, false);
  cancel_on_interrupt(progress);
  const Answer answer = dnheap::sample(*options.process, how);
  const WriteOptions writing = write_options(options, output.is_standard_output() && is_terminal(1));
  if (answer.write(options.format->name, writing, output.begin(), output.name(), nullptr))
    output.finish();
  if (const std::string rest = options.format->tells_completeness ? "" : answer.unsaid(); !rest.empty())
    say(rest);
  return 0;
}

} // namespace dnheap::cli
