// `dnheap shell`: one Snapshot, many questions. What one answer had to build is there for the next.
#include "cli/commands.h"
#include "cli/help.h"
#include "cli/output.h"
#include "cli/screen.h"
#include "cli/shell_line.h"
#include "dnheap/error.h"
#include "dnheap/program.h"
#include "dnheap/text.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <list>
#include <memory>
#include <new>
#include <set>

namespace dnheap::cli {

namespace {

void say(std::string_view message) { std::fputs(("dnheap: " + printable_text(message) + "\n").c_str(), stderr); }

// The worse of two exit codes: an interruption counts most.
int worse(int a, int b) { return std::max(a, b); }

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
    const bool prompts = is_terminal(0) && is_terminal(1);
    while (!done_) {
      if (prompts) {
        std::fputs("dnheap> ", stdout);
        std::fflush(stdout);
      }
      const std::optional<std::string> line = next_line();
      if (!line)
        break;
      worst_ = worse(worst_, guarded(*line));
    }
    return prompts ? 0 : worst_;
  }

private:
  void open() {
    static std::list<Progress> &all =
        *new std::list<Progress>; // the signal handler may hold one until the process ends
    progress_ = &all.emplace_back();
    watch_interrupts();
    OpenOptions how;
    how.module_folders = options_.module_folders;
    how.temp_dir = options_.temp_dir;
    how.threads = options_.threads;
    how.runtime = options_.runtime;
    how.pause = options_.pause;
    how.max_memory = options_.max_memory;
    how.progress = progress_;
    snapshot_.reset();
    snapshot_.emplace(options_.process ? Snapshot::attach(*options_.process, how)
                                       : Snapshot::open(options_.target, how));
  }

  // Ctrl-C ends the question; what asks the program to end, ends it.
  void watch_interrupts() {
    cancel_on_interrupt(*progress_);
    for (int signal : {SIGTERM, SIGHUP})
      if (std::signal(signal, SIG_DFL) == SIG_IGN)
        std::signal(signal, SIG_IGN);
  }

  std::optional<std::string> next_line() {
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

  int guarded(const std::string &line) {
    try {
      if (progress_->now().is_cancelled)
        open(); // a cancelled Progress stays so
      return answer(line);
    } catch (const UsageError &error) {
      say(error.what());
      return 2;
    } catch (const NotFound &error) {
      say(error.what());
      return 5;
    } catch (const Interrupted &) {
      say("interrupted");
      return 130;
    } catch (const std::bad_alloc &) {
      say("out of memory: this question needs more than the machine, or --max-memory, allows");
    } catch (const std::exception &error) {
      say(error.what());
    }
    return 3;
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
    // As answers name the next command: with the program and the file.
    if (asked[0] == "dnheap" && asked.size() > 1)
      asked.erase(asked.begin());
    if (asked.size() > 1 && asked[1] == options_.target)
      asked.erase(asked.begin() + 1);
    std::vector<std::string> words = our_words(asked);
    if (words != asked && told_.insert(words[0]).second)
      say(asked[0] + " is '" + words[0] + "' here; help " + words[0] + " tells more");
    return ask_and_write(parsed(words), line);
  }

  // As if they stood on the command line, with the target.
  Options parsed(std::vector<std::string> words) {
    const std::string target = options_.process ? "--pid=" + std::to_string(*options_.process) : options_.target;
    for (std::string &word : words)
      if (word.size() > 1 && word[0] == '@')
        word = row_of_last_answer(word, words[0]);
    const auto verb = std::ranges::find(verbs_and_commands(), words[0], &Verb::name);
    if (verb != verbs_and_commands().end()) {
      if (find_command(*verb) || verb->takes_records || verb->records_reads)
        throw UsageError("'" + words[0] + "' is a command of its own: dnheap " + words[0] + ", outside of the shell");
      if (verb->needs_target && !(verb->answers_alone && words.size() == 1))
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

  // The address, type or thread of row N: asks the last question again, up to that row.
  std::string row_of_last_answer(const std::string &word, const std::string &verb) {
    if (!last_ || (verb == "path" && last_->verb->name == "report"))
      return word;
    const u64 wanted = std::strtoull(word.c_str() + 1, nullptr, 10);
    const Answer again = ask(*snapshot_, last_->verb->name, last_->question);
    const Table table = last_->question.table.empty() ? again.tables().front() : again.table(last_->question.table);
    std::string out;
    u64 row_number = 0;
    table.for_each_row([&](const Row &row) {
      if (++row_number != wanted)
        return true;
      out = subject_in(row, table.columns(), verb);
      return false;
    });
    if (out.empty())
      throw NotFound(word + ": the last answer, of '" + std::string(last_->verb->name) + "', has no such row for '" +
                     verb + "'");
    return out;
  }

  static std::string subject_in(const Row &row, const std::vector<Column> &columns, std::string_view verb) {
    using Keys = std::vector<std::string_view>;
    const Keys keys = verb == "stack"  ? Keys{"os_id"}
                      : verb == "show" ? Keys{"address", "object", "method_table"}
                      : verb == "path" ? Keys{"address", "object", "type"}
                                       : Keys{"type"};
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

  int ask_and_write(const Options &options, const ShellLine &line) {
    watch_interrupts();
    std::FILE *to = stdout;
    std::unique_ptr<std::FILE, Closing> program;
    std::unique_ptr<std::FILE, int (*)(std::FILE *)> file(nullptr, std::fclose);
    // Where it goes is tried before the work is done.
    std::error_code ignored;
    const Output checks(line.file.empty() ? options.output : line.file, {options_.target}, ">");
    const std::string name = line.file.empty() ? options.output : line.file;
    std::optional<Answer> answer;
    if (!options.help && !options.version)
      answer.emplace(options.target.empty() ? ask_alone(options.verb->name, options.question, progress_)
                                            : ask(*snapshot_, options.verb->name, options.question));
    if (!name.empty()) {
      file.reset(std::fopen(name.c_str(), line.appends ? "ab" : "wb"));
      to = file.get();
    } else if (!line.program.empty()) {
      program.reset(::popen(line.program.c_str(), "w"));
      to = program.get();
    }
    if (!to)
      throw Error("cannot write to " + (name.empty() ? line.program : name) + ": " + std::strerror(errno));
    const std::string what = !name.empty() ? name : program ? line.program : "standard output";
    if (!answer) {
      const std::string text = help_for(options);
      std::fwrite(text.data(), 1, text.size(), to);
    } else {
      answer->write(options.format->name, write_options(options, to == stdout && is_terminal(1)), to, what, progress_);
      if (!options.target.empty())
        last_ = options;
    }
    if (std::fflush(to) != 0 && errno != EPIPE)
      throw Error("cannot write to " + what + ": " + std::strerror(errno));
    return answer && answer->exceeded() ? 1 : 0;
  }

  const Options &options_;
  Progress *progress_ = nullptr;
  std::optional<Snapshot> snapshot_;
  std::optional<Options> last_;
  std::set<std::string> told_;
  int worst_ = 0;
  bool done_ = false;
};

} // namespace

int shell(const Options &options, Progress &) { return Shell(options).run(); }

} // namespace dnheap::cli
