#include "cli/commands.h"

#include <algorithm>

namespace dnheap::cli {

namespace {

constexpr std::string_view until_ended = "until you end them";

const std::vector<Command> &commands() {
  static const std::vector<Command> all = {
      {.words =
           {.name = "sample",
            .group = "processes",
            .question = "what do the threads of a running process do, over some seconds?",
            .details =
                "Stops the process of -p for some milliseconds, up to ten times a second, for 10 seconds or the time "
                "given: 30s, 500ms, 2m. Shows where threads run and wait, as trees of methods with the number of "
                "samples; each thread with its processor time, those of native code too; the locks that were waited "
                "for, with who had them and where these stood. The process needs no restart and no agent, and stands "
                "still for about a twentieth of the time at most. --format folded writes the stacks for flame graphs, "
                "one per line with its count; --format speedscope a file for speedscope. Ctrl-C ends it early.",
            .subject = "TIME",
            .subject_asked = "for how long?",
            .subject_is_optional = true,
            .tables = {"threads", "locks", "stacks"},
            .needs_process = true,
            .format = "text"},
       .run = sample},
      {.words =
           {.name = "collect",
            .group = "processes",
            .question = "have a running process write a dump of itself",
            .details =
                "Asks the runtime of the process of -p on its diagnostics port, by which every .NET process "
                "listens; that takes no right but the same user, where tracing is forbidden, too, and no SDK. The "
                "runtime's createdump writes the dump, while the process stands still. --kind: heap (objects, all "
                "that most questions need), full (all memory), mini and triage (threads and stacks; triage is meant "
                "to have no personal data). -o names the file; without it, that is NAME-PID-TIME.core in the "
                "current folder. --extract makes a small core of the dump, as the verb extract does, and removes "
                "the dump; --no-values blanks contents in it.\n"
                "The process writes the file, with its own rights, and a few lines about it to its standard output. "
                "In another container it writes to its folder for temporary files, from where dnheap copies it. "
                "Before it begins, the folder must have as much room as the process has memory. Ctrl-C leaves no "
                "file, but the process cannot be stopped in the middle. dnheap ps shows which processes listen.\n"
                "Without -p, --listen makes a socket, which only its owner may open, and takes the dump of the first "
                "runtime that connects to it: one that was started with DOTNET_DiagnosticPorts=SOCKET,nosuspend, then "
                "or earlier. A runtime that waits, because nosuspend is missing, is resumed. --connect asks the "
                "runtime at a socket that it has made, where its process cannot be seen. Both work between containers "
                "that share no more than the socket's folder: then the process writes the dump into that folder, and "
                "dnheap takes it from there.",
            .takes = {Takes::no_values, Takes::kind},
            .tables = {"dump"},
            .needs_process = true,
            .format = "text"},
       .run = collect},
      {.words = {.name = "explore",
                 .group = until_ended,
                 .question = "look at it in a browser",
                 .details =
                     "Serves a page to this machine alone, at an address with a secret part, and opens it in the "
                     "browser if there is one: types, owners, the map of what holds what, single objects, threads, "
                     "waste. The dump is read once, in the background: the first tables are there at once, the owners "
                     "follow. Contents of strings and fields are shown only with --values. Ends with Ctrl-C.\n"
                     "Several dumps, or records that 'check --record' saved, the oldest first: the last one is shown, "
                     "and what grew from each to the next, as diff has it, over time. The others are opened, summed up "
                     "and closed one after the other, when the page is ready.",
                 .takes = {Takes::values},
                 .takes_each = true},
       .run = explore},
      {.words =
           {.name = "watch",
            .group = until_ended,
            .question = "take small cores of a process when its memory grows",
            .details =
                "Looks at the process from time to time, for some milliseconds and without stopping it. When a "
                "condition becomes true, it takes a core, as extract does. -o names the folder for the cores; no more "
                "than --keep stay there. The process stands still only while its memory is copied. After a core the "
                "same condition counts again only when its value has fallen 5 % below the limit meanwhile, or after "
                "--again. Without -p, watch waits for the one .NET process that runs here, and for the next one when "
                "that has ended.\n"
                "A condition is a name, > and a size or a share of the container's limit: rss>1.5G, container>90%. "
                "private is memory that no file has, swapped out or not; container is what its control group uses. "
                "heap, gen0, gen1, gen2, loh and poh count up to the last object, dead ones included. oom, without a "
                "size, is true if the GC could not get memory, if the container had none left, or if it is within 5 % "
                "of its limit. Several conditions in one: 'rss>1.5G|oom'.\n"
                "If less memory is free than twice the private memory of the process, the copy of the process goes to "
                "the folder, or to --temp-dir, until the core is written. Where the process may not be read, it writes "
                "a "
                "dump of itself into the folder, as for collect; the core is made of that, and the dump is removed. "
                "Ends with the process (exit code 6), or "
                "Ctrl-C (0). For containers see doc/containers.md.",
            .takes = {Takes::no_values},
            .answers_alone = true,
            .format = "text",
            .makes_file = true},
       .run = watch},
      {.words = {.name = "shell",
                 .group = until_ended,
                 .question = "many questions about one dump",
                 .details =
                     "Each line is a verb without the file's name: stat --top 5. Results of one answer are kept for "
                     "the next. @N is row N of the last answer: show @1. | PROGRAM, > FILE and >> FILE redirect the "
                     "answer. help, help VERB, quit. Ctrl-C ends the question, Ctrl-D the shell. TAB completes verbs, "
                     "options, types and addresses of the last answer; Ctrl-R finds earlier lines. SOS' commands are "
                     "understood by their names and options: dumpheap -stat, gcroot, dumpobj, clrstack.\nThe exit code "
                     "of a script (-c, or lines from a pipe) is that of its worst line."},
       .run = shell},
      {.words = {.name = "mcp",
                 .group = until_ended,
                 .question = "many questions by an AI agent: Model Context Protocol over stdio",
                 .details = "Not for typing: a program that works with language models starts dnheap mcp, and asks by "
                            "JSON-RPC on standard input. Its tools are the verbs that ask about dumps; several dumps "
                            "have distinct names, and stay open. Answers are limited, and say how to get more. "
                            "Contents of strings and fields are shown only if it is started with --values. It ends "
                            "when its input ends. doc/mcp.md shows how to add it to usual clients.",
                 .takes = {Takes::values},
                 .takes_each = true},
       .run = mcp},
      {.words = {.name = "completion",
                 .group = "for your shell",
                 .question = "completion with the Tab key, for bash, zsh or fish",
                 .details = "Prints a script for that shell, which completes verbs, options, their words, and names of "
                            "files; types and addresses are not guessed.\n"
                            "bash: dnheap completion bash > ~/.local/share/bash-completion/completions/dnheap; or, "
                            "without the package bash-completion, source <(dnheap completion bash) in ~/.bashrc\n"
                            "zsh: dnheap completion zsh > _dnheap, in a folder of $fpath\n"
                            "fish: dnheap completion fish > ~/.config/fish/completions/dnheap.fish",
                 .subject = "SHELL",
                 .subject_asked = "for which shell?",
                 .subjects = {"bash", "zsh", "fish"},
                 .needs_target = false},
       .run = completion},
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
