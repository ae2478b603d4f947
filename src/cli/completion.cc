#include "cli/completion.h"

#include "cli/commands.h"
#include "cli/help.h"
#include "cli/options/option_table.h"
#include "cli/output.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace dnheap::cli {

namespace {

using Names = std::vector<std::string_view>;

std::string joined(const Names &names, std::string_view separator = " ") {
  return fmt::format("{}", fmt::join(names, separator));
}

std::string replaced(std::string_view text, std::string_view what, std::string_view by) {
  std::string out(text);
  for (std::size_t at = 0; (at = out.find(what, at)) != out.npos; at += by.size())
    out.replace(at, what.size(), by);
  return out;
}

Names names_of(std::span<const Verb> verbs) {
  Names out;
  for (const Verb &verb : verbs)
    out.push_back(verb.name);
  return out;
}

bool takes_many(const Verb &verb) { return verb.takes_several || verb.takes_each; }

bool is(const Option &option, std::string_view value) { return option.value && option.value == value; }

// Returns the spellings of an option: "-o" and "--output".
std::vector<std::string> spellings(const Option &option) {
  std::vector<std::string> out = {"--" + std::string(option.name)};
  if (option.letter)
    out.insert(out.begin(), std::string("-") + option.letter);
  return out;
}

std::string spellings_of_those_with_value(std::string_view separator) {
  std::vector<std::string> out;
  for (const Option &option : option_table())
    if (option.value)
      for (std::string &one : spellings(option))
        out.push_back(std::move(one));
  return fmt::format("{}", fmt::join(out, separator));
}

// Maps each list of words for an option to the verbs that have it; one list if all verbs have the same.
std::map<Names, Names> verbs_by_words(const Option &option, std::span<const Verb> verbs) {
  std::map<Names, Names> out;
  for (const Verb &verb : verbs)
    if (takes(verb, option))
      if (const Names words = words_of_value(verb, option); !words.empty())
        out[words].push_back(verb.name);
  return out;
}

// --- bash ---

// `list`: the text between the quotes of a -W.
std::string bash_words(std::string_view list) { return fmt::format("__dnheap_words '{}'", list); }

std::string bash_values(std::span<const Verb> verbs) {
  std::string out;
  auto add = [&](const Option &option, const Names &of, const std::string &action) {
    std::vector<std::string> patterns;
    for (const std::string &spelling : spellings(option))
      for (std::string_view verb : of)
        patterns.push_back(fmt::format("{}:{}", verb, spelling));
    out += fmt::format("    {}) {} ;;\n", fmt::join(patterns, " | "), action);
  };
  for (const Option &option : option_table()) {
    if (const std::map<Names, Names> all = verbs_by_words(option, verbs); !all.empty()) {
      for (const auto &[words, of] : all)
        add(option, all.size() == 1 ? Names{"*"} : of, bash_words(joined(words)));
    } else if (is(option, "FILE"))
      add(option, {"*"}, "__dnheap_files -f");
    else if (is(option, "DIR"))
      add(option, {"*"}, "__dnheap_files -d");
  }
  return out;
}

std::string bash_options_of(const Verb &verb) {
  std::vector<std::string> own;
  for (const Option &option : option_table())
    if (takes(verb, option))
      for (std::string &one : spellings(option))
        own.push_back(std::move(one));
  return bash_words(fmt::format("{}", fmt::join(own, " ")));
}

std::string bash_options(std::span<const Verb> verbs) {
  std::string out;
  for (const Verb &verb : verbs)
    out += fmt::format("    {}) {} ;;\n", verb.name, bash_options_of(verb));
  return out;
}

// Completes what follows the verb: files, the verb's own words, or nothing if no word can be guessed.
std::string bash_subjects(std::span<const Verb> verbs) {
  std::string out;
  for (const Verb &verb : verbs) {
    std::string action;
    if (!verb.subjects.empty())
      action = fmt::format("((count < {})) && {}", verb.needs_target ? 2 : 1, bash_words(joined(verb.subjects)));
    if (verb.needs_target)
      action += fmt::format("{}{}__dnheap_files -f", action.empty() ? "" : "; ",
                            takes_many(verb)         ? ""
                            : !verb.subjects.empty() ? "((count < 2)) && "
                                                     : "((count == 0)) && ");
    if (!action.empty())
      out += fmt::format("    {}) {} ;;\n", verb.name, action);
  }
  return out;
}

std::string bash_script(std::span<const Verb> verbs) {
  const std::string all = joined(names_of(verbs));
  return fmt::format(R"(# bash completion for dnheap, made by: dnheap completion bash

__dnheap_words() {{ COMPREPLY+=($(compgen -W "$1" -- "$word")); }}

__dnheap_files() {{
  local name
  while IFS= read -r name; do COMPREPLY+=("$name"); done < <(compgen "$1" -- "$word")
  compopt -o filenames 2>/dev/null
}}

_dnheap() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} option='' verb='' only_words='' count=0 i
  [[ $word != = ]] || word=''
  COMPREPLY=()
  # In front of the cursor: the verb, how many words behind it, and an option that waits for its value.
  for ((i = 1; i < COMP_CWORD; ++i)); do
    local before=${{COMP_WORDS[i]}}
    if [[ $before == = ]]; then continue; fi
    if [[ $option ]]; then option=''; continue; fi
    if [[ ! $only_words ]]; then
      case $before in
      {values}) option=$before; continue ;;
      --) only_words=1; continue ;;
      -?*) continue ;;
      esac
    fi
    if [[ $verb ]]; then ((++count)); else verb=$before; fi
  done
  if [[ $option ]]; then
    case $verb:$option in
{option_values}    esac
  elif [[ $word == -* && ! $only_words ]]; then
    case $verb in
    help) {help_options} ;;
{options}    *) {first_options} ;;
    esac
  elif [[ ! $verb ]]; then
    {all_verbs}
    __dnheap_files -f
  else
    case $verb in
    help) ((count == 0)) && {all_verbs_alone} ;;
{subjects}    esac
  fi
  return 0
}}
complete -F _dnheap dnheap
)",
                     fmt::arg("values", spellings_of_those_with_value(" | ")),
                     fmt::arg("option_values", bash_values(verbs)), fmt::arg("options", bash_options(verbs)),
                     fmt::arg("help_options", bash_words("--man")),
                     fmt::arg("first_options", bash_options_of(verbs.front())), // a file alone means this verb
                     fmt::arg("all_verbs", bash_words(all + " help")), fmt::arg("all_verbs_alone", bash_words(all)),
                     fmt::arg("subjects", bash_subjects(verbs)));
}

// --- zsh ---

std::string zsh_quoted(std::string_view text) { return "'" + replaced(text, "'", R"('\'')") + "'"; }

// Escapes a text in a specification of _arguments or _describe.
std::string zsh_escaped(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c == '\\' || c == ':' || c == '[' || c == ']')
      out += '\\';
    out += c;
  }
  return out;
}

std::string zsh_option(const Option &option, const Verb &verb) {
  std::string value, behind;
  if (option.value) {
    const Names words = words_of_value(verb, option);
    behind = !words.empty()       ? "(" + joined(words) + ")"
             : is(option, "FILE") ? "_files"
             : is(option, "DIR")  ? "_files -/"
                                  : " ";
    value = ":" + zsh_escaped(option.value) + ":" + behind;
  }
  const std::string text = zsh_quoted("[" + zsh_escaped(option.help) + "]" + value);
  const std::string star = option.several == Several::all_count ? "*" : "";
  const std::string name = "--" + std::string(option.name);
  if (!option.letter)
    return zsh_quoted(star + name + (option.value ? "=" : "")) + text;
  const std::string front = star.empty() ? zsh_quoted(fmt::format("(-{} {})", option.letter, name)) : "'*'";
  return fmt::format("{}{{-{}{},{}{}}}{}", front, option.letter, option.value ? "+" : "", name, option.value ? "=" : "",
                     text);
}

std::string zsh_subjects(const Verb &verb) {
  if (!verb.subjects.empty() && verb.needs_target)
    return zsh_quoted(
        fmt::format("*: :_alternative \"words:{}:({})\" \"files:TARGET:_files\"", verb.subject, joined(verb.subjects)));
  if (!verb.subjects.empty())
    return zsh_quoted(fmt::format("1:{}:({})", verb.subject, joined(verb.subjects)));
  std::string out = !verb.needs_target ? "" : takes_many(verb) ? "'*:TARGET:_files'" : "'1:TARGET:_files'";
  if (!verb.subject.empty())
    out += " " + zsh_quoted(fmt::format("2:{}: ", zsh_escaped(verb.subject)));
  return out;
}

std::string zsh_arguments(const Verb &verb) {
  std::string out = "_arguments -s";
  for (const Option &option : option_table())
    if (takes(verb, option))
      out += " \\\n        " + zsh_option(option, verb);
  if (const std::string subjects = zsh_subjects(verb); !subjects.empty())
    out += " \\\n        " + subjects;
  return out;
}

std::string zsh_script(std::span<const Verb> verbs) {
  std::string described, cases, before;
  for (const Verb &verb : verbs) {
    described += "      " + zsh_quoted(std::string(verb.name) + ":" + zsh_escaped(verb.question)) + "\n";
    cases += fmt::format("    {})\n      {} && ret=0\n      ;;\n", verb.name, zsh_arguments(verb));
  }
  for (const Option &option : option_table())
    if (is_common(option) && takes(verbs.front(), option))
      before += " \\\n    " + zsh_option(option, verbs.front());
  return fmt::format(R"(#compdef dnheap
# zsh completion for dnheap, made by: dnheap completion zsh

_dnheap() {{
  local curcontext=$curcontext state line ret=1
  typeset -A opt_args
  _arguments -C -s -A '-*'{before} \
    '1: :->verb' '*:: :->rest' && ret=0
  case $state in
  verb)
    local -a verbs=(
{described}      'help:this, or what a verb does'
    )
    _describe -t verbs verb verbs && ret=0
    _files && ret=0
    ;;
  rest)
    case $line[1] in
    help)
      _arguments '--man[the manual page, as roff]' '1:verb:({all})' && ret=0
      ;;
{cases}    *)
      {first} && ret=0
      ;;
    esac
    ;;
  esac
  return ret
}}

if [[ $funcstack[1] == _dnheap ]]; then
  _dnheap "$@"
else
  compdef _dnheap dnheap
fi
)",
                     fmt::arg("before", before), fmt::arg("described", described), fmt::arg("cases", cases),
                     fmt::arg("all", joined(names_of(verbs))), fmt::arg("first", zsh_arguments(verbs.front())));
}

// --- fish ---

std::string fish_quoted(std::string_view text) {
  return "'" + replaced(replaced(text, "\\", "\\\\"), "'", "\\'") + "'";
}

// Returns one line of the script: completes `what` if `condition` holds.
std::string fish_line(const std::string &condition, const std::string &what) {
  return "complete -c dnheap" + (condition.empty() ? "" : " -n " + fish_quoted(condition)) + " " + what + "\n";
}

std::string fish_options(std::span<const Verb> verbs) {
  std::string out;
  for (const Option &option : option_table()) {
    const std::string head = (option.letter ? fmt::format("-s {} ", option.letter) : "") + "-l " + option.name;
    const std::string tail = " -d " + fish_quoted(option.help);
    auto add = [&](const Names &of, const std::string &value) {
      out += fish_line(of.empty() ? "" : "__dnheap_of " + joined(of), head + value + tail);
    };
    if (const std::map<Names, Names> all = verbs_by_words(option, verbs); !all.empty()) {
      for (const auto &[words, of] : all)
        add(of, " -x -a " + fish_quoted(joined(words)));
      continue;
    }
    Names of;
    for (const Verb &verb : verbs)
      if (takes(verb, option))
        of.push_back(verb.name);
    if (of.empty()) // that of help
      of = {"help"};
    add(of.size() == verbs.size() ? Names() : of, !option.value        ? ""
                                                  : is(option, "FILE") ? " -r -F"
                                                  : is(option, "DIR")  ? " -x -a '(__fish_complete_directories)'"
                                                                       : " -x");
  }
  return out;
}

std::string fish_subjects(std::span<const Verb> verbs) {
  std::string out;
  Names one_file, several_files;
  for (const Verb &verb : verbs) {
    out += fish_line("__dnheap_at 0", fmt::format("-a {} -d {}", verb.name, fish_quoted(verb.question)));
    if (!verb.subjects.empty())
      out += fish_line(fmt::format("__dnheap_of {}; and __dnheap_at 1{}", verb.name, verb.needs_target ? " 2" : ""),
                       fmt::format("-a {}", fish_quoted(joined(verb.subjects))));
    if (verb.needs_target)
      (takes_many(verb) || !verb.subjects.empty() ? several_files : one_file).push_back(verb.name);
  }
  out += fish_line("__dnheap_at 0", "-a help -d 'this, or what a verb does'");
  out += fish_line("__dnheap_of help; and __dnheap_at 1", "-a " + fish_quoted(joined(names_of(verbs))));
  out += fish_line("__dnheap_at 0", "-F");
  out += fish_line("__dnheap_of " + joined(one_file) + "; and __dnheap_at 1", "-F");
  out += fish_line("__dnheap_of " + joined(several_files), "-F");
  return out;
}

std::string fish_script(std::span<const Verb> verbs) {
  return fmt::format(R"(# fish completion for dnheap, made by: dnheap completion fish

# In front of the cursor: the verb and the words behind it, without options and their values.
function __dnheap_words
    set -l value 0
    for token in (commandline -opc)[2..-1]
        if test $value = 1
            set value 0
            continue
        end
        switch $token
            case {values}
                set value 1
            case '-*'
            case '*'
                printf '%s\n' $token
        end
    end
end

# It is one of these verbs; a file alone means the first one.
function __dnheap_of
    set -l words (__dnheap_words)
    set -q words[1]; or return 1
    contains -- $words[1] {all} help; or set words[1] {first}
    contains -- $words[1] $argv
end

# So many words stand there.
function __dnheap_at
    contains -- (count (__dnheap_words)) $argv
end

complete -c dnheap -f
{subjects}{options})",
                     fmt::arg("values", spellings_of_those_with_value(" ")), fmt::arg("all", joined(names_of(verbs))),
                     fmt::arg("first", verbs.front().name), fmt::arg("subjects", fish_subjects(verbs)),
                     fmt::arg("options", fish_options(verbs)));
}

} // namespace

std::string completion_script(std::string_view shell, std::span<const Verb> verbs) {
  return shell == "bash" ? bash_script(verbs) : shell == "zsh" ? zsh_script(verbs) : fish_script(verbs);
}

int completion(const Options &options, Progress &) {
  print_text(completion_script(options.question.subject, verbs_and_commands()));
  return 0;
}

} // namespace dnheap::cli
