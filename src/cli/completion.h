// What a shell is to know of the program to complete what is typed, made from the tables of verbs and options: a script
// in that shell's language. It asks nothing when it runs, and needs no other package. 10 to 60 KB.
#pragma once
#include "cli/options/options.h"

namespace dnheap::cli {

// `shell`: bash, zsh or fish.
std::string completion_script(std::string_view shell, std::span<const Verb> verbs);

} // namespace dnheap::cli
