// What the rules of this folder share. Each knows something about a suspect's elements that says why they gather: the
// suspect alone would only show that there are many. Their sentences name the share of live memory, so that the report
// does not say it again. Any thread.
#pragma once
#include "analysis/findings/finding_rule.h"
#include "analysis/names/program_callers.h"

#include <string>
#include <string_view>
#include <vector>

namespace dnheap {

inline constexpr u64 least_gathered = 1000; // elements: fewer are usual

// True if a suspect holds so much that people look for a reason.
bool is_worth_a_reason(const Suspect &suspect, const Suspects &all);
// True if the elements lie in the object of this step itself: behind it are parts of .NET's collections only, and
// before these `most_between` other objects at most, such as the queue that a channel has. A call that waits for the
// same object may hold a collection of its own, and so may one element.
bool keeps_elements_itself(const Suspect &suspect, u64 step, u64 most_between);
// "39 % of live memory (25.0 MiB)"
std::string share_text(const Suspect &suspect, const Suspects &all);
// The code behind a suspect as a sentence: " It is filled in Shop.Log.Add; emptied in Shop.Log.Drain."; empty: unknown.
std::string code_sentence(const std::string &code);
// Names the program's methods that call one of a type's methods: " ILogger.BeginScope is called in Shop.Jobs.Run.".
// `type` is how the type's full name begins. Empty: no method does, or they are unknown.
std::string calls_sentence(const Snapshot &snapshot, std::string_view type, std::string_view method,
                           std::string_view words);
// Makes the finding: what holds the elements is the reason why they are alive.
Finding gathered_finding(const char *kind, Sureness sureness, const Suspect &suspect, std::string text);

} // namespace dnheap
