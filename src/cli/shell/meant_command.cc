// The command that another tool's words mean here.
#include "cli/commands.h"
#include "cli/shell/sos.h"

#include <algorithm>
#include <filesystem>
#include <vector>

namespace dnheap::cli {

namespace {

bool is_our_verb(std::string_view word) {
  return word == "help" || std::ranges::find(verbs_and_commands(), word, &Verb::name) != verbs_and_commands().end();
}

// "gc roots": the first word alone is a verb of ours.
bool is_name_of_two(std::span<const std::string_view> words) {
  return words.size() > 1 && !sos_commands_called(std::string(words[0]) + "_" + std::string(words[1])).empty();
}

bool is_there(std::string_view file) {
  std::error_code ignored;
  return file == "-" || std::filesystem::exists(file, ignored);
}

// One that is not there, mistyped perhaps, is no type.
bool is_called_as_dumps_are(std::string_view word) {
  constexpr std::string_view endings[] = {".core", ".dmp", ".gcdump", ".zst", ".gz", ".xz", ".lz4"};
  return word.find_first_of("/\\") != word.npos || word.starts_with("core.") ||
         std::ranges::any_of(endings, [&](std::string_view ending) { return word.ends_with(ending); });
}

// A command line of another tool: its words, and what they are asked of.
struct Line {
  std::vector<std::string> words, targets;
};

Line line_of(std::span<const std::string_view> arguments) {
  Line out;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view word = arguments[i];
    if ((word == "-p" || word == "--pid") && i + 1 < arguments.size())
      out.targets.push_back("-p " + std::string(arguments[++i]));
    else if (!out.words.empty() && (is_there(word) || is_called_as_dumps_are(word)))
      out.targets.emplace_back(word);
    else
      out.words.emplace_back(word);
  }
  return out;
}

// Returns the word as it can be typed.
std::string typed(const std::string &word) {
  if (!word.empty() && word.find_first_of(" \t|><&;()$`\\\"'*?[]#~{}") == word.npos)
    return word;
  const char quote = word.find('\'') == word.npos ? '\'' : '"';
  return quote + word + quote;
}

} // namespace

std::optional<std::string> meant_command(std::span<const std::string_view> arguments) {
  if (arguments.size() > 1 && arguments[0] == "help")
    arguments = arguments.subspan(1);
  if (arguments.empty() || arguments[0].starts_with('-') || is_there(arguments[0]) ||
      (is_our_verb(arguments[0]) && !is_name_of_two(arguments)))
    return std::nullopt;
  Line line = line_of(arguments);
  const std::string said = line.words[0];
  const std::vector<std::string> ours = our_words(line.words);
  if (ours == line.words || !is_our_verb(ours[0]))
    return std::nullopt;
  if (line.targets.empty())
    line.targets = {"TARGET"};
  std::string out = "unknown verb '" + said + "'; that is here: dnheap " + ours[0];
  for (const std::string &target : line.targets)
    out += " " + (target.starts_with("-p ") ? target : typed(target));
  for (std::size_t i = 1; i < ours.size(); ++i)
    out += " " + typed(ours[i]);
  const auto verb = std::ranges::find(verbs_and_commands(), ours[0], &Verb::name);
  return verb->takes_several ? out : out + "; dnheap shell " + line.targets[0] + " takes such words as they are";
}

} // namespace dnheap::cli
