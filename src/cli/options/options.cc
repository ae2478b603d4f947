#include "cli/options/options.h"

#include "cli/options/option_table.h"

#include <algorithm>
#include <filesystem>
#include <tuple>
#include <utility>

namespace dnheap::cli {

namespace {

// Returns "--name", as the user types it.
std::string spelled(const Option &option) { return "--" + std::string(option.name); }

class Parser {
public:
  Parser(std::span<const std::string_view> arguments, std::span<const Verb> verbs)
      : arguments_(arguments), verbs_(verbs) {}

  Options parse() {
    read_words();
    find_verb();
    if (options_.manual && (!options_.help || options_.verb))
      throw UsageError("--man shows one page for all verbs: dnheap help --man");
    if (options_.help || options_.version)
      return options_;
    find_target();
    check_verb_takes_options();
    if (options_.verb->makes_file)
      take_output_as_file();
    if (!options_.format)
      options_.format = usual_format();
    options_.question.top = options_.top.value_or(options_.format->default_top);
    options_.question.top_is_asked = options_.top.has_value();
    options_.question.target = options_.target;
    return options_;
  }

private:
  void read_words() {
    bool only_words = false;
    while (at_ < arguments_.size()) {
      std::string_view word = arguments_[at_++];
      const bool is_sql = word.starts_with("--") && word.find('\n') != word.npos; // SQL that begins with a comment
      if (only_words || is_sql || word.size() < 2 || word[0] != '-')
        words_.push_back(word);
      else if (word == "--")
        only_words = true;
      else if (word[1] == '-')
        read_long(word);
      else
        read_letters(word);
    }
  }

  // --name, --name VALUE or --name=VALUE
  void read_long(std::string_view word) {
    std::size_t equals = word.find('=');
    std::string_view name = word.substr(0, equals).substr(2);
    const Option *option = find([&](const Option &o) { return o.name == name; });
    if (!option)
      unknown(word.substr(0, equals));
    if (equals == std::string_view::npos)
      set(*option, option->value ? next_value(*option) : "");
    else if (option->value)
      set(*option, word.substr(equals + 1));
    else
      throw UsageError(spelled(*option) + " takes no value");
  }

  // -v, -o FILE or -oFILE; letters without a value may be combined
  void read_letters(std::string_view word) {
    for (std::size_t i = 1; i < word.size(); ++i) {
      const Option *option = find([&](const Option &o) { return o.letter && o.letter == word[i]; });
      if (!option)
        unknown(word);
      if (!option->value) {
        set(*option, "");
        continue;
      }
      set(*option, i + 1 < word.size() ? word.substr(i + 1) : next_value(*option));
      return;
    }
  }

  template <class Test> const Option *find(Test test) const {
    for (const Option &option : option_table())
      if (test(option))
        return &option;
    return nullptr;
  }

  [[noreturn]] void unknown(std::string_view word) const {
    std::vector<std::string> spellings;
    for (const Option &option : option_table())
      spellings.push_back(spelled(option));
    std::vector<std::string_view> names(spellings.begin(), spellings.end());
    std::string guess = did_you_mean(word, names);
    for (const Format &format : formats()) // names used by other tools
      if (word == "--" + std::string(format.name))
        guess = ", did you mean '--format " + std::string(format.name) + "'?";
    throw UsageError("unknown option " + in_quotes(word) + (guess.empty() ? "; dnheap --help lists all" : guess));
  }

  std::string_view next_value(const Option &option) {
    if (at_ == arguments_.size())
      throw UsageError(spelled(option) + " needs a value: " + spelled(option) + " " + option.value);
    return arguments_[at_++];
  }

  void set(const Option &option, std::string_view value) {
    if (option.value && value.empty())
      throw UsageError(spelled(option) + " needs a value: " + spelled(option) + " " + option.value);
    if (option.several == Several::refused && std::find(used_.begin(), used_.end(), &option) != used_.end())
      throw UsageError(spelled(option) + " is given twice");
    cli::set(options_, option, value);
    used_.push_back(&option);
  }

  const Verb *verb_named(std::string_view name) const {
    for (const Verb &verb : verbs_)
      if (verb.name == name)
        return &verb;
    return nullptr;
  }

  // Removes the verb from words_; a file alone means the first verb.
  void find_verb() {
    if (!words_.empty() && words_[0] == "help") {
      options_.help = true;
      words_.erase(words_.begin());
    }
    if (words_.empty()) {
      if (options_.process)
        options_.verb = &verbs_.front();
      else if (!options_.help && !options_.version)
        throw UsageError("which dump? usage: dnheap VERB TARGET [options]; dnheap --help lists the verbs");
      return;
    }
    options_.verb = verb_named(words_[0]);
    if (options_.verb)
      words_.erase(words_.begin());
    else if (words_.size() == 1 && is_file_name(words_[0]))
      options_.verb = &verbs_.front();
    else
      unknown_verb();
  }

  static bool is_file_name(std::string_view word) {
    std::error_code ignored;
    return word == "-" || word.find_first_of("/\\.") != std::string_view::npos ||
           std::filesystem::exists(word, ignored);
  }

  [[noreturn]] void unknown_verb() const {
    std::string word = in_quotes(words_[0]);
    if (words_.size() > 1 && verb_named(words_[1]))
      throw UsageError(word + " is not a verb; the verb comes first: dnheap " + std::string(words_[1]) + " " +
                       std::string(words_[0]));
    std::vector<std::string_view> names;
    for (const Verb &verb : verbs_)
      names.push_back(verb.name);
    std::string guess = did_you_mean(words_[0], names);
    std::string what = words_.size() > 1 ? "unknown verb " + word : word + " is neither a verb nor a file";
    throw UsageError(what + (guess.empty() ? "; the verbs are: " + comma_list(names) : guess));
  }

  void find_target() {
    if (!options_.verb->subjects.empty())
      take_subject();
    if (!options_.verb->needs_target) {
      if (!words_.empty() || options_.process)
        throw UsageError(usage_of(*options_.verb) + ": it takes no target");
      if (!options_.verb->subject.empty() && options_.question.subject.empty() && !options_.verb->subject_is_optional)
        throw UsageError(std::string(options_.verb->subject_asked) + " " + usage_of(*options_.verb));
      return;
    }
    if (options_.verb->answers_alone && words_.empty() && !options_.process && is_alone())
      return;
    if (options_.verb->needs_process && (!options_.listen.empty() || !options_.connect.empty()))
      return take_socket();
    if (options_.verb->needs_process && !options_.process)
      throw UsageError("it looks at a running process, which -p names; " + usage_of(*options_.verb));
    const bool subject = !options_.verb->subject.empty() && options_.verb->subjects.empty();
    const std::string usage = usage_of(*options_.verb);
    std::size_t wanted = subject ? 1 : 0;
    const bool takes_all = options_.verb->takes_several || options_.verb->takes_each;
    const std::size_t files = takes_all ? words_.size() : options_.process ? 0 : 1;
    if (words_.size() < files || files + (options_.process ? 1 : 0) < (options_.verb->takes_several ? 2 : 1))
      throw UsageError((options_.verb->takes_several ? "which dumps? " : "which dump? ") + usage);
    options_.targets.assign(words_.begin(), words_.begin() + static_cast<std::ptrdiff_t>(files));
    words_.erase(words_.begin(), words_.begin() + static_cast<std::ptrdiff_t>(files));
    if (std::ranges::count(options_.targets, "-") > 1)
      throw UsageError("'-', standard input, can be read once");
    if (std::ranges::any_of(options_.targets, &std::string::empty))
      throw UsageError("a file's name is empty; " + usage);
    if (files)
      options_.target = options_.targets.back();
    if (words_.size() > wanted)
      throw UsageError(options_.process && !subject ? "either --pid or a file, not both: " + in_quotes(words_[0])
                                                    : "unexpected " + in_quotes(words_[wanted]) + "; " + usage);
    if (words_.size() < wanted && !options_.verb->subject_is_optional)
      throw UsageError(std::string(options_.verb->subject_asked) + " " + usage);
    if (!words_.empty() && !options_.verb->subject.empty())
      options_.question.subject = words_[0];
    if (options_.process)
      options_.target = "--pid=" + std::to_string(*options_.process);
    else if (!options_.pause)
      throw UsageError("--no-pause needs a live process: --pid PID");
    else if (options_.by_port)
      throw UsageError("--by-port needs a live process: --pid PID");
    if (options_.by_port && (options_.verb->needs_memory || options_.verb->needs_process))
      throw UsageError(in_quotes(options_.verb->name) +
                       " does not take --by-port: the GC lists objects with their types, sizes and references, and "
                       "roots, but neither contents of objects nor threads");
    if (options_.by_port && !options_.pause)
      throw UsageError("--by-port and --no-pause exclude each other: the process collects, and stands still meanwhile");
  }

  // A socket stands for the process. Other verbs refuse these options later.
  void take_socket() const {
    if (!words_.empty())
      throw UsageError("unexpected " + in_quotes(words_[0]) + "; " + usage_of(*options_.verb));
    if ((options_.process ? 1 : 0) + (options_.listen.empty() ? 0 : 1) + (options_.connect.empty() ? 0 : 1) > 1)
      throw UsageError("one of --pid, --listen and --connect names the process");
  }

  Format usual_format() const {
    for (const Format &format : formats())
      if (format.name == options_.verb->format)
        return format;
    return formats().front();
  }

  bool is_alone() const { return options_.question.subject.empty() || options_.question.subject == "list"; }

  // Moves the verb's subject from words_ into the question; it may stand before or after the target. Without words and
  // process, find_target() decides what is missing.
  void take_subject() {
    const std::vector<std::string_view> &subjects = options_.verb->subjects;
    auto is_subject = [&](std::string_view word) {
      return std::find(subjects.begin(), subjects.end(), word) != subjects.end();
    };
    const bool is_optional = options_.verb->subject_is_optional;
    if (words_.empty() && (is_optional || !options_.process))
      return;
    auto at = std::find_if(words_.begin(), words_.end(), is_subject);
    if (at == words_.end() && is_optional && !options_.process && words_.size() == 1 && is_file_name(words_.front()))
      return;
    if (at == words_.end()) {
      const std::string asked(options_.verb->subject_asked);
      if (words_.empty())
        throw UsageError(asked + " one of " + comma_list(subjects) + "; " + usage_of(*options_.verb));
      auto meant = std::find_if_not(words_.begin(), words_.end(), is_file_name);
      const std::string_view wrong = meant == words_.end() ? words_.front() : *meant;
      const std::string guess = did_you_mean(wrong, subjects);
      throw UsageError(asked + " " + in_quotes(wrong) + " is none of " + comma_list(subjects) +
                       (guess.empty() ? "; " + usage_of(*options_.verb) : guess));
    }
    options_.question.subject = *at;
    words_.erase(at);
  }

  void take_output_as_file() {
    if (options_.output.empty())
      throw UsageError("missing -o: " + usage_of(*options_.verb));
    if (std::error_code ignored; std::filesystem::equivalent(options_.output, options_.target, ignored))
      throw UsageError("--output: " + in_quotes(std::string_view(options_.output)) + " is the dump itself");
    options_.question.output = std::exchange(options_.output, "");
  }

  void check_verb_takes_options() const {
    const Verb &verb = *options_.verb;
    for (const Option *option : used_)
      if (!takes(verb, *option))
        refuse(verb, *option);
    if (options_.format && !is_written_in(verb, *options_.format)) {
      if (const char *table = options_.format->table)
        throw UsageError("--format " + std::string(options_.format->name) + " works with verbs that have a table '" +
                         table + "'" + those_with(table));
      check_word("--format", options_.format->name, format_names(verb));
    }
    if (!options_.html.empty())
      for (const Option *option : used_)
        if (const Needs *needs = std::get_if<Needs>(&option->needs);
            option->name != std::string_view("html") &&
            (!needs || (*needs != Needs::nothing && *needs != Needs::target)))
          throw UsageError("--html and " + spelled(*option) +
                           " exclude each other: the page always has the same tables");
    const Question &question = options_.question;
    for (const auto &[option, word, words] :
         {std::tuple("--sort", &question.sort, &verb.sort_columns), std::tuple("--by", &question.by, &verb.by),
          std::tuple("--as", &question.as, &verb.as), std::tuple("--table", &question.table, &verb.tables)})
      if (!word->empty())
        check_word(option, *word, *words);
  }

  // Returns ": check": the verbs that have the table.
  std::string those_with(std::string_view table) const {
    std::vector<std::string_view> names;
    for (const Verb &verb : verbs_)
      if (std::find(verb.tables.begin(), verb.tables.end(), table) != verb.tables.end())
        names.push_back(verb.name);
    return names.empty() ? "" : ": " + comma_list(names);
  }

  [[noreturn]] void refuse(const Verb &verb, const Option &option) const {
    std::vector<std::string_view> others;
    for (const Verb &other : verbs_)
      if (takes(other, option))
        others.push_back(other.name);
    throw UsageError(in_quotes(verb.name) + " does not take " + spelled(option) +
                     (others.empty() ? "" : "; these verbs do: " + comma_list(others)));
  }

  std::span<const std::string_view> arguments_;
  std::span<const Verb> verbs_;
  std::size_t at_ = 0;
  std::vector<std::string_view> words_; // words that are no options
  std::vector<const Option *> used_;
  Options options_;
};

} // namespace

std::string usage_of(const Verb &verb) {
  const std::string subject(verb.subject);
  if (!verb.subjects.empty() && verb.answers_alone)
    return "usage: dnheap " + std::string(verb.name) + " [" + subject + "] [TARGET] [options]";
  return "usage: dnheap " + std::string(verb.name) +
         (!verb.needs_target   ? ""
          : verb.needs_process ? " -p PID"
          : verb.answers_alone ? " [-p PID]"
          : verb.takes_each    ? " TARGET…"
                               : " TARGET") +
         (verb.takes_several ? " TARGET…" : "") +
         (subject.empty()            ? ""
          : verb.subject_is_optional ? " [" + subject + "]"
                                     : " " + subject) +
         (verb.as.empty() ? "" : " --as FORMAT") +
         (!verb.makes_file   ? ""
          : has_answer(verb) ? " -o FILE"
                             : " -o DIR") +
         " [options]";
}

OpenOptions open_options(const Options &options, Progress &progress) {
  OpenOptions out;
  out.module_folders = options.module_folders;
  out.temp_dir = options.temp_dir;
  out.threads = options.threads;
  out.runtime = options.runtime;
  out.record_reads = options.verb->records_reads;
  out.standard_input = std::ranges::count(options.targets, "-") == 1;
  out.pause = options.pause;
  out.by_port = options.by_port;
  out.max_memory = options.max_memory;
  out.progress = &progress;
  return out;
}

Options parse_options(std::span<const std::string_view> arguments, std::span<const Verb> verbs) {
  return Parser(arguments, verbs).parse();
}

} // namespace dnheap::cli
