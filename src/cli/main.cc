// The program: options, then a snapshot, then the verb's answer, then a writer. The only place that turns exceptions
// into messages and exit codes.
#include "analysis/verb.h"
#include "base/host.h"
#include "base/mapping_faults.h"
#include "base/not_found.h"
#include "base/text.h"
#include "cli/help.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "report/encoding.h"
#include "snapshot/snapshot.h"

#include <new>
#include <system_error>

namespace dnheap::cli {

namespace {

// What scripts can rely on; see --help.
enum ExitCode {
  answered = 0,
  wrong_usage = 2,
  cannot_answer = 3,
  incomplete = 4,
  not_found = 5,
  was_interrupted = 130
};

Progress progress; // for the signal handler as well, so it stays until the process ends

void say(std::string_view message) {
  std::string line = "dnheap: ";
  report::append_printable(line, message);
  std::fputs((line + "\n").c_str(), stderr);
}

SnapshotOptions snapshot_options(const Options &options, const Watch &watch) {
  SnapshotOptions out;
  out.module_folders = options.module_folders;
  out.temp_dir = options.temp_dir;
  out.threads = options.threads ? options.threads : processor_count();
  out.runtime = options.runtime;
  out.record_reads = options.verb->makes_file;
  out.pause = options.pause;
  out.max_memory = options.max_memory;
  out.watch = watch;
  return out;
}

report::WriteOptions write_options(const Options &options, const Watch &watch) {
  return {options.question.top, options.exact, options.question.verbose, options.question.table, watch};
}

void print_times(const std::vector<PassTime> &times) {
  report::Table table;
  table.columns = {{"pass", "Pass", report::Kind::text},
                   {"milliseconds", "ms", report::Kind::number},
                   {"bytes", "Bytes", report::Kind::bytes},
                   {"rate", "GB/s", report::Kind::number}};
  std::vector<report::Row> rows;
  for (const PassTime &time : times) {
    report::Row row = {time.name, time.seconds * 1000, {}, {}};
    if (time.bytes)
      row[2] = time.bytes;
    if (time.bytes && time.seconds > 0)
      row[3] = static_cast<double>(time.bytes) / time.seconds / 1e9;
    rows.push_back(std::move(row));
  }
  table.set_rows(std::move(rows));
  table.notes = {"peak memory " + bytes_text(peak_memory()) + ", pages of mapped files included"};
  report::Answer answer;
  answer.tables.push_back(std::move(table));
  report::Sink sink(stderr, "standard error");
  report::write_text(answer, {}, sink);
}

int answer_question(const Options &options) {
  if (options.max_memory && !limit_memory(options.max_memory))
    throw Error("--max-memory is not supported on this system");
  Output output(options.output, options.target);
  cancel_on_interrupt(progress);
  std::vector<PassTime> times;
  Watch watch{&progress, options.perf ? &times : nullptr};
  ProgressLine line(progress, passes_of(*options.verb, options.question, options.process.has_value()),
                    options.progress && is_terminal(2));

  std::unique_ptr<Snapshot> snapshot;
  report::Answer answer;
  if (options.verb->answer_alone) {
    answer = options.verb->answer_alone(options.question, watch);
  } else {
    const SnapshotOptions how = snapshot_options(options, watch);
    snapshot = options.process ? Snapshot::attach(*options.process, how) : Snapshot::open(options.target, how);
    answer = ask(*options.verb, *snapshot, options.question);
  }

  if (output.is_standard_output() && is_terminal(1))
    line.stop(); // both would draw on the same screen
  bool complete = !answer.completeness || answer.completeness->complete;
  try {
    Timer timer(watch, "write");
    options.writer->write(answer, write_options(options, watch), output.begin());
    output.finish();
  } catch (const report::OutputClosed &) {
    // `| head` has seen enough: that is not a failure.
  }
  line.stop();
  if (std::string rest = options.writer->tells_completeness ? "" : report::unsaid(answer); !rest.empty())
    say(rest);
  if (options.perf)
    print_times(times);
  if (options.strict && !complete)
    say("part of the heap could not be read (--strict)");
  return options.strict && !complete ? incomplete : answered;
}

int print(const std::string &text) {
  report::Sink sink(stdout, "standard output");
  sink.write(text);
  sink.flush();
  return answered;
}

int run(std::span<const std::string_view> arguments) {
  Options options = parse_options(arguments, verbs());
  if (options.version)
    return print("dnheap " DNHEAP_VERSION "\n");
  if (options.help)
    return print(options.verb ? verb_help(*options.verb) : general_help(verbs()));
  return answer_question(options);
}

int guarded_run(std::span<const std::string_view> arguments) {
  try {
    return run(arguments);
  } catch (const UsageError &error) {
    say(error.what());
    return wrong_usage;
  } catch (const NotFound &error) {
    say(error.what());
    return not_found;
  } catch (const Interrupted &) {
    say("interrupted");
    return was_interrupted;
  } catch (const report::OutputClosed &) {
    return answered;
  } catch (const Error &error) {
    say(error.what());
  } catch (const std::bad_alloc &) {
    say("out of memory: this question needs more than the machine, or --max-memory, allows");
  } catch (const std::system_error &error) {
    say(std::string("the operating system refused: ") + error.what());
  } catch (const std::exception &error) {
    say(std::string("internal error, please report it: ") + error.what());
  }
  return cannot_answer;
}

} // namespace

} // namespace dnheap::cli

int main(int count, char **values) {
  dnheap::make_streams_safe();
  dnheap::survive_mapping_faults();
  std::vector<std::string_view> arguments(values + std::min(count, 1), values + count);
  return dnheap::cli::guarded_run(arguments);
}
