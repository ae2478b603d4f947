// The help texts, made from the tables of verbs and options, and the texts that they share with the manual page.
#pragma once
#include "cli/options/option_table.h"

namespace dnheap::cli {

std::string general_help(std::span<const Verb> verbs);
// Returns the help of `dnheap shell`: what each line may ask.
std::string shell_help(std::span<const Verb> verbs);
std::string verb_help(const Verb &verb);
// Returns the help text, or the manual page, that the options ask for.
std::string help_for(const Options &options);

struct ExitCode {
  int code;
  const char *meaning;
};
std::span<const ExitCode> exit_codes();

struct Example {
  const char *command;
  const char *meaning; // empty: the command's own help says it
};
std::span<const Example> examples();

inline constexpr std::string_view program_text = "what is in the managed heap of a .NET process, live or from its dump";
inline constexpr std::string_view target_text =
    "TARGET is a core dump of Linux or macOS, a Windows minidump or a .gcdump, plain or "
    "compressed (.zst, .gz, .xz, .lz4), or - for one that comes "
    "through standard input, or a folder with one of them; or, with -p PID, a process that runs here.";
inline constexpr std::string_view size_text =
    "SIZE is in bytes, or with k, M, G or T (powers of 1024): 4096, 10k, 1.5GiB.";

// "-o, --output FILE"
std::string syntax_of(const Option &option);
// True for options that every verb takes.
bool is_common(const Option &option);

} // namespace dnheap::cli
