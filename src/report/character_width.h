// Computes how many columns of a terminal a character takes: none if it is drawn over the character before it, two for
// East Asian wide characters and pictures, else one. Also finds characters that must not get from a dump to a terminal
// or a reader. Uses short tables of ranges, which follow Unicode's and may call a rare narrow character wide. No state,
// any thread.
#pragma once
#include "base/integers.h"

#include <string_view>

namespace dnheap::report {

// Both take one character of valid UTF-8.
u64 character_width(std::string_view character);
// True if the character reverses the direction of writing or breaks lines: a name with it could be misread.
bool misleads(std::string_view character);

} // namespace dnheap::report
