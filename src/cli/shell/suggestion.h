// The line that a user meant, after an error that asks "did you mean …?". Pure; any thread.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace dnheap::cli {

// `error`: "'dumpheep' is neither …, did you mean 'dumpheap'?". Returns the line with that word replaced; nullopt: the
// error proposes nothing, or the word is not in the line.
std::optional<std::string> suggested_line(std::string_view line, std::string_view error);
// True if the line accepts what was proposed: "y" or "yes"; at a prompt, also Enter alone.
bool accepts_suggestion(std::string_view line, bool at_prompt);

} // namespace dnheap::cli
