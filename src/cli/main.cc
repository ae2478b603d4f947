// The program: options, then a snapshot, then the verb's answer, then a writer. This is the only place that turns
// exceptions into messages and exit codes.
#include "cli/answering.h"
#include "cli/commands.h"
#include "cli/help.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/screen.h"
#include "dnheap/error.h"
#include "dnheap/program.h"
#include "dnheap/text.h"
#include "dnheap/version.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>
#include <new>
#include <system_error>

namespace dnheap::cli {

namespace {

// The codes that exit_codes() documents.
enum Outcome {
  answered = 0,
  limit_exceeded = 1,
  wrong_usage = 2,
  cannot_answer = 3,
  incomplete = 4,
  not_found = 5,
  was_interrupted = 130
};

Progress &progress = *new Progress; // never destroyed, as the signal handler uses it, too

// An answered dump stays open until the process ends: the system then frees everything at once, which is faster than
// destroying it.
std::optional<Snapshot> &answered_about = *new std::optional<Snapshot>;

// Returns the passes of each target, one after the other.
std::vector<std::string_view> passes_of_all(const Options &options) {
  std::vector<std::string_view> out;
  auto add = [&](const std::string &target, bool of_process) {
    Question question = options.question;
    question.target = target;
    for (std::string_view pass : passes_of(*options.verb, question, of_process))
      out.push_back(pass);
  };
  for (const std::string &target : options.targets)
    add(target, false);
  if (options.process || options.targets.empty())
    add(options.target, options.process.has_value());
  return out;
}

// Runs `work`. Passes an exception's message to `tell`. Returns the exit code.
int guarded(const std::function<int()> &work, const std::function<void(std::string)> &tell) {
  try {
    return work();
  } catch (const UsageError &error) {
    tell(error.what());
    return wrong_usage;
  } catch (const NotFound &error) {
    tell(error.what());
    return not_found;
  } catch (const Interrupted &) {
    tell("interrupted");
    return was_interrupted;
  } catch (const Error &error) {
    tell(error.what());
  } catch (const std::bad_alloc &) {
    tell("out of memory: this question needs more than the machine, its container, or --max-memory allows");
  } catch (const std::system_error &error) {
    tell(std::string("the operating system refused: ") + error.what());
  } catch (const std::exception &error) {
    tell(std::string("internal error, please report it: ") + error.what());
  }
  return cannot_answer;
}

// Returns the graver one of two targets' exit codes.
int worse(int a, int b) {
  constexpr int order[] = {answered, incomplete, not_found, wrong_usage, cannot_answer};
  return std::ranges::find(order, a) < std::ranges::find(order, b) ? b : a;
}

// Opens, answers about, and closes one target after the other.
int answer_each(const Options &options) {
  Output output(options.output, options.targets, options.question.values);
  cancel_on_interrupt(progress);
  ProgressLine line(progress, passes_of_all(options), options.progress && is_terminal(2));
  const bool on_screen = output.is_standard_output() && is_terminal(1);
  const WriteOptions how = write_options(options, on_screen);
  std::FILE *to = nullptr; // null until there is something to write
  int worst = answered;
  Options of_one = options;
  std::vector<std::string> targets = options.targets;
  if (options.process)
    targets.push_back(options.target);
  for (std::size_t i = 0; i < targets.size(); ++i) {
    of_one.target = of_one.question.target = targets[i];
    of_one.process = i < options.targets.size() ? std::nullopt : options.process;
    std::optional<Snapshot> snapshot;
    std::optional<Answer> answer;
    std::string problem;
    int code = guarded(
        [&] {
          answer.emplace(answer_to(of_one, progress, snapshot));
          return int{answered};
        },
        [&](std::string why) { problem = std::move(why); });
    if (on_screen)
      line.stop();
    if (!problem.empty())
      say(problem);
    if (code == was_interrupted)
      return code;
    if (!answer && options.format->name == options.verb->format)
      answer.emplace(no_answer(options.verb->name, targets[i], problem));
    if (answer && !to)
      to = output.begin();
    if (answer && !answer->write(options.format->name, how, to, output.name(), &progress))
      return worst; // nobody reads it any more
    if (options.strict && answer && answer->completeness() && !answer->completeness()->complete) {
      say(targets[i] + ": the answer is incomplete (--strict)");
      code = incomplete;
    }
    worst = worse(worst, code);
  }
  if (to)
    output.finish();
  line.stop();
  if (options.perf)
    answer_times(progress).write("text", {}, stderr, "standard error");
  return worst;
}

// If a container runs out of memory, the kernel ends one of its processes, perhaps the target. A limit on this
// process's own memory prevents that. `watch` gets no such limit, as it runs for days and the free memory changes
// meanwhile: it checks the free memory before each core, and makes sure that the kernel would end it first.
void limit_own_memory(const Options &options) {
  if (!options.max_memory) {
    if (std::string_view(options.verb->name) != "watch")
      limit_memory_to_group(options.threads);
  } else if (!limit_memory(options.max_memory)) {
    throw Error("--max-memory is not supported on this system");
  }
}

int answer_question(const Options &options) {
  limit_own_memory(options);
  if (options.verb->takes_each)
    return answer_each(options);
  Output output(options.output, options.targets, options.question.values);
  cancel_on_interrupt(progress);
  ProgressLine line(progress, passes_of_all(options), options.progress && is_terminal(2));

  std::optional<Snapshot> snapshot;
  const Answer answer = answer_to(options, progress, snapshot);

  if (output.is_standard_output() && is_terminal(1))
    line.stop(); // both would draw on the same screen
  const std::optional<Completeness> completeness = answer.completeness();
  // A closed pipe is no failure: `| head` may have read enough.
  const WriteOptions how = write_options(options, output.is_standard_output() && is_terminal(1));
  if (answer.write(options.format->name, how, output.begin(), output.name(), &progress))
    output.finish();
  line.stop();
  if (std::string rest = options.format->tells_completeness ? "" : answer.unsaid(); !rest.empty())
    say(rest);
  if (options.perf)
    answer_times(progress).write("text", {}, stderr, "standard error");
  if (!options.process)
    answered_about.swap(snapshot);
  if (answer.exceeded())
    return limit_exceeded;
  if (answer.uncertain())
    return incomplete;
  if (options.strict && answer.unmatched()) {
    say("a limit names something that is not in this dump (--strict)");
    return incomplete;
  }
  if (!options.strict || !completeness || completeness->complete)
    return answered;
  say("the answer is incomplete (--strict)");
  return incomplete;
}

int run_command(int (*run)(const Options &, Progress &), const Options &options) {
  limit_own_memory(options);
  return run(options, progress);
}

// Returns "dnheap 0.1.0 (commit 0123456789ab)"; without the commit if the program was built outside of its repository.
std::string version_text() {
  const std::string commit = DNHEAP_COMMIT;
  return std::string("dnheap ") + library_version() + (commit.empty() ? "" : " (commit " + commit + ")") + "\n";
}

// What opens a dump more than once, or reads something else from standard input, cannot read a dump from there.
void check_standard_input(const Options &options) {
  if (std::ranges::find(options.targets, "-") == options.targets.end())
    return;
  if (find_command(*options.verb) || options.verb->takes_records || !options.html.empty())
    throw UsageError(std::string(options.html.empty() ? options.verb->name : "--html") +
                     " needs a file with a name; '-' is standard input");
}

int run(std::span<const std::string_view> arguments) {
  if (const std::optional<std::string> meant = meant_command(arguments))
    throw UsageError(*meant);
  Options options = parse_options(arguments, verbs_and_commands());
  if (options.version || options.help) {
    print_text(options.version ? version_text() : help_for(options));
    return answered;
  }
  check_standard_input(options);
  if (const Command *command = find_command(*options.verb))
    return run_command(command->run, options);
  if (!options.html.empty())
    return run_command(write_page, options);
  return answer_question(options);
}

} // namespace

} // namespace dnheap::cli

int main(int count, char **values) {
  dnheap::make_streams_safe();
  dnheap::survive_mapping_faults();
  std::vector<std::string_view> arguments(values + std::min(count, 1), values + count);
  return dnheap::cli::guarded([&] { return dnheap::cli::run(arguments); }, dnheap::cli::say);
}
