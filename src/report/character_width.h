// How many columns of a terminal characters take: none where they are drawn over the one before, two of East Asian wide
// ones and pictures, else one. And which ones a terminal, or an eye, must not get from a dump. By short tables of
// ranges, which follow Unicode's and may call a rare narrow character wide. No state, any thread.
#pragma once
#include "base/integers.h"

#include <string_view>

namespace dnheap::report {

// Both of one character of valid UTF-8.
u64 character_width(std::string_view character);
// Turns the direction of writing round, or breaks lines: a name with these could read as something that it is not.
bool misleads(std::string_view character);

} // namespace dnheap::report
