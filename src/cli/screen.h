// Chooses the text layout for the reader: as wide as their terminal, and coloured only there.
#pragma once
#include "cli/options/options.h"

namespace dnheap::cli {

// `terminal`: the answer goes to a terminal as standard output. Otherwise lines are not cut, for programs that search
// them. COLUMNS takes precedence over both.
WriteOptions write_options(const Options &options, bool terminal);

} // namespace dnheap::cli
