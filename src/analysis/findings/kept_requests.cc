// Contexts of requests that have ended, and are still held; and requests in flight, most of which wait at one place.
#include "analysis/findings/finding_rule.h"
#include "analysis/inspectors/requests.h"
#include "analysis/names/compiled_names.h"
#include "analysis/names/source_line_text.h"
#include "analysis/shapes/holding_fields.h"
#include "analysis/shapes/process_clock.h"
#include "analysis/threads/async_calls.h"
#include "analysis/threads/http_calls.h"
#include "base/share.h"
#include "base/text.h"

#include <algorithm>
#include <fmt/format.h>

namespace dnheap {

namespace {

constexpr u64 least_contexts = 100, least_in_flight = 20;
constexpr double most_of_them = 0.5;
// Requests of a server that answers are younger; the newest time in a server's heap is a second old at most.
constexpr u64 least_age_ms = 1000;

// True for a wait for the client's next data. A connection that stays open always waits so, which is not a finding.
bool is_for_client(const std::string &what) { return what == "web socket" || what == "pipe" || what == "socket"; }

// How long the requests have waited, as far as anybody noted that.
struct WaitingTime {
  const RequestGroup *oldest = nullptr;
  HttpCalls calls = {}; // if the requests wait for these

  // True if the requests are so young that they do not hang.
  bool is_short() const {
    return oldest ? *oldest->age_most < least_age_ms : !calls.ages.empty() && calls.usual() < least_age_ms;
  }
  // Returns a sentence after a space, or nothing if no start is known.
  std::string text() const {
    if (oldest)
      return fmt::format(" The oldest request has been in flight for {}.",
                         age_text(*oldest->age_most, oldest->is_at_least));
    return calls.ages.empty() ? ""
                              : fmt::format(" The oldest of these calls has waited for {}.",
                                            age_text(calls.oldest(), calls.is_at_least));
  }
};

WaitingTime waiting_time(const Snapshot &snapshot, const FoundRequests &requests, const CallGroup &group) {
  WaitingTime out{.oldest = requests.oldest()};
  if (awaited_in_words(group.waits_for) == "HTTP")
    out.calls = find_http_calls(snapshot);
  if (share_of(out.calls.ages.size(), group.count) < most_of_them) // those of others, perhaps
    out.calls.ages.clear();
  return out;
}

} // namespace

void find_kept_requests(const Evidence &evidence, std::vector<Finding> &out) {
  if (count_requests(evidence.snapshot, AspNetTypes::server_and_contexts) < least_contexts)
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
  if (count_requests(snapshot, AspNetTypes::server_and_contexts) < least_in_flight)
    return;
  const std::shared_ptr<const FoundRequests> requests = find_requests(snapshot);
  const u64 in_flight = requests->in_flight();
  if (in_flight < least_in_flight)
    return;
  // Calls of requests have a method of ASP.NET as their outermost frame.
  const CallGroup *most = nullptr;
  for (const CallGroup &group : evidence.calls)
    if (!is_for_client(group.waits_for) && group.called && (!most || group.called > most->called))
      most = &group;
  if (!most || most->called < least_in_flight || share_of(most->called, in_flight) < most_of_them)
    return;
  const WaitingTime time = waiting_time(snapshot, *requests, *most);
  if (time.is_short())
    return;
  const std::string awaited = awaited_in_words(most->waits_for); // each call may have one of its own
  out.push_back(
      {.kind = "waiting_requests",
       .harm = Harm::slow,
       .sureness = Sureness::possible,
       .text = fmt::format("{} requests are in flight, and {} calls of {}{} wait{}. That is a hang only if these calls "
                           "never end.{}",
                           count_text(in_flight), count_text(most->called), method_in_words(most->method),
                           line_in_brackets(line_of(*most, evidence.lines)), awaited.empty() ? "" : " for " + awaited,
                           time.text()),
       .count = in_flight,
       .verb = "async"});
}

} // namespace dnheap
