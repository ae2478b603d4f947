// How text is laid out for whoever will read it: as wide as their terminal, coloured only there.
#pragma once
#include "cli/options.h"

namespace dnheap::cli {

// `terminal`: the answer goes to one, standard output. Else lines are still kept short, but what is not in a table is
// left in one line for programs that look for it. COLUMNS goes before what the terminal says.
WriteOptions write_options(const Options &options, bool terminal);

} // namespace dnheap::cli
