#include "analysis/verbs/groups/verb_groups.h"

#include <vector>

namespace dnheap {

std::span<const Verb> verbs() {
  static const std::vector<Verb> all = [] {
    std::vector<Verb> out;
    for (const std::span<const Verb> group :
         {first_verbs(), memory_verbs(), thread_verbs(), runtime_verbs(), file_verbs(), process_verbs()})
      out.insert(out.end(), group.begin(), group.end());
    return out;
  }();
  return all;
}

} // namespace dnheap
