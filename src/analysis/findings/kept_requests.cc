// Contexts of requests that have ended, and are still held; and requests in flight, most of which wait at one place.
#include "analysis/findings/finding_rule.h"
#include "analysis/inspectors/requests.h"
#include "analysis/names/compiled_names.h"
#include "analysis/names/framework_names.h"
#include "analysis/names/source_line_text.h"
#include "analysis/shapes/holding_fields.h"
#include "analysis/shapes/process_clock.h"
#include "analysis/shapes/typed_objects.h"
#include "analysis/threads/async_stacks.h"
#include "base/most_frequent.h"
#include "base/share.h"
#include "base/text.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace dnheap {

namespace {

constexpr u64 least_contexts = 100, least_in_flight = 20;
constexpr double most_of_them = 0.5;

u64 count_objects_of_requests(const Snapshot &snapshot) {
  return count_that(snapshot, [&](Address mt) {
    const std::string &name = snapshot.runtime().types().name(mt);
    return name == "Microsoft.AspNetCore.Http.DefaultHttpContext" ||
           name.starts_with("Microsoft.AspNetCore.Server.Kestrel.Core.Internal.Http");
  });
}

// True for a wait for the client's next data. A connection that stays open always waits so, which is not a finding.
bool is_for_client(const std::string &what) { return what == "web socket" || what == "pipe" || what == "socket"; }

// Returns a sentence after a space, or nothing if no request's start is known.
std::string age_in_words(const FoundRequests &requests) {
  const RequestGroup *oldest = requests.oldest();
  return oldest ? fmt::format(" The oldest request has been in flight for {}.",
                              age_text(*oldest->age_most, oldest->is_at_least))
                : "";
}

// Returns the innermost method of the program on the stack.
const AsyncFrame *of_program(const AsyncStack &stack, const FrameworkNames &framework) {
  for (const AsyncFrame &frame : stack.frames)
    if (!frame.method.empty() && !framework.contain(frame.method))
      return &frame;
  return nullptr;
}

} // namespace

void find_kept_requests(const Evidence &evidence, std::vector<Finding> &out) {
  if (count_objects_of_requests(evidence.snapshot) < least_contexts)
    return;
  const std::shared_ptr<const FoundRequests> found = find_requests(evidence.snapshot);
  for (const auto &[key, group] : found->groups)
    if (key.kind == "context" && key.state == "ended" && group.count >= least_contexts &&
        key.held_by != HoldingFields::nobody_text)
      out.push_back(
          {.kind = "ended_requests",
           .harm = Harm::resource,
           .sureness = Sureness::certain,
           .text = fmt::format("{} contexts of requests that have ended are held by {}. They are useless "
                               "after their request: keep what is needed of them instead.",
                               count_text(group.count), holder_in_words(evidence.snapshot, key.held_by, group.example)),
           .count = group.count,
           .example = group.example,
           .verb = "inspect requests"});
}

void find_waiting_requests(const Evidence &evidence, std::vector<Finding> &out) {
  const Snapshot &snapshot = evidence.snapshot;
  if (count_objects_of_requests(snapshot) < least_in_flight)
    return;
  const std::shared_ptr<const FoundRequests> requests = find_requests(snapshot);
  const u64 in_flight = requests->in_flight();
  if (in_flight < least_in_flight)
    return;
  Tasks tasks(snapshot);
  const ThreadPool pool = read_thread_pool(snapshot);
  const AsyncStacks stacks(tasks, pool, snapshot.runtime(), snapshot.threads(), snapshot.watch());
  const FrameworkNames framework(snapshot.assemblies());
  // Calls of requests have a method of ASP.NET as their outermost frame.
  auto of_request = [&](const AsyncStack &stack) {
    const AsyncFrame *frame = of_program(stack, framework);
    return frame && !is_for_client(stack.awaits.what) && frame != &stack.frames.back() ? frame : nullptr;
  };
  std::map<std::pair<std::string, std::string>, u64> places; // by method, and what it waits for
  for (const AsyncStack &stack : stacks.stacks())
    if (const AsyncFrame *frame = of_request(stack))
      places[{frame->method, stack.awaits.what}] += stack.count;
  const auto most = most_frequent(places);
  if (most == places.end() || most->second < least_in_flight || share_of(most->second, in_flight) < most_of_them)
    return;
  std::set<std::string> lines_of_most;
  for (const AsyncStack &stack : stacks.stacks())
    if (const AsyncFrame *frame = of_request(stack);
        frame && std::pair(frame->method, stack.awaits.what) == most->first)
      lines_of_most.insert(line_in_brackets(await_line(*frame, evidence.lines)));
  const std::string line = lines_of_most.size() == 1 ? *lines_of_most.begin() : "";
  out.push_back(
      {.kind = "waiting_requests",
       .harm = Harm::slow,
       .sureness = Sureness::possible,
       .text = fmt::format("{} requests are in flight, and {} calls of {}{} wait for one thing ({}). That is a "
                           "hang only if these calls never end.{}",
                           count_text(in_flight), count_text(most->second), method_in_words(most->first.first), line,
                           most->first.second, age_in_words(*requests)),
       .count = in_flight,
       .verb = "async"});
}

} // namespace dnheap
