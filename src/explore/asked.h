// Converts a request to a verb's Question: its parameters have the names of the command line's options. Any thread.
#pragma once
#include "analysis/verb.h"

#include <map>
#include <string>
#include <vector>

namespace dnheap::explore {

using Parameters = std::multimap<std::string, std::string>;

struct Asked {
  const Verb *verb = nullptr;
  Question question;
  std::vector<u64> dumps; // for verbs that compare: numbers of those that are compared, from 0 on; empty: all
};

// True for verbs that one open dump can answer without making a file, and for `diff` if there is another dump to
// compare with.
bool can_be_asked(const Verb &verb, bool can_compare);
// Throws NotFound if there is no such verb, UsageError if the verb does not take what is asked for.
Asked asked(const std::string &verb, const Parameters &parameters, bool can_compare);

// Returns the names of the options that the verb takes: "type", "gen".
std::vector<std::string_view> parameters_of(const Verb &verb);

// Returns a number among the parameters; `otherwise` if it is missing. Throws UsageError.
u64 number_in(const Parameters &parameters, const std::string &name, u64 otherwise);
// Returns a text among them; empty if it is missing.
std::string text_in(const Parameters &parameters, const std::string &name);

} // namespace dnheap::explore
