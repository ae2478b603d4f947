#include "cli/commands.h"

#include <algorithm>

namespace dnheap::cli {

namespace {

const std::vector<Command> &commands() {
  static const std::vector<Command> all = {
      {.words = {.name = "explore",
                 .question = "look at it in a browser",
                 .details = "Serves a page on this machine alone, at an address with a secret part, and opens it where "
                            "there is a browser: types, owners, the map of what holds what, single objects, threads, "
                            "waste. The dump is read once, in the background: the first tables are there at once, what "
                            "is held by what follows. Contents of strings and fields are shown only with --values. "
                            "Ends with Ctrl-C.",
                 .takes = {Takes::values}},
       .run = explore},
  };
  return all;
}

} // namespace

std::span<const Verb> verbs_and_commands() {
  static const std::vector<Verb> all = [] {
    const std::span<const Verb> verbs = dnheap::verbs();
    std::vector<Verb> out(verbs.begin(), verbs.end());
    for (const Command &command : commands())
      out.push_back(command.words);
    return out;
  }();
  return all;
}

const Command *find_command(const Verb &words) {
  const auto at = std::ranges::find(commands(), words.name, [](const Command &command) { return command.words.name; });
  return at == commands().end() ? nullptr : &*at;
}

} // namespace dnheap::cli
