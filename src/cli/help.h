// The help texts, made from the tables of verbs and options.
#pragma once
#include "cli/options.h"

namespace dnheap::cli {

std::string general_help(std::span<const Verb> verbs);
std::string verb_help(const Verb &verb);

} // namespace dnheap::cli
