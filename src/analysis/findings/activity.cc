#include "analysis/findings/activity.h"

#include "analysis/findings/unseen_failures.h"
#include "analysis/inspectors/requests.h"
#include "analysis/names/compiled_names.h"
#include "analysis/names/source_line_text.h"
#include "analysis/threads/async_calls.h"
#include "analysis/threads/thread_text.h"
#include "base/text.h"

#include <algorithm>

namespace dnheap {

namespace {

// A group before its source line is known, since lines cost more than counts.
struct Unplaced {
  Activity activity;
  const ThreadGroup *threads = nullptr;
  const CallGroup *calls = nullptr;
};

// A call that waits for the program's end, or that has a thread already.
bool is_no_activity(const CallGroup &group) {
  const std::string_view method = group.method;
  return method.ends_with(".Main") || method.ends_with(".<Main>$") || group.waits_for.starts_with("nothing");
}

u64 requests_in_flight(const Snapshot &snapshot) {
  // Pieces of a heap do not show how many there are.
  const bool has_heap = snapshot.runtime().why_no_heap().empty();
  return has_heap && count_requests(snapshot, AspNetTypes::server) ? find_requests(snapshot)->in_flight() : 0;
}

void add_failures(const Snapshot &snapshot, Activities &to) {
  constexpr u64 most_failures = 2;
  std::vector<UnseenFailure> all = find_unseen_failures(snapshot);
  all.resize(std::min<u64>(all.size(), most_failures));
  for (const UnseenFailure &one : all)
    to.list.push_back({.who = Activity::Who::failures,
                       .count = one.count,
                       .is_at_least = one.is_at_least,
                       .waits_for = {},
                       .method = one.method,
                       .calls = one.type,
                       .at = {}});
}

} // namespace

const char *name_of(Activity::Who who) {
  switch (who) {
  case Activity::Who::threads: return "thread";
  case Activity::Who::calls: return "call";
  case Activity::Who::requests: return "request";
  case Activity::Who::failures: return "failure";
  }
  return "";
}

std::string Activity::figures() const {
  return (is_at_least ? "at least " : "") + count_text(count) + " " + name_of(who == Who::failures ? Who::calls : who) +
         (count == 1 ? "" : "s");
}

std::string Activity::text() const {
  const bool is_one = count == 1;
  if (who == Who::requests)
    return is_one ? "is in flight (ASP.NET Core)" : "are in flight (ASP.NET Core)";
  if (who == Who::failures)
    return "failed with " + calls + (method.empty() ? "" : " in " + method) + ", and nobody looked at the exception";
  const std::string place = method + line_in_brackets(at);
  if (who == Who::calls)
    return "of " + place + (is_one ? " waits" : " wait") + (waits_for.empty() ? "" : " for " + waits_for);
  if (is_in_native)
    return (is_one ? "is in " : "are in ") + calls + ", called by " + place;
  const std::string what = !waits_for.empty() ? wait_in_words(waits_for, !is_one) : is_one ? "runs" : "run";
  if (calls.starts_with("System.Runtime.EH."))
    return what + " in " + place + ", where an exception is thrown";
  return what + " in " + place + (calls.empty() ? "" : ", which calls " + calls);
}

void Activities::add(Activity one) {
  auto text_of_many = [](Activity of) {
    of.count = 2;
    return of.text();
  };
  const std::string text = text_of_many(one);
  auto same = std::ranges::find_if(
      list, [&](const Activity &other) { return other.who == one.who && text_of_many(other) == text; });
  if (same != list.end())
    same->count += one.count;
  else
    list.push_back(std::move(one));
}

Activities find_activities(const Snapshot &snapshot, const Standing &standing, SourceLines &lines, u64 most) {
  std::vector<Unplaced> all;
  if (const u64 count = requests_in_flight(snapshot))
    all.push_back(
        {{.who = Activity::Who::requests, .count = count, .waits_for = {}, .method = {}, .calls = {}, .at = {}}});
  for (const ThreadGroup &group : standing.threads)
    all.push_back({{.who = Activity::Who::threads,
                    .count = group.count,
                    .waits_for = group.waits_for + (group.detail.empty() ? "" : " (" + group.detail + ")"),
                    .method = group.method,
                    .calls = group.calls,
                    .is_in_native = group.is_in_native,
                    .at = {}},
                   &group});
  for (const CallGroup &group : standing.calls)
    if (!is_no_activity(group))
      all.push_back({{.who = Activity::Who::calls,
                      .count = group.count,
                      .waits_for = awaited_in_words(group.waits_for),
                      .method = method_in_words(group.method),
                      .calls = {},
                      .at = {}},
                     nullptr,
                     &group});
  std::ranges::stable_sort(all,
                           [](const Unplaced &a, const Unplaced &b) { return a.activity.count > b.activity.count; });
  Activities out;
  out.others = all.size() - std::min<u64>(all.size(), most);
  all.resize(std::min<u64>(all.size(), most));
  for (Unplaced &one : all) {
    if (one.threads)
      one.activity.at = lines.find(one.threads->method_desc, one.threads->ip, !one.threads->is_active).at;
    if (one.calls)
      one.activity.at = line_of(*one.calls, lines);
    out.add(std::move(one.activity));
  }
  add_failures(snapshot, out);
  return out;
}

} // namespace dnheap
