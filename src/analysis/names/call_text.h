// Calls in words: what repeats is said once. A stack that has overflowed has thousands of calls and few methods.
// Linear; from any thread.
#pragma once
#include <span>
#include <string>
#include <vector>

namespace dnheap {

// "Ping(Int32) → Pong(Int32)" where `between` is " → "; of many the first few are named.
std::string calls_text(std::span<const std::string> calls, const char *between);
// One text for each run: "Main()", "Walk(Node) ×21,633", "(Ping(Int32) → Pong(Int32)) ×5,000".
std::vector<std::string> folded_calls(const std::vector<std::string> &methods, const char *between);

} // namespace dnheap
