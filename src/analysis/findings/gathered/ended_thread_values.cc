// A ThreadLocal that tracks all values keeps those of threads that have ended.
#include "analysis/findings/gathered/gathered.h"
#include "analysis/shapes/field_reader.h"
#include "base/text.h"

#include <fmt/format.h>

namespace dnheap {

namespace {

constexpr u64 least_ended = 20; // values more than there are threads

// Returns the step that is a ThreadLocal with trackAllValues; null: there is none.
const Suspect::Step *tracking_thread_local(FieldReader &fields, const Suspect &suspect) {
  for (const Suspect::Step &step : suspect.steps)
    if (step.type.starts_with("System.Threading.ThreadLocal<") && !step.type.ends_with("LinkedSlot") &&
        fields.number<u8>(step.address, "_trackAllValues").value_or(0))
      return &step;
  return nullptr;
}

} // namespace

void find_ended_thread_values(const Evidence &evidence, std::vector<Finding> &out) {
  FieldReader fields(evidence.snapshot.runtime());
  const u64 threads = evidence.facts.threads;
  for (const Suspect &one : evidence.suspects.list) {
    if (!threads || one.elements < threads + least_ended || !is_worth_a_reason(one, evidence.suspects) ||
        !tracking_thread_local(fields, one))
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
