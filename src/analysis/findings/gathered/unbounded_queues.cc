// Queues without a bound that hold much: they are filled faster than they are read.
#include "analysis/findings/gathered/gathered.h"
#include "analysis/names/compiled_names.h"
#include "analysis/shapes/field_reader.h"
#include "analysis/suspects/suspect_code.h"
#include "analysis/threads/thread_text.h"
#include "base/text.h"

#include <algorithm>
#include <fmt/format.h>

namespace dnheap {

namespace {

constexpr std::string_view unbounded_channels[] = {"System.Threading.Channels.UnboundedChannel<",
                                                   "System.Threading.Channels.SingleConsumerUnboundedChannel<",
                                                   "System.Threading.Channels.UnboundedPrioritizedChannel<"};
constexpr std::string_view blocking_collection = "System.Collections.Concurrent.BlockingCollection<";

struct QueueWords {
  const char *name, *remedy;
};
constexpr QueueWords channel_words = {"channel", "Channel.CreateBounded"};
// A block of dataflow that has no bound has no state for one.
constexpr std::string_view dataflow_cores[] = {"System.Threading.Tasks.Dataflow.Internal.TargetCore<",
                                               "System.Threading.Tasks.Dataflow.Internal.SourceCore<"};
constexpr QueueWords dataflow_words = {"dataflow block", "BoundedCapacity"};
constexpr QueueWords collection_words = {"BlockingCollection", "a boundedCapacity"};

// Returns the words for a step that is a queue without a bound; null if it is none.
const QueueWords *words_of(FieldReader &fields, const Suspect::Step &step) {
  const std::string_view type = step.type;
  if (std::ranges::any_of(unbounded_channels, [&](std::string_view begin) { return type.starts_with(begin); }))
    return &channel_words;
  if (std::ranges::any_of(dataflow_cores, [&](std::string_view begin) { return type.starts_with(begin); }))
    return fields.reference(step.address, "_boundingState") == Address{0} ? &dataflow_words : nullptr;
  constexpr u32 no_bound = ~u32{0};
  if (type.starts_with(blocking_collection) && fields.number<u32>(step.address, "_boundedCapacity") == no_bound)
    return &collection_words;
  return nullptr;
}

// Says where those stand that empty the queue: " 1 call of Shop.Log.Drain waits for a delay."
std::string readers_sentence(const Evidence &evidence, const std::string &code) {
  const std::string::size_type at = code.find("emptied in ");
  if (at == code.npos)
    return "";
  auto is_reader = [&](const std::string &method) { return !method.empty() && code.find(method, at) != code.npos; };
  for (const CallGroup &group : evidence.calls)
    if (const std::string method = method_in_words(group.method); is_reader(method))
      if (const std::string what = awaited_in_words(group.waits_for); !what.empty())
        return fmt::format(" {} of {} {} for {}.", group.count == 1 ? "1 call" : count_text(group.count) + " calls",
                           method, group.count == 1 ? "waits" : "wait", what);
  for (const ThreadGroup &group : evidence.threads)
    if (is_reader(group.method) && !group.waits_for.empty())
      return fmt::format(" {} {} in {}.", group.count == 1 ? "1 thread" : count_text(group.count) + " threads",
                         wait_in_words(group.waits_for, group.count != 1), group.method);
  return "";
}

} // namespace

void find_unbounded_queues(const Evidence &evidence, std::vector<Finding> &out) {
  FieldReader fields(evidence.snapshot.runtime());
  for (const Suspect &one : evidence.suspects.list) {
    if (one.elements < least_gathered || !is_worth_a_reason(one, evidence.suspects))
      continue;
    const QueueWords *words = nullptr;
    for (u64 i = 0; i < one.steps.size() && !words; ++i)
      words = keeps_elements_itself(one, i, 1) ? words_of(fields, one.steps[i]) : nullptr;
    const bool has_failed_reader = std::ranges::any_of(out, [&](const Finding &other) {
      return other.kind == "failed_reader" && other.holder == one.example; // knows more
    });
    if (!words || has_failed_reader)
      continue;
    const std::string code = code_text(evidence.snapshot, one);
    out.push_back(gathered_finding(
        "unbounded_queue", Sureness::probable, one,
        fmt::format("{} × {} wait in a {} without a bound, {}, and take {}: it is filled faster than it is read.{}{} "
                    "Give it a bound ({}), so that those who write wait, and see what those who read wait for.",
                    count_text(one.elements), one.brief_element(), words->name, one.way(),
                    share_text(one, evidence.suspects), code_sentence(code), readers_sentence(evidence, code),
                    words->remedy)));
  }
}

} // namespace dnheap
