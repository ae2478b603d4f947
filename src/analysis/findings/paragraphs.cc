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

bool is_of_malloc(const Finding &one) { return one.kind == "lost_native_memory" || one.kind == "held_native_memory"; }

// Leaves out that the memory is not the heap's where a finding knows whose it is.
void drop_less_sure(std::vector<Finding> &findings) {
  u64 known = 0;
  for (const Finding &one : findings)
    known = is_of_malloc(one) ? std::max(known, one.bytes) : known;
  std::erase_if(findings, [&](const Finding &one) { return one.kind == "native" && known >= one.bytes / 2; });
}

// True if the finding says that there is too little memory.
bool is_of_shortage(const Finding &one) {
  auto says = [&](std::string_view words) { return one.text.find(words) != std::string::npos; };
  return one.kind == "memory_limit" || (one.kind == "crash" && says("OutOfMemoryException")) ||
         (one.kind == "gc_time" && says("keep less"));
}

// True if the finding says that the pool does not keep up, and its work is what holds most.
bool is_of_queued_work(const Finding &one, const MemoryVerdict &verdict) {
  return one.kind == "pool_starved" && verdict.text.find("System.Threading.ThreadPoolWorkQueue") != std::string::npos;
}

// Stands behind the code that fills who holds most.
constexpr std::string_view perhaps_a_table = ": right for a table that is filled once; anything else needs a limit";

// Beside such findings the words that it may be as it should be would be wrong.
std::string without_doubt(std::string text) {
  for (const std::string_view doubt : {only_growth_matters, perhaps_a_table})
    if (const auto at = text.find(doubt); at != text.npos)
      text.erase(at, doubt.size());
  return text;
}

// An exception that nobody caught has ended the calls whose variables held these objects.
void doubt_dead_objects(std::vector<Finding> &findings) {
  const bool is_short = std::ranges::any_of(findings, is_of_shortage);
  for (Finding &one : findings)
    if (one.kind == "dead_objects" && is_short && findings.front().kind == "crash")
      one.text += " Some were probably alive when the memory ran out: held by variables of calls that the exception "
                  "has ended since.";
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
  drop_less_sure(findings);
  doubt_dead_objects(findings);
  const bool is_known = verdict.rule == "mostly_native" && std::ranges::any_of(findings, is_of_malloc);
  if (!verdict.is_size_alone || is_known)
    return findings;
  const auto at =
      std::ranges::find_if(findings, [](const Finding &one) { return order_of(one) >= order_behind_holder; });
  const std::string_view share = share_in(verdict.text);
  bool is_in_doubt = true;
  for (const Finding &one : std::ranges::subrange(findings.begin(), at)) {
    const bool is_same = is_about_same(one, verdict);
    if (is_same && !share.empty() && one.text.find(share) != std::string::npos)
      return findings;
    is_in_doubt &= !is_same && !is_of_shortage(one) && !is_of_queued_work(one, verdict);
  }
  findings.insert(at, {.kind = verdict.rule,
                       .text = is_in_doubt ? verdict.text : without_doubt(verdict.text),
                       .bytes = verdict.bytes,
                       .verb = verdict.rule == "one_holder" ? verb_of_holder(facts) : verdict.verb});
  return findings;
}

MemoryVerdict with_code(MemoryVerdict verdict, std::string code) {
  constexpr std::string_view filled = "filled in ", never_emptied = "; no method that uses the field removes from it";
  const auto at = verdict.text.find(only_growth_matters);
  if (at == std::string::npos || code.empty())
    return verdict;
  if (code.ends_with(never_emptied))
    code = code.substr(0, code.size() - never_emptied.size()) + ", and no method that uses the field removes from it" +
           std::string(perhaps_a_table);
  const char *subject = code.starts_with(filled) ? "It is " : code.starts_with("made in ") ? "They are " : "";
  verdict.text.insert(at, " " + (subject + code) + ".");
  return verdict;
}

} // namespace dnheap
