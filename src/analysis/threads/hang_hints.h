// HangHints: what is known beforehand of a kind of wait, or of a method of .NET that takes long: why programs stay in
// it, and what to change or look at next. Plain texts in, text out; any thread.
#pragma once
#include <string_view>

namespace dnheap {

// Returns one or two sentences; empty: nothing is known. `waits_for`: as an activity has it ("HTTP", "a channel");
// empty: it runs. `calls`: the method of .NET that the program's method calls; empty: none.
std::string_view hang_hint(std::string_view waits_for, std::string_view calls);

} // namespace dnheap
