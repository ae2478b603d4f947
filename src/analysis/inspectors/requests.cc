// `inspect requests`: requests of ASP.NET Core: the state of Kestrel's connections and streams, contexts that are still
// held after their request ended, and sessions.
#include "analysis/inspectors/requests.h"

#include "analysis/inspectors/inspector.h"
#include "analysis/names/compiled_names.h"
#include "analysis/shapes/base_types.h"
#include "analysis/shapes/field_reader.h"
#include "analysis/shapes/held_by.h"
#include "analysis/shapes/largest_first.h"
#include "analysis/shapes/process_clock.h"
#include "analysis/shapes/typed_objects.h"
#include "analysis/shapes/unknown_shape.h"
#include "base/text.h"
#include "report/columns_of.h"

#include <algorithm>
#include <set>

namespace dnheap {

namespace {

using report::Cell;
using report::Kind;
using report::Shown;

constexpr const char *http_protocol = "Microsoft.AspNetCore.Server.Kestrel.Core.Internal.Http.HttpProtocol";
constexpr std::string_view http_types = "Microsoft.AspNetCore.Server.Kestrel.Core.Internal.Http";
constexpr const char *http_context = "Microsoft.AspNetCore.Http.DefaultHttpContext";
constexpr const char *host_context = "Microsoft.AspNetCore.Hosting.HostingApplication+Context";
constexpr const char *session = "Microsoft.AspNetCore.Session.DistributedSession";
// Parts of a context: they refer to it, and only the context refers to them.
constexpr const char *context_parts[] = {"Microsoft.AspNetCore.Http.DefaultHttpRequest",
                                         "Microsoft.AspNetCore.Http.DefaultHttpResponse"};
// Field of Http1Connection<TContext>, Http2Stream<TContext>, Http3Stream<TContext>.
constexpr const char *host_context_field =
    "<Microsoft.AspNetCore.Hosting.Server.Abstractions.IHostContextContainer<TContext>.HostContext>k__BackingField";
constexpr const char *request_methods[] = {"GET",   "PUT",   "DELETE",  "POST",   "HEAD",
                                           "TRACE", "PATCH", "CONNECT", "OPTIONS"};

// Kestrel's RequestProcessingStatus. HTTP/2 and HTTP/3 keep it at pending until a response has begun.
enum Status : u32 {
  pending,
  parsing_request_line,
  parsing_headers,
  app_started,
  headers_committed,
  headers_flushed,
  response_completed
};

struct FoundRequest {
  std::string state, method;
  RequestStart start = {};
};

// Returns how long ago a request began, by the clock that its server has noted it on.
std::optional<u64> age_of(const RequestStart &start, const ProcessClock &clock) {
  const std::optional<u64> age = clock.since(ProcessClock::Clock::stopwatch, start.stopwatch);
  return age ? age : clock.since(ProcessClock::Clock::utc, start.utc);
}

// Reads the heap for one answer.
class Requests {
public:
  explicit Requests(const Snapshot &snapshot)
      : snapshot_(snapshot), bases_(snapshot.runtime()), fields_(snapshot.runtime()), clock_(snapshot) {}

  void read() {
    for (const TypedObject &one : objects_called(snapshot_, host_context))
      if (const Address context = fields_.reference_or_null(one.address, "<HttpContext>k__BackingField"))
        kept_by_host_.insert(context);
    for (const TypedObject &one :
         objects_that(snapshot_, [&](Address mt) { return bases_.derives(mt, http_protocol); }))
      add("request", http_protocol, one, read_request(one.address), "");
    std::vector<TypedObject> held =
        objects_that(snapshot_, [&](Address mt) { return name(mt) == http_context || bases_.derives(mt, session); });
    std::erase_if(held, [&](const TypedObject &one) { return served_.contains(one.address); });
    add_held(held);
    add_ages();
  }

  FoundRequests found;

private:
  const std::string &name(Address mt) { return snapshot_.runtime().types().name(mt); }

  // Adds sessions, and contexts that do not belong to a request in flight, with the fields that hold them.
  void add_held(const std::vector<TypedObject> &held) {
    const std::vector<Address> parts = addresses_of(objects_that(snapshot_, [&](Address mt) {
      return std::find(std::begin(context_parts), std::end(context_parts), name(mt)) != std::end(context_parts);
    }));
    HeldBy holders(snapshot_, worth_the_same(held), parts);
    for (const TypedObject &one : held) {
      const bool is_context = name(one.method_table) == http_context;
      const std::optional<std::string> state = is_context ? context_state(one.address) : session_state(one.address);
      add(is_context ? "context" : "session", is_context ? http_context : session, one,
          state ? std::optional(FoundRequest{*state, ""}) : std::nullopt, holders.of(one.address));
    }
  }

  void add(const char *kind, const char *base, const TypedObject &one, const std::optional<FoundRequest> &request,
           const std::string &holder) {
    if (!request) {
      ++found.unknown[base];
      return;
    }
    RequestGroup &group = found.groups[{kind, request->state, request->method, name(one.method_table), holder}];
    if (group.count++ == 0)
      group.example = one.address;
    if (request->start.stopwatch || request->start.utc)
      starts_.push_back({&group, request->start});
  }

  // Ages are known when all starts are: the newest one may be the newest time in the heap.
  void add_ages() {
    for (const auto &[group, start] : starts_) {
      clock_.saw(ProcessClock::Clock::stopwatch, start.stopwatch);
      clock_.saw(ProcessClock::Clock::utc, start.utc);
    }
    for (const auto &[group, start] : starts_)
      if (const std::optional<u64> age = age_of(start, clock_); age && (!group->age_most || *age > *group->age_most)) {
        group->age_most = age;
        group->is_at_least = clock_.is_at_least(clock_.since(ProcessClock::Clock::stopwatch, start.stopwatch)
                                                    ? ProcessClock::Clock::stopwatch
                                                    : ProcessClock::Clock::utc);
      }
  }

  // Returns the request of a connection of HTTP/1, or of a stream, and its state.
  std::optional<FoundRequest> read_request(Address protocol) {
    const std::optional<u32> status = fields_.number<u32>(protocol, "_requestProcessingStatus");
    const std::optional<u8> method = fields_.number<u8>(protocol, "<Method>k__BackingField");
    if (!status || !method || *status > response_completed)
      return std::nullopt;
    if (!is_served(protocol, *status))
      return FoundRequest{*status == pending || *status == response_completed ? "idle"
                          : *status < app_started                             ? "reading the request"
                                                                              : "ended",
                          ""};
    return FoundRequest{*status == response_completed  ? "in flight, response complete"
                        : *status >= headers_committed ? "in flight, response begun"
                                                       : "in flight",
                        *method < std::size(request_methods) ? request_methods[*method] : "(other)",
                        start_of(protocol)};
  }

  // Returns ASP.NET's own record of the request; 0: the application is not ASP.NET's.
  Address host_context_of(Address protocol) {
    // The field's name has dots, so it cannot be a path.
    const InstanceField *field = fields_.find(fields_.type_of(protocol), host_context_field);
    return field ? fields_.memory().try_pointer(protocol + field->offset).value_or(0) : 0;
  }

  // ASP.NET notes a start on the stopwatch for metrics, or if it logs each request; else its Activity has the start.
  RequestStart start_of(Address protocol) {
    const Address host = host_context_of(protocol), feature = fields_.reference_or_null(host, "HttpActivityFeature"),
                  activity = fields_.reference_or_null(feature, "<Activity>k__BackingField");
    return {fields_.number<u64>(host, "StartTimestamp").value_or(0),
            fields_.number<u64>(activity, "<StartTimeUtc>k__BackingField._dateData").value_or(0)};
  }

  // True if the application is working on the request. ASP.NET's own context shows it; for other contexts the status
  // does.
  bool is_served(Address protocol, u32 status) {
    const Address host = host_context_of(protocol),
                  context = host ? fields_.reference_or_null(host, "<HttpContext>k__BackingField") : 0;
    const std::optional<u8> is_active = context ? fields_.number<u8>(context, "_active") : std::nullopt;
    if (is_active && *is_active)
      served_.insert(context);
    if (is_active)
      return *is_active;
    return host && !context ? false : status >= app_started && status < response_completed;
  }

  // Returns the state of a context that is not in flight in Kestrel.
  std::optional<std::string> context_state(Address context) {
    const std::optional<u8> is_active = fields_.number<u8>(context, "_active");
    const std::optional<Address> features = fields_.reference(context, "_features.<Collection>k__BackingField");
    if (!is_active || !features)
      return std::nullopt;
    if (*is_active)
      return "in flight"; // for another server
    return *features ? "made by code" : kept_by_host_.contains(context) ? "kept for reuse" : "ended";
  }

  std::optional<std::string> session_state(Address of) {
    const std::optional<u8> is_loaded = fields_.number<u8>(of, "_loaded"),
                            is_modified = fields_.number<u8>(of, "_isModified");
    if (!is_loaded || !is_modified)
      return std::nullopt;
    return *is_modified ? "modified" : *is_loaded ? "loaded" : "not loaded";
  }

  const Snapshot &snapshot_;
  const BaseTypes bases_;
  FieldReader fields_;
  ProcessClock clock_;
  std::set<Address> kept_by_host_, served_; // contexts
  std::vector<std::pair<RequestGroup *, RequestStart>> starts_;
};

report::Table requests_table(const RequestGroups &groups) {
  using G = std::pair<const RequestKey, RequestGroup>;
  const std::vector<const G *> sorted = largest_first(groups, &RequestGroup::count);
  report::Table table = report::ColumnsOf<G>{
      {{"count", "Count", Kind::count}, [](const G &g) { return g.second.count; }},
      {{"kind", "Kind", Kind::text}, [](const G &g) { return g.first.kind; }},
      {{"state", "State", Kind::text}, [](const G &g) { return g.first.state; }},
      {{"method", "Method", Kind::text}, [](const G &g) { return report::text_cell(g.first.method); }},
      {{"age_ms_most", "", Kind::number, Shown::in_data}, [](const G &g) { return Cell(g.second.age_most); }},
      {{"age", "Age", Kind::text, Shown::in_text},
       [](const G &g) { return g.second.age_most ? Cell(age_text(*g.second.age_most, false)) : Cell(); }},
      {{"type", "Type", Kind::text}, [](const G &g) { return g.first.type; }},
      {{"held_by", "Held by", Kind::text}, [](const G &g) { return report::text_cell(g.first.held_by); }},
      {{"example", "Example", Kind::address}, [](const G &g) {
         return g.second.example;
       }}}.table("requests", "", sorted);
  u64 sum = 0;
  for (const auto &[key, group] : groups)
    sum += group.count;
  table.total = total_row(table, {{"count", sum}, {"type", total_of(sorted.size(), "row")}});
  for (const G *one : first_of(sorted))
    explain_compiled_names(one->first.held_by, table.notes);
  table.notes.insert(
      table.notes.begin(),
      "request: a connection of HTTP/1, or a stream of HTTP/2 or HTTP/3 (both serve one request after the other); a "
      "context that has ended is useless to its holder; 'show ADDRESS --values' shows a request's path");
  return table;
}

} // namespace

u64 FoundRequests::in_flight() const {
  u64 out = 0;
  for (const auto &[key, group] : groups)
    if (key.kind == "request" && key.state.starts_with("in flight"))
      out += group.count;
  return out;
}

const RequestGroup *FoundRequests::oldest() const {
  const RequestGroup *out = nullptr;
  for (const auto &[key, group] : groups)
    if (key.kind == "request" && group.age_most && (!out || *group.age_most > *out->age_most))
      out = &group;
  return out;
}

u64 count_requests(const Snapshot &snapshot, AspNetTypes types) {
  return count_that(snapshot, [&](Address mt) {
    const std::string &name = snapshot.runtime().types().name(mt);
    return name.starts_with(http_types) || (types == AspNetTypes::server_and_contexts && name == http_context);
  });
}

std::shared_ptr<const FoundRequests> find_requests(const Snapshot &snapshot) {
  return snapshot.kept<FoundRequests>([&] {
    Requests requests(snapshot);
    requests.read();
    return std::make_shared<FoundRequests>(std::move(requests.found));
  });
}

void inspect_requests(const Snapshot &snapshot, const Question &, report::Answer &answer) {
  const std::shared_ptr<const FoundRequests> found = find_requests(snapshot);
  const RequestGroups &groups = found->groups;
  answer.tables.push_back(requests_table(groups));
  if (const RequestGroup *oldest = found->oldest())
    answer.tables.back().notes.push_back(std::string("Age: of the oldest request in flight, ") +
                                         (oldest->is_at_least
                                              ? "until the newest time in the heap, so at least that long"
                                              : "until the time of the dump, or now"));
  for (const auto &[base, count] : found->unknown)
    answer.completeness->notes.add(unknown_shape_note(count, base, "such an object"));
  // Suggests contexts first that are held after their request ended.
  auto rank = [](const auto &one) {
    return std::pair(one.first.kind == "context" && one.first.state == "ended", one.second.count);
  };
  const auto most =
      std::max_element(groups.begin(), groups.end(), [&](const auto &a, const auto &b) { return rank(a) < rank(b); });
  if (most != groups.end())
    answer.next_command = hex(most->second.example);
}

} // namespace dnheap
