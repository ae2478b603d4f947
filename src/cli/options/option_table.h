// The options as rows of one table, from which parsing, checking, help and completion follow. A verb's own row says
// which of them it takes. A new option is a row here and, unless it goes into the Question, a member of Options.
#pragma once
#include "cli/options/options.h"
#include "dnheap/error.h"
#include "dnheap/text.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace dnheap::cli {

// What a verb must have to take an option. nothing: every verb takes it. target: the verb has a target. answer: it
// gives an answer, which commands do not. words: it writes an answer or events. file: it makes a file, or gives an
// answer. sort_columns, by, tables: that list in the verb's row is not empty.
enum class Needs : u8 { nothing, target, answer, words, file, sort_columns, by, tables };
using Several = QuestionOption::Several;
// Only this command takes the option.
struct OnlyOf {
  std::string_view command;
};

struct Option {
  const char *name;                         // without the dashes
  char letter;                              // 0 = none
  const char *value;                        // its value's name in help; null = takes none
  std::variant<Needs, Takes, OnlyOf> needs; // the condition for a verb to take it
  const char *help;
  void (*set)(Options &options, std::string_view value) = nullptr;
  Several several = Several::last_counts;
  // Returns the possible words for its value if they are known in advance; null: any value.
  std::vector<std::string_view> (*words)(const Verb &verb) = nullptr;
  const QuestionOption *of_question = nullptr; // the option of Question that it sets; null: none
};

std::span<const Option> option_table();
// Throws UsageError.
void set(Options &options, const Option &option, std::string_view value);
// Returns the possible values of the option; empty: any value.
std::vector<std::string_view> words_of_value(const Verb &verb, const Option &option);
// The kinds of dumps that collect makes.
std::vector<std::string_view> dump_kinds();
bool takes(const Verb &verb, const Option &option);
// True if the verb answers a question; false for commands.
bool has_answer(const Verb &verb);
// True also for commands that write an answer.
bool gives_answer(const Verb &verb);
// True if its answer can be written in that format. A command has events instead: lines for people, or for programs.
bool is_written_in(const Verb &verb, const Format &format);
std::vector<std::string_view> format_names(const Verb &verb);

// For messages.
std::string in_quotes(std::string_view text);
template <class Words> std::string comma_list(const Words &words) {
  std::string out;
  for (std::string_view word : words)
    out += (out.empty() ? "" : ", ") + std::string(word);
  return out;
}
// Throws UsageError, which lists the words, unless `word` is one of them.
template <class Words> void check_word(const char *option, std::string_view word, const Words &words) {
  if (std::find(words.begin(), words.end(), word) == words.end())
    throw UsageError(std::string(option) + ": " + in_quotes(word) + " is none of " + comma_list(words) +
                     did_you_mean(word, words));
}

} // namespace dnheap::cli
