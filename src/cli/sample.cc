// `dnheap sample`: takes the time from the command line, and prints the library's answer.
#include "dnheap/sample.h"

#include "cli/commands.h"
#include "cli/output.h"
#include "cli/screen.h"
#include "dnheap/error.h"
#include "dnheap/program.h"

#include <charconv>
#include <string_view>
#include <system_error>
#include <utility>

namespace dnheap::cli {

namespace {

// "10s", "0.5s", "500ms", "2m", "1h"; a number alone is seconds.
double seconds_of(const std::string &text) {
  constexpr std::pair<std::string_view, double> units[] = {{"ms", 0.001}, {"s", 1}, {"m", 60}, {"h", 3600}, {"", 1}};
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && number > 0)
    for (const auto &[unit, seconds] : units)
      if (std::string_view(end, text.data() + text.size()) == unit)
        return number * seconds;
  throw UsageError("'" + text + "' is not a time: write 10s, 500ms or 2m");
}

} // namespace

int sample(const Options &options, Progress &progress) {
  if (!options.pause)
    throw UsageError("--no-pause: sample has to stop the process, for some milliseconds each time");
  SampleOptions how;
  how.open = open_options(options, progress);
  if (const std::string &time = options.question.subject; !time.empty())
    how.seconds = seconds_of(time);
  Output output(options.output, {}, false);
  cancel_on_interrupt(progress);
  const Answer answer = dnheap::sample(*options.process, how);
  const WriteOptions writing = write_options(options, output.is_standard_output() && is_terminal(1));
  if (answer.write(options.format->name, writing, output.begin(), output.name(), nullptr))
    output.finish();
  if (const std::string rest = options.format->tells_completeness ? "" : answer.unsaid(); !rest.empty())
    say(rest);
  constexpr int incomplete = 4;
  const bool is_strict_failure = options.strict && answer.completeness() && !answer.completeness()->complete;
  if (is_strict_failure)
    say("the answer is incomplete (--strict)");
  return is_strict_failure ? incomplete : 0;
}

} // namespace dnheap::cli
