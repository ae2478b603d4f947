// A ThreadLocal that tracks all values keeps those of threads that have ended.
#include "analysis/findings/gathered/gathered.h"
#include "analysis/objects/inside_of.h"
#include "analysis/shapes/field_reader.h"
#include "base/text.h"

#include <algorithm>
#include <fmt/format.h>

namespace dnheap {

namespace {

constexpr u64 least_ended = 20; // values more than there are threads

// True if the elements are the values of a ThreadLocal with trackAllValues: only its list of them is between. One value
// may be a collection, which has elements of its own.
bool are_of_thread_local(FieldReader &fields, const Suspect &suspect) {
  const auto &steps = suspect.steps;
  const auto step = std::ranges::find_if(steps, [&](const Suspect::Step &one) {
    return one.type.starts_with("System.Threading.ThreadLocal<") && !one.type.ends_with("LinkedSlot") &&
           fields.number<u8>(one.address, "_trackAllValues").value_or(0);
  });
  return step != steps.end() &&
         std::all_of(step + 1, steps.end(), [](const Suspect::Step &one) { return is_node_of_collection(one.type); });
}

} // namespace

void find_ended_thread_values(const Evidence &evidence, std::vector<Finding> &out) {
  FieldReader fields(evidence.snapshot.runtime());
  const u64 threads = evidence.facts.threads;
  for (const Suspect &one : evidence.suspects.list) {
    if (!threads || one.elements < threads + least_ended || !is_worth_a_reason(one, evidence.suspects) ||
        !are_of_thread_local(fields, one))
      continue;
    out.push_back(gathered_finding(
        "ended_thread_values", Sureness::certain, one,
        fmt::format("A ThreadLocal with trackAllValues ({}) keeps {} values, {}, although the process has {} threads: "
                    "{}. It keeps the values of threads that have ended, until it is disposed of. Leave trackAllValues "
                    "out, or empty the value at the thread's end.",
                    one.way(), count_text(one.elements), one.brief_element(), count_text(threads),
                    share_text(one, evidence.suspects))));
  }
}

} // namespace dnheap
