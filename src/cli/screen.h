// How text is laid out for whoever will read it: as wide as their terminal, coloured only there.
#pragma once
#include "cli/options/options.h"

namespace dnheap::cli {

// `terminal`: the answer goes to one, standard output. Else lines are as long as they are, for programs
// that look for something in them. COLUMNS goes before either.
WriteOptions write_options(const Options &options, bool terminal);

} // namespace dnheap::cli
