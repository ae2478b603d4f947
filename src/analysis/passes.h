// The passes that a question will take, by the names that Progress has: so that whoever waits can be told which of how
// many it is. Some may be left out (a dump that is not compressed) or come twice. For the front end.
#pragma once
#include "analysis/verb.h"

#include <string_view>
#include <vector>

namespace dnheap {

std::vector<std::string_view> passes_of(const Verb &verb, const Question &question);

} // namespace dnheap
