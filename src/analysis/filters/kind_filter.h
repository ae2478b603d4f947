// The kinds that --kind selects among the rows of a verb: "pinned" among handles, "static" among roots. A word may
// leave out case and signs between letters, and may be the beginning of several kinds: "weak". Pure; any thread.
#pragma once
#include "analysis/question.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dnheap {

class KindFilter {
public:
  // `kinds`: all that there are. A kind such as "handle:pinned" is also known by its last part. A kind that the word
  // is, comes before those that begin with it. Throws UsageError if the word fits none of them.
  KindFilter(const Question &question, std::span<const std::string_view> kinds);
  bool everything() const { return kinds_.empty(); }
  bool passes(std::string_view kind) const;

private:
  std::vector<std::string> kinds_;
};

} // namespace dnheap
