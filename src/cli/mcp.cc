// `dnheap mcp`: offers verbs as tools for agents, over stdio. The protocol is in src/mcp/; this file manages the dumps,
// each of which is opened at its first question.
#include "cli/commands.h"
#include "cli/mcp_tools.h"
#include "dnheap/error.h"
#include "dnheap/program.h"
#include "dnheap/record.h"
#include "dnheap/text.h"
#include "dnheap/version.h"
#include "mcp/stdio_server.h"

#include <algorithm>
#include <fmt/format.h>
#include <list>
#include <mutex>
#include <new>

namespace dnheap::cli {

namespace {

using mcp::Json;

constexpr std::uint64_t usual_timeout = 60; // seconds for a question in SQL: an endless one would block all others
constexpr std::size_t most_bytes = 60'000;  // most bytes of an answer; some 20,000 tokens

constexpr std::string_view instructions =
    "dnheap reads the managed heap of .NET processes from their dumps. Begin with 'report': what fills the memory, who "
    "holds it. 'path' shows why something is alive; its subject is an address, a type, or @1 for the report's first "
    "suspect. 'retained' shows what would be freed; 'threads', 'locks' and 'async' show why a program hangs. Addresses "
    "are texts such as \"0x7ff3ad1a15d8\". Each answer says how much of the heap it is based on (completeness).";

// The dumps, and the questions about them. Call ask() on one thread; step() and cancel() from any.
class Dumps {
public:
  explicit Dumps(const Options &options) : options_(options), targets_(options.targets) {
    if (options.process)
      targets_.push_back(options.target);
    names_ = names_of_targets(targets_);
    snapshots_.resize(targets_.size());
  }

  const std::vector<std::string> &names() const { return names_; }
  bool values() const { return options_.question.values; }

  mcp::ToolResult call(const mcp::Call &call) {
    try {
      return answered(call);
    } catch (const Interrupted &) {
      return failed("cancelled");
    } catch (const std::bad_alloc &) {
      return failed("out of memory: this question needs more than the machine, its container, or --max-memory allows");
    } catch (const std::exception &error) {
      return failed(error.what());
    }
  }

  // Returns the number of passes begun, plus the fraction done of the current one.
  std::optional<mcp::Step> step() {
    const std::lock_guard lock(mutex_);
    if (!progress_)
      return std::nullopt;
    const Progress::Now now = progress_->now();
    if (!now.pass)
      return std::nullopt;
    if (now.pass != pass_ || now.done < done_)
      passes_ += pass_ != nullptr;
    pass_ = now.pass;
    done_ = now.done;
    const double part = now.total ? std::min(0.99, static_cast<double>(now.done) / static_cast<double>(now.total)) : 0;
    return mcp::Step{static_cast<double>(passes_ + 1) + part,
                     now.total ? fmt::format("{}: {:.0f} %", now.pass, 100 * part) : std::string(now.pass)};
  }

  void cancel() {
    const std::lock_guard lock(mutex_);
    if (progress_)
      progress_->cancel();
  }

private:
  static mcp::ToolResult failed(const std::string &why) { return {.texts = {printable_text(why)}, .is_error = true}; }

  mcp::ToolResult answered(const mcp::Call &call) {
    begin();
    const Verb &verb = verb_called(call.tool);
    const ToolWords asked = words_of_call(verb, call.arguments, names_, values());
    const std::vector<std::string_view> words(asked.words.begin(), asked.words.end());
    Options options = parse_options(words, verbs_and_commands());
    if (!options.question.timeout && std::ranges::find(verb.takes, Takes::timeout) != verb.takes.end())
      options.question.timeout = usual_timeout;
    if (!asked.targets.empty())
      options.question.target = targets_[asked.targets.back()];
    const Answer answer = ask_verb(verb, options, asked.targets);
    WriteOptions how;
    how.top = options.question.top;
    how.table = options.question.table;
    how.threads = options_.threads;
    Json json = Json::parse(answer.text("json", how), nullptr, false);
    if (json.is_discarded())
      throw Error("internal error, please report it: the answer is not JSON");
    std::vector<std::string> texts = {answer.headline()};
    if (!answer.lead().empty())
      texts[0] += "\n\n" + answer.lead();
    if (const std::string more = left_out_text(json); !more.empty())
      texts[0] += "\n\n" + more;
    // Includes an estimate for the words about cuts.
    const std::size_t words_take = texts[0].size() + answer.next_command().size() + most_bytes / 60;
    if (const std::string cut = cut_to_size(json, most_bytes - std::min(words_take, most_bytes / 2)); !cut.empty())
      texts[0] += "\n\n" + cut;
    if (!answer.next_command().empty())
      texts[0] +=
          "\n\nnext: " + tool_call_text(answer.next_command(),
                                        names_.empty() ? "" : names_[asked.targets.empty() ? 0 : asked.targets.back()],
                                        names_);
    texts[0] = printable_lines(texts[0]);
    texts.push_back(json.dump(-1, ' ', false, Json::error_handler_t::replace));
    return {.texts = std::move(texts), .structured = std::move(json)};
  }

  static std::string printable_lines(const std::string &text) {
    std::string out;
    for (std::size_t at = 0; at <= text.size();) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      out += (at ? "\n" : "") + printable_text(std::string_view(text).substr(at, end - at));
      at = end + 1;
    }
    return out;
  }

  Answer ask_verb(const Verb &verb, const Options &options, const std::vector<std::size_t> &targets) {
    if (!verb.takes_records)
      return verb.answers_alone && options.targets.empty()
                 ? ask_alone(verb.name, options.question, &progress())
                 : ask(snapshot(targets.front()), verb.name, options.question);
    std::vector<Record> records;
    for (std::size_t target : targets)
      records.push_back(Record::of(snapshot(target), !options.question.no_findings_of.empty()));
    return ask_records(verb.name, records, options.question);
  }

  // A cancelled Progress stays cancelled, so dumps are opened again with a new one.
  void begin() {
    const std::lock_guard lock(mutex_);
    if (!progress_ || progress_->now().is_cancelled) {
      for (std::optional<Snapshot> &snapshot : snapshots_)
        snapshot.reset();
      progress_.emplace();
    }
    pass_ = nullptr;
    passes_ = done_ = 0;
  }

  Progress &progress() { return *progress_; }

  Snapshot &snapshot(std::size_t number) {
    std::optional<Snapshot> &out = snapshots_[number];
    if (!out) {
      const OpenOptions how = open_options(options_, progress());
      const bool is_process = options_.process && number + 1 == targets_.size();
      out.emplace(is_process ? Snapshot::attach(*options_.process, how) : Snapshot::open(targets_[number], how));
    }
    return *out;
  }

  const Options &options_;
  std::vector<std::string> targets_, names_;

  std::mutex mutex_; // guards the members up to the snapshots, which use the Progress as long as they exist
  std::optional<Progress> progress_;
  const char *pass_ = nullptr;
  std::uint64_t passes_ = 0, done_ = 0;
  std::vector<std::optional<Snapshot>> snapshots_;
};

} // namespace

int mcp(const Options &options, Progress &) {
  Dumps dumps(options);
  const mcp::Protocol protocol(library_version(), std::string(instructions),
                               mcp_tools(verbs(), dumps.names(), dumps.values()));
  mcp::serve(protocol,
             {.call = [&](const mcp::Call &call) { return dumps.call(call); },
              .step = [&] { return dumps.step(); },
              .cancel = [&] { dumps.cancel(); }},
             0, 1);
  return 0;
}

} // namespace dnheap::cli
