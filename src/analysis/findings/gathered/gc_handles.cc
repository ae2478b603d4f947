// Many objects that only GCHandles keep, which the program asked for and never freed.
#include "analysis/findings/gathered/gathered.h"
#include "analysis/suspects/suspect_code.h"
#include "base/text.h"

#include <fmt/format.h>

namespace dnheap {

void find_gc_handles(const Evidence &evidence, std::vector<Finding> &out) {
  for (const Suspect &one : evidence.suspects.list) {
    const bool is_of_handles = one.owner.starts_with("handle:") && one.remark.find("GCHandles") != one.remark.npos;
    if (!is_of_handles || one.elements < least_gathered || !is_worth_a_reason(one, evidence.suspects))
      continue;
    // Delegates call something; the handles do not: ", which call Shop.Bell.Ring".
    const auto calls_at = one.remark.find(", which call ");
    const std::string calls = calls_at == one.remark.npos ? "" : one.remark.substr(calls_at);
    const bool are_pinned = one.remark.find("pinned") != one.remark.npos;
    Finding found = gathered_finding(
        "gc_handles", Sureness::probable, one,
        fmt::format("{} × {}{} are kept {}: {}.{} Call GCHandle.Free as soon as native code needs the object no "
                    "more{}.",
                    count_text(one.elements), one.brief_element(), calls.empty() ? "" : calls + ",",
                    one.remark.substr(0, one.remark.size() - calls.size()), share_text(one, evidence.suspects),
                    code_sentence(code_text(evidence.snapshot, one)),
                    are_pinned ? "; until then the GC cannot move it, and holes stay beside it" : ""));
    found.harm = Harm::memory;
    out.push_back(std::move(found));
  }
}

} // namespace dnheap
