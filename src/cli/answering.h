// Answers the question of a command line: with a Snapshot that is opened for it, with records of several dumps, or with
// neither. Costs what the verb costs. Not for several threads at once. For the program, and for the C interface, which
// takes the same words.
#pragma once
#include "cli/options/options.h"

namespace dnheap::cli {

// `snapshot` must outlive the answer, whose rows may come from it. Throws as ask() does.
Answer answer_to(const Options &options, Progress &progress, std::optional<Snapshot> &snapshot);

} // namespace dnheap::cli
