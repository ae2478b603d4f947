// `dnheap shell`: one Snapshot, many questions. Results computed for one answer are reused for the next.
#include "cli/commands.h"
#include "cli/help.h"
#include "cli/options/option_table.h"
#include "cli/options/shell_line.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/screen.h"
#include "cli/shell/line_editor.h"
#include "cli/shell/seen_addresses.h"
#include "cli/shell/sos.h"
#include "cli/shell/suggestion.h"
#include "dnheap/error.h"
#include "dnheap/program.h"
#include "dnheap/text.h"
#include "dnheap/version.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <list>
#include <memory>
#include <new>
#include <set>
#include <utility>

namespace dnheap::cli {

namespace {

constexpr const char *prompt = "dnheap> ";

void say(std::string_view message) { std::fputs(("dnheap: " + printable_text(message) + "\n").c_str(), stderr); }

// Returns the worse of two exit codes: an interruption counts most.
int worse(int a, int b) { return std::max(a, b); }

// Converts the result of pclose(). As in shells, a signal is 128 plus its number.
int exit_code_of(int status) {
#ifdef WIFEXITED
  if (WIFSIGNALED(status) && WTERMSIG(status) != SIGPIPE)
    return 128 + WTERMSIG(status);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 0;
#else
  return status;
#endif
}

struct Closing {
  void operator()(std::FILE *pipe) const { ::pclose(pipe); }
};

class Shell {
public:
  explicit Shell(const Options &options) : options_(options) {}

  int run() {
    open();
    if (!options_.commands.empty()) {
      for (const std::string &command : options_.commands)
        if (!done_)
          worst_ = worse(worst_, guarded(command));
      return worst_;
    }
    prompts_ = is_terminal(0) && is_terminal(1);
    if (prompts_)
      greet();
    const std::unique_ptr<LineEditor> editor =
        prompts_ ? LineEditor::open(
                       prompt, [this](std::string_view before) { return completed(before); }, HistoryFile::of_user())
                 : nullptr;
    while (!done_) {
      const std::optional<std::string> line = editor ? editor->next() : next_line();
      if (!line)
        break;
      worst_ = worse(worst_, guarded(*line));
    }
    return prompts_ ? 0 : worst_;
  }

private:
  void open() {
    static std::list<Progress> &all =
        *new std::list<Progress>; // never destroyed, as the signal handler may use one until the process ends
    progress_ = &all.emplace_back();
    watch_interrupts();
    const OpenOptions how = open_options(options_, *progress_);
    snapshot_.reset();
    snapshot_.emplace(options_.process ? Snapshot::attach(*options_.process, how)
                                       : Snapshot::open(options_.target, how));
  }

  void greet() {
    const TargetInfo info = snapshot_->info();
    const std::string version = info.runtime_version.empty() ? "" : " " + info.runtime_version;
    std::fputs(printable_text(options_.target + ": .NET" + version + " on " + info.operating_system + " " +
                              info.architecture + ". 'help' lists what can be asked; SOS commands work, too.")
                   .c_str(),
               stdout);
    std::fputs("\n", stdout);
  }

  Completion completed(std::string_view before) {
    try {
      return complete(before, {[this] { return type_names(); }, seen_.list()});
    } catch (const std::exception &) { // for example interrupted
      return {before.size(), "", {}};
    }
  }

  // Returns the heap's types, the largest first; computed once.
  const std::vector<std::string> &type_names() {
    if (!types_.empty())
      return types_;
    if (progress_->now().is_cancelled)
      open();
    const Answer answer = ask(*snapshot_, "stat");
    answer.tables().front().for_each_row([&](const Row &row) {
      const std::optional<std::string_view> name = row["type"].text();
      if (name && printable_text(*name) == *name && !name->starts_with('-')) // else it cannot be typed as it is shown
        types_.emplace_back(*name);
      return true;
    });
    return types_;
  }

  // Ctrl-C ends the question; signals that ask the program to end, end it.
  void watch_interrupts() {
    cancel_on_interrupt(*progress_);
#ifdef SIGHUP
    for (int signal : {SIGTERM, SIGHUP})
#else
    for (int signal : {SIGTERM})
#endif
      if (std::signal(signal, SIG_DFL) == SIG_IGN)
        std::signal(signal, SIG_IGN);
  }

  std::optional<std::string> next_line() {
    if (prompts_) {
      std::fputs(prompt, stdout);
      std::fflush(stdout);
    }
    std::string line;
    for (int c; (c = std::getc(stdin)) != '\n';) {
      if (c != EOF)
        line += static_cast<char>(c);
      else if (errno == EINTR && std::ferror(stdin)) { // Ctrl-C at the prompt: a new line
        std::clearerr(stdin);
        errno = 0;
        std::fputs("\n", stderr);
        return "";
      } else if (line.empty())
        return std::nullopt;
      else
        break;
    }
    return line;
  }

  int guarded(const std::string &typed) {
    const std::optional<std::string> proposed = std::exchange(suggested_, std::nullopt);
    const std::string line = proposed && accepts_suggestion(typed, prompts_) ? *proposed : typed;
    try {
      if (progress_->now().is_cancelled)
        open(); // a cancelled Progress stays cancelled
      return answer(line);
    } catch (const UsageError &error) {
      return say_and_propose(line, error.what(), 2);
    } catch (const NotFound &error) {
      return say_and_propose(line, error.what(), 5);
    } catch (const Interrupted &) {
      say("interrupted");
      return 130;
    } catch (const std::bad_alloc &) {
      say("out of memory: this question needs more than the machine, its container, or --max-memory allows");
    } catch (const std::exception &error) {
      say(error.what());
    }
    return 3;
  }

  // Keeps the line that was probably meant, for the next one to accept.
  int say_and_propose(const std::string &line, const std::string &error, int code) {
    suggested_ = suggested_line(line, error);
    say(error + (suggested_ && prompts_ ? " Enter or y runs: " + *suggested_ : ""));
    return code;
  }

  int answer(const std::string &text) {
    const ShellLine line = parse_line(text);
    if (line.words.empty())
      return 0;
    if (line.words[0] == "quit" || line.words[0] == "exit" || line.words[0] == "q") {
      done_ = true;
      return 0;
    }
    std::vector<std::string> asked = line.words;
    // Accepts lines in the form of an answer's next command: with the program and the file.
    if (asked[0] == "dnheap" && asked.size() > 1)
      asked.erase(asked.begin());
    if (asked.size() > 1 && asked[1] == options_.target)
      asked.erase(asked.begin() + 1);
    if (const std::optional<std::string> help = help_for(asked))
      return write_text(*help, line);
    if (const std::optional<std::string> thread = thread_set_by(asked))
      return set_thread(*thread);
    if (const std::optional<std::string> text_of_shell = sos_text(asked))
      return write_text(*text_of_shell, line);
    const std::vector<std::string> words = our_words(asked, thread_);
    check_verb(words[0]);
    if (words[0] != asked[0].substr(asked[0].starts_with('!')) && told_.insert(asked[0] + " " + words[0]).second)
      say("dnheap runs: " + spelled(words));
    return ask_and_write(parsed(words), line);
  }

  // The thread must exist: it throws NotFound otherwise.
  int set_thread(const std::string &thread) {
    Question question;
    question.subject = thread;
    question.top = 1;
    ask(*snapshot_, "stack", question);
    thread_ = thread;
    if (prompts_)
      say("clrstack, dumpstackobjects and registers look at thread " + thread + " from now on");
    return 0;
  }

  // Returns the words as they can be typed.
  static std::string spelled(const std::vector<std::string> &words) {
    std::string out;
    for (const std::string &word : words)
      out += (out.empty() ? "" : " ") + (word.find_first_of(" |>#'\"") == word.npos ? word : "'" + word + "'");
    return out;
  }

  // Nullopt if the line does not ask for help.
  static std::optional<std::string> help_for(const std::vector<std::string> &words) {
    const bool behind = std::ranges::any_of(words, [](const std::string &word) {
      return word == "-?" || word == "/?" || word == "-h" || word == "--help";
    });
    const bool first = words[0] == "help" || words[0] == "?" || words[0] == "soshelp";
    if (!first && !behind)
      return std::nullopt;
    const std::string of = !first ? words[0] : words.size() > 1 ? words[1] : "";
    if (std::string out = help_of_tool(of.empty() && words[0] == "soshelp" ? "sos" : of); !out.empty())
      return out;
    if (of.empty() || of == "-?" || of == "-h" || of == "--help")
      return shell_help(verbs_and_commands());
    const auto verb = std::ranges::find(verbs_and_commands(), of, &Verb::name);
    if (verb != verbs_and_commands().end())
      return verb_help(*verb);
    if (std::string out = sos_help(of); !out.empty())
      return out;
    check_verb(of);
    return std::nullopt;
  }

  static void check_verb(const std::string &word) {
    if (word.starts_with('-') ||
        std::ranges::find(verbs_and_commands(), word, &Verb::name) != verbs_and_commands().end())
      return;
    if (Address::parse(word) && word.starts_with("0x"))
      throw UsageError("missing verb before " + word + ": show " + word + " shows the object there, path " + word +
                       " what holds it");
    std::vector<std::string_view> names;
    for (const Verb &verb : verbs_and_commands())
      names.push_back(verb.name);
    for (const SosCommand &command : sos_commands())
      names.push_back(command.name);
    const std::string guess = did_you_mean(word, names);
    throw UsageError("'" + word + "' is neither a verb nor a command of SOS, Eclipse MAT or Chrome that dnheap knows" +
                     (guess.empty() ? "; help lists what can be asked" : guess));
  }

  // Parses the words as if they stood on the command line, with the target.
  Options parsed(std::vector<std::string> words) {
    const std::string target = options_.process ? "--pid=" + std::to_string(*options_.process) : options_.target;
    for (std::size_t i = 1; i < words.size(); ++i)
      if (words[i].size() > 1 && words[i].find_first_not_of("0123456789", 1) == words[i].npos && words[i][0] == '@') {
        std::string found = row_of_last_answer(words[i], words[0], words[i - 1]);
        if (found.starts_with('-'))
          throw UsageError(words[i] + ": '" + printable_text(found) + "' would be read as an option");
        words[i] = std::move(found);
        if (words[i - 1] == "--type") // a name, not a regular expression
          words[i - 1] = "--type-exact";
      }
    const auto verb = std::ranges::find(verbs_and_commands(), words[0], &Verb::name);
    if (verb != verbs_and_commands().end()) {
      if (verb->takes_records && verb->takes_several)
        throw UsageError("'" + words[0] + "' looks at several dumps, the shell at one: dnheap " + words[0] +
                         " EARLIER " + options_.target + ", outside of the shell");
      if (find_command(*verb) || verb->takes_records || verb->records_reads)
        throw UsageError("'" + words[0] + "' is a command of its own: dnheap " + words[0] + ", outside of the shell");
      if (verb->needs_target)
        words.insert(words.begin() + 1, target);
    }
    const std::vector<std::string_view> arguments(words.begin(), words.end());
    Options out = parse_options(arguments, verbs_and_commands());
    if (!out.module_folders.empty() || !out.temp_dir.empty() || out.max_memory || out.runtime || !out.html.empty())
      throw UsageError(
          "--modules, --runtime, --temp-dir, --max-memory and --html belong to the shell's own command line");
    if (out.verb && !out.help && out.target != options_.target && !out.target.empty())
      throw UsageError("the shell has one dump: leave out the file's name");
    return out;
  }

  // Returns the address, type or thread in row N of the last answer, by asking the last question again up to that row.
  std::string row_of_last_answer(const std::string &word, const std::string &verb, const std::string &before) {
    const Keys keys = keys_for(verb, before);
    if (!last_ || (verb == "path" && last_->verb->name == "report"))
      return word;
    const u64 wanted = std::strtoull(word.c_str() + 1, nullptr, 10);
    const Answer again = ask(*snapshot_, last_->verb->name, last_->question);
    const std::vector<Table> tables = again.tables();
    const auto seen = std::ranges::find_if(tables, [&](const Table &one) { // the other tables are for programs
      return one.in_text() && (last_->question.table.empty() || one.name() == last_->question.table);
    });
    const Table &table = seen == tables.end() ? tables.front() : *seen;
    std::string out;
    u64 row_number = 0;
    table.for_each_row([&](const Row &row) {
      if (++row_number != wanted)
        return true;
      out = subject_in(row, table.columns(), keys);
      return false;
    });
    if (out.empty())
      throw NotFound(word + ": the last answer, of '" + std::string(last_->verb->name) + "', has no such row for '" +
                     (before.starts_with("-") ? before : verb) + "'");
    return out;
  }

  using Keys = std::vector<std::string_view>;

  // Returns the columns with values that can follow that word: an option, or else a verb. A row with both a place and
  // its object (roots, handles) gives the object.
  static Keys keys_for(std::string_view verb, std::string_view before) {
    std::string_view wanted;
    const auto of_verb = std::ranges::find(verbs_and_commands(), verb, &Verb::name);
    if (of_verb != verbs_and_commands().end())
      wanted = of_verb->subject;
    for (const Option &option : option_table())
      if (option.value && before == "--" + std::string(option.name))
        wanted = option.value;
    if (wanted == "THREAD")
      return {"os_id"};
    Keys out;
    if (wanted.starts_with("ADDR"))
      out = {"object", "address", "example"};
    if (verb == "show")
      out.push_back("method_table");
    if (!wanted.starts_with("ADDR") || wanted.find("TYPE") != wanted.npos)
      out.push_back("type");
    return out;
  }

  static std::string subject_in(const Row &row, const std::vector<Column> &columns, const Keys &keys) {
    for (std::string_view key : keys)
      for (std::size_t i = 0; i < columns.size(); ++i)
        if (columns[i].key == key) {
          if (const std::optional<std::uint64_t> number = row[i].number())
            return columns[i].kind == Column::Kind::address ? Address(*number).text() : std::to_string(*number);
          if (const std::optional<std::string_view> text = row[i].text())
            return std::string(*text);
        }
    return "";
  }

  // The destination of an answer: standard output, the file after > or -o, or the program after |.
  struct Place {
    Place(const ShellLine &line, const std::string &output, bool is_private)
        : name(line.file.empty() ? output : line.file) {
      if (!name.empty() && line.appends) {
        const bool is_new = !std::filesystem::exists(name);
        appended.reset(std::fopen(name.c_str(), "ab"));
        to = appended.get();
        if (to && is_new && is_private)
          std::filesystem::permissions(name, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
      } else if (!name.empty()) {
        to = file.emplace(name, std::vector<std::string>(), is_private).begin();
      } else if (!line.program.empty()) {
        name = line.program;
        program.reset(::popen(line.program.c_str(), "w"));
        to = program.get();
      } else {
        name = "standard output";
      }
      if (!to)
        fail();
    }
    bool is_screen() const { return to == stdout && is_terminal(1); }
    // Returns the exit code of the program, or 0.
    int finish() {
      if (std::fflush(to) != 0 && errno != EPIPE)
        fail();
      if (file)
        file->finish();
      return program ? exit_code_of(::pclose(program.release())) : 0;
    }
    [[noreturn]] void fail() const { throw Error("cannot write to " + name + ": " + std::strerror(errno)); }

    std::string name; // in errors
    std::unique_ptr<std::FILE, Closing> program;
    std::unique_ptr<std::FILE, int (*)(std::FILE *)> appended{nullptr, std::fclose};
    std::optional<Output> file;
    std::FILE *to = stdout;
  };

  // Checks the answer's destination before the work is done.
  void check_place(const ShellLine &line, const std::string &output) const {
    const Output checks(line.file.empty() ? output : line.file, {options_.target}, true, ">");
  }

  int write_text(const std::string &text, const ShellLine &line) const {
    check_place(line, "");
    Place place(line, "", false);
    std::fwrite(text.data(), 1, text.size(), place.to);
    return place.finish();
  }

  int ask_and_write(const Options &options, const ShellLine &line) {
    watch_interrupts();
    check_place(line, options.output);
    if (options.help)
      return write_text(cli::help_for(options), line);
    if (options.version)
      return write_text(std::string("dnheap ") + library_version() + "\n", line);
    const bool alone = options.target.empty();
    ProgressLine progress(*progress_, passes_of(*options.verb, options.question, options_.process.has_value()),
                          options_.progress && options.progress && prompts_ && is_terminal(2));
    const Answer answer = alone ? ask_alone(options.verb->name, options.question, progress_)
                                : ask(*snapshot_, options.verb->name, options.question);
    progress.stop();
    Place place(line, options.output, options.question.values);
    write(answer, options, place);
    if (!alone)
      last_ = options;
    const int of_program = place.finish();
    if (std::string rest = options.format->tells_completeness ? "" : answer.unsaid(); !rest.empty())
      say(rest);
    return of_program ? of_program : answer.exceeded() ? 1 : answer.uncertain() ? 4 : 0;
  }

  void write(const Answer &answer, const Options &options, Place &place) {
    const WriteOptions how = write_options(options, place.is_screen());
    seen_.clear();
    // Answers on the screen are short; all others are written as they are produced.
    if (!prompts_ || !place.is_screen() || how.top == 0) {
      answer.write(options.format->name, how, place.to, place.name, progress_);
      return;
    }
    const std::string text = answer.text(options.format->name, how);
    seen_.look_at(text);
    if (std::fwrite(text.data(), 1, text.size(), place.to) != text.size())
      place.fail();
  }

  const Options &options_;
  Progress *progress_ = nullptr;
  std::optional<Snapshot> snapshot_;
  std::optional<Options> last_;
  std::set<std::string> told_;
  std::string thread_;                   // the current one; empty: none was set
  std::optional<std::string> suggested_; // what the last line may have been meant to be
  std::vector<std::string> types_;       // for TAB
  SeenAddresses seen_;
  bool prompts_ = false;
  int worst_ = 0;
  bool done_ = false;
};

} // namespace

int shell(const Options &options, Progress &) { return Shell(options).run(); }

} // namespace dnheap::cli
