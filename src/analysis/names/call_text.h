// Puts calls into words; repeats are shown once, because an overflowed stack has thousands of calls and few methods.
// Linear; any thread.
#pragma once
#include <span>
#include <string>
#include <vector>

namespace dnheap {

// Returns "Ping(Int32) → Pong(Int32)" if `between` is " → "; only the first few of many are named.
std::string calls_text(std::span<const std::string> calls, const char *between);
// Returns one text for each run: "Main()", "Walk(Node) ×21,633", "(Ping(Int32) → Pong(Int32)) ×5,000".
std::vector<std::string> folded_calls(const std::vector<std::string> &methods, const char *between);

} // namespace dnheap
