// Collections of WeakReferences whose targets are gone: the targets were let go, and the references are kept.
#include "analysis/findings/gathered/gathered.h"
#include "analysis/suspects/suspect_code.h"
#include "base/text.h"

#include <algorithm>
#include <fmt/format.h>

namespace dnheap {

void find_dead_references(const Evidence &evidence, std::vector<Finding> &out) {
  for (const Suspect &one : evidence.suspects.list) {
    if (one.gone < least_gathered || one.gone * 2 < one.elements || !is_worth_a_reason(one, evidence.suspects))
      continue;
    // The sentence says already that nobody removes them.
    std::string code = code_text(evidence.snapshot, one);
    code.resize(std::min(code.size(), code.find("; no method that uses the field removes from it")));
    const std::string how_many = one.gone == one.elements ? fmt::format("All {} WeakReferences", count_text(one.gone))
                                                          : fmt::format("{} of the {} WeakReferences",
                                                                        count_text(one.gone), count_text(one.elements));
    out.push_back(gathered_finding(
        "dead_references", Sureness::probable, one,
        fmt::format("{} in {} have lost their targets, and nobody removes them: {}.{} Remove a reference when its "
                    "target is gone, while the collection is read or filled, or use a ConditionalWeakTable.",
                    how_many, one.way(), share_text(one, evidence.suspects), code_sentence(code))));
  }
}

} // namespace dnheap
