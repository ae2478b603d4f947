// Answers questions that are written as command lines. The answers are JSON, unless the words have a --format.
#include "c/opened.h"
#include "cli/answering.h"

#include <algorithm>
#include <cstdlib>

namespace dnheap::c {

namespace {

// Copies the words, as the callers insert further words.
std::vector<std::string> words_of(const char *function, const char *const *arguments, std::size_t count) {
  require(function, {{"arguments", arguments}});
  if (!count)
    throw UsageError(std::string(function) + ": which verb? there are no arguments");
  std::vector<std::string> out;
  for (std::size_t i = 0; i < count; ++i) {
    require(function, {{"one of the arguments", arguments[i]}});
    out.emplace_back(arguments[i]);
  }
  return out;
}

cli::Options parsed(std::vector<std::string> words) {
  words.insert(words.begin(), "--format=json"); // a later one takes precedence
  const std::vector<std::string_view> arguments(words.begin(), words.end());
  cli::Options out = cli::parse_options(arguments, verbs());
  if (out.help || out.version || out.perf || out.strict || !out.html.empty() || !out.output.empty())
    throw UsageError("--help, --version, --perf, --strict, --html and --output need the program dnheap: this function "
                     "only returns an answer");
  return out;
}

// Parses a question for a verb that a Snapshot answers, with the target's name where the command line has it.
cli::Options question(const Opened &opened, std::vector<std::string> words) {
  const std::string name = words[0];
  const Verb &verb = verb_called(name);
  if (verb.takes_records || verb.records_reads || !verb.needs_target)
    throw UsageError("'" + name + "' itself opens the dumps that it needs: use dnheap_command()");
  words.insert(words.begin() + 1, opened.target);
  cli::Options out = parsed(std::move(words));
  if (!out.module_folders.empty() || !out.temp_dir.empty() || out.max_memory || out.runtime || out.threads ||
      out.target != opened.target || !out.pause || out.by_port)
    throw UsageError(
        "--pid, --no-pause, --by-port, --modules, --runtime, --threads, --temp-dir and --max-memory are set when the "
        "snapshot is opened: see dnheap_options");
  return out;
}

std::string text_of(const Answer &answer, const cli::Options &options) {
  return answer.text(options.format->name, {.top = options.question.top,
                                            .exact = options.exact,
                                            .verbose = options.question.verbose,
                                            .table = options.question.table,
                                            .threads = options.threads,
                                            .full_names = options.full_names,
                                            .color = options.color == "always"});
}

// Copies the text to memory of C's malloc().
void give(const std::string &text, char **answer, std::size_t *size) {
  char *out = static_cast<char *>(std::malloc(text.size() + 1));
  if (!out)
    throw std::bad_alloc();
  std::memcpy(out, text.c_str(), text.size() + 1);
  *answer = out;
  if (size)
    *size = text.size();
}

} // namespace

} // namespace dnheap::c

using namespace dnheap::c;

int dnheap_ask(dnheap_snapshot *snapshot, const char *const *arguments, size_t count, char **answer, size_t *size) {
  return guarded([&] {
    require("dnheap_ask", {{"snapshot", snapshot}, {"answer", answer}});
    const std::shared_ptr<Opened> opened = snapshot->opened;
    const dnheap::cli::Options options = question(*opened, words_of("dnheap_ask", arguments, count));
    std::string text;
    opened->run([&] { text = text_of(dnheap::ask(*opened->snapshot, options.verb->name, options.question), options); });
    give(text, answer, size);
  });
}

int dnheap_command(const char *const *arguments, size_t count, dnheap_on_progress on_progress, void *context,
                   char **answer, size_t *size) {
  return guarded([&] {
    require("dnheap_command", {{"answer", answer}});
    const dnheap::cli::Options options = parsed(words_of("dnheap_command", arguments, count));
    if (options.verb->takes_each && options.targets.size() + options.process.has_value() > 1)
      throw dnheap::UsageError("'" + std::string(options.verb->name) +
                               "' answers each target separately: name one target per call");
    const std::shared_ptr<Opened> opened = Opened::make(on_progress, context);
    std::string text;
    opened->run(
        [&] { text = text_of(dnheap::cli::answer_to(options, opened->progress(), opened->snapshot), options); });
    give(text, answer, size);
  });
}

void dnheap_free(void *answer) { std::free(answer); }
