#include "analysis/findings/paragraphs.h"

#include <algorithm>
#include <ranges>

namespace dnheap {

namespace {

// Returns the verb for what holds most, if it is of the runtime's, and one verb reads just that.
std::string verb_of_holder(const VerdictFacts &facts) {
  return facts.holder_text.starts_with("the runtime's timers") ? "inspect timers" : "";
}

// True if the finding is about the same memory, and says why it gathers.
bool is_about_same(const Finding &one, const MemoryVerdict &verdict) {
  const bool is_as_much = one.bytes / 5 * 4 <= verdict.bytes && one.bytes >= verdict.bytes / 5 * 4;
  return one.is_cause || (one.harm == Harm::memory && one.count && is_as_much);
}

// True if the finding says that there is too little memory.
bool is_of_shortage(const Finding &one) {
  auto says = [&](std::string_view words) { return one.text.find(words) != std::string::npos; };
  return one.kind == "memory_limit" || (one.kind == "crash" && says("OutOfMemoryException")) ||
         (one.kind == "gc_time" && says("keep less"));
}

// Beside such findings the words that it may be as it should be would be wrong.
std::string without_doubt(std::string text) {
  if (const auto at = text.find(only_growth_matters); at != text.npos)
    text.erase(at, only_growth_matters.size());
  return text;
}

// Returns "95 % of live memory" of a text that begins with it; else empty.
std::string_view share_in(std::string_view text) {
  constexpr std::string_view of_live = "% of live memory";
  const auto at = text.find(of_live);
  const bool is_first = at != text.npos && text.find_first_not_of("0123456789.< ") == at;
  return is_first ? text.substr(0, at + of_live.size()) : "";
}

} // namespace

std::vector<Finding> paragraphs_of(std::vector<Finding> findings, const MemoryVerdict &verdict,
                                   const VerdictFacts &facts) {
  if (!verdict.is_size_alone)
    return findings;
  const auto at =
      std::ranges::find_if(findings, [](const Finding &one) { return order_of(one) >= order_behind_holder; });
  const std::string_view share = share_in(verdict.text);
  bool is_in_doubt = true;
  for (const Finding &one : std::ranges::subrange(findings.begin(), at)) {
    const bool is_same = is_about_same(one, verdict);
    if (is_same && !share.empty() && one.text.find(share) != std::string::npos)
      return findings;
    is_in_doubt &= !is_same && !is_of_shortage(one);
  }
  findings.insert(at, {.kind = verdict.rule,
                       .text = is_in_doubt ? verdict.text : without_doubt(verdict.text),
                       .bytes = verdict.bytes,
                       .verb = verdict.rule == "one_holder" ? verb_of_holder(facts) : verdict.verb});
  return findings;
}

} // namespace dnheap
