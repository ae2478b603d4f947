// What a command line asks, answered: by a Snapshot that is opened for it, by records of several dumps, or by none.
// Costs what the verb costs; one thread. For the program, and for the C interface, which takes the same words.
#pragma once
#include "cli/options/options.h"

namespace dnheap::cli {

// `snapshot`: where the answer's rows may still come from. Throws as ask() does.
Answer answer_to(const Options &options, Progress &progress, std::optional<Snapshot> &snapshot);

} // namespace dnheap::cli
