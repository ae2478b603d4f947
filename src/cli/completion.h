// Makes a script, in a shell's language, with which the shell completes command lines, from the tables of verbs and
// options. The script runs no program, and needs no other package. 10 to 60 KB.
#pragma once
#include "cli/options/options.h"

namespace dnheap::cli {

// `shell`: bash, zsh or fish.
std::string completion_script(std::string_view shell, std::span<const Verb> verbs);

} // namespace dnheap::cli
