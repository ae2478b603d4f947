// ListWalk: decides where the walk along a linked list of the target ends: a damaged list may have a cycle, or be
// longer than any in a real process. One entry of a set per node.
#pragma once
#include "base/text.h"

#include <unordered_set>

namespace dnheap {

class ListWalk {
public:
  explicit ListWalk(u64 most) : most_(most) {}

  // Returns an empty text if the walk goes on at `node`. Else the end of a sentence that begins with the list's name:
  // "runs in a circle at 0x7f10".
  std::string why_not(Address node) {
    if (!seen_.insert(node).second)
      return "runs in a circle at " + hex(node);
    if (seen_.size() > most_)
      return "is longer than " + count_text(most_) + ": the rest is not read";
    return {};
  }

private:
  const u64 most_;
  std::unordered_set<Address> seen_;
};

} // namespace dnheap
