// Many calls, or continuations, that wait for one task which does not complete, and keep what they need later.
#include "analysis/findings/gathered/gathered.h"
#include "analysis/names/compiled_names.h"
#include "analysis/names/source_line_text.h"
#include "base/text.h"

#include <algorithm>
#include <fmt/format.h>

namespace dnheap {

namespace {

constexpr std::string_view waiting_list = ".m_continuationObject"; // a task has it until it completes

// "static Shop.Bank.Connected" for "static Shop.Bank.Connected._task.m_continuationObject"
std::string task_in_words(std::string way) {
  way.resize(std::min(way.size(), way.find(waiting_list)));
  constexpr std::string_view of_source = "._task"; // of a TaskCompletionSource
  return way.ends_with(of_source) ? way.substr(0, way.size() - of_source.size()) : way;
}

// True if the elements are what waits for a task: they lie in its list. A single call that waits has no list, and may
// hold much itself.
bool are_continuations(const Suspect &one) {
  const auto &steps = one.steps;
  for (u64 i = steps.size(); i-- > 0;)
    if (steps[i].field == waiting_list)
      return steps[i].type.starts_with("System.Collections.Generic.List<") && keeps_elements_itself(one, i, 0);
  return false;
}

// Returns " (Shop.cs:41)" if all calls of the elements' method are suspended there; else empty.
std::string line_of_element(const Evidence &evidence, const Suspect &one) {
  for (const CallGroup &group : evidence.calls)
    if (one.brief_element().ends_with(" " + method_in_words(group.method)))
      return line_in_brackets(line_of(group, evidence.lines));
  return "";
}

} // namespace

void find_waiting_continuations(const Evidence &evidence, std::vector<Finding> &out) {
  for (const Suspect &one : evidence.suspects.list) {
    if (one.elements < least_gathered || one.element.empty() || !is_worth_a_reason(one, evidence.suspects) ||
        !are_continuations(one))
      continue;
    const std::string way = one.way();
    const std::string task =
        way.find(waiting_list) == way.npos ? "held by " + way : task_in_words(way); // the list may be further in
    out.push_back(gathered_finding(
        "waiting_continuations", Sureness::probable, one,
        fmt::format("A task that has not completed ({}) keeps {} × {}{}: {}. Each waits for it with all its variables. "
                    "Complete it in every case, with an exception if need be, or wait with a time limit "
                    "(Task.WaitAsync).",
                    task, count_text(one.elements), one.brief_element() + line_of_element(evidence, one),
                    one.remark.empty() ? "" : ", " + one.remark, share_text(one, evidence.suspects))));
  }
}

} // namespace dnheap
