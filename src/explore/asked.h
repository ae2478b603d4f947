// What a request asks, as a verb's Question: the parameters are called as the options of the command line. Any thread.
#pragma once
#include "analysis/verb.h"

#include <map>
#include <string>

namespace dnheap::explore {

using Parameters = std::multimap<std::string, std::string>;

struct Asked {
  const Verb *verb = nullptr;
  Question question;
};

// Verbs that one open dump can answer without making a file; with another one to compare with, `diff`, too.
bool can_be_asked(const Verb &verb, bool can_compare);
// Throws NotFound when there is no such verb, UsageError when the verb does not take what is asked for.
Asked asked(const std::string &verb, const Parameters &parameters, bool can_compare);

// The option's name for each thing that the verb takes: "type", "gen".
std::vector<std::string_view> parameters_of(const Verb &verb);

// A number among the parameters; `otherwise` where it is missing. Throws UsageError.
u64 number_in(const Parameters &parameters, const std::string &name, u64 otherwise);
// A text among them; empty where it is missing.
std::string text_in(const Parameters &parameters, const std::string &name);

} // namespace dnheap::explore
