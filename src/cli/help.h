// The help texts, made from the tables of verbs and options; and what the manual page says in the same words.
#pragma once
#include "cli/options/option_table.h"

namespace dnheap::cli {

std::string general_help(std::span<const Verb> verbs);
// What can be asked in `dnheap shell`.
std::string shell_help(std::span<const Verb> verbs);
std::string verb_help(const Verb &verb);
// Whichever of these the options ask for, or the manual page.
std::string help_for(const Options &options);

struct ExitCode {
  int code;
  const char *meaning;
};
std::span<const ExitCode> exit_codes();

struct Example {
  const char *command;
  const char *meaning; // empty: the command tells
};
std::span<const Example> examples();

inline constexpr std::string_view program_text = "what is in the managed heap of a .NET process, live or from its dump";
inline constexpr std::string_view target_text = "TARGET is a Linux core dump or a Windows minidump, plain or "
                                                "compressed (.zst, .gz); or, with -p PID, a process that "
                                                "runs here.";
inline constexpr std::string_view size_text =
    "SIZE is in bytes, or with k, M, G or T (powers of 1024): 4096, 10k, 1.5GiB.";

// "-o, --output FILE"
std::string syntax_of(const Option &option);
// Of every verb, whatever it looks at.
bool is_common(const Option &option);

} // namespace dnheap::cli
