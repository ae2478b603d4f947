#include "analysis/threads/http_calls.h"

#include "analysis/shapes/process_clock.h"
#include "analysis/shapes/suspended_calls.h"
#include "analysis/shapes/typed_objects.h"
#include "analysis/threads/tasks.h"

#include <algorithm>
#include <fmt/format.h>

namespace dnheap {

namespace {

constexpr std::string_view box = "+AsyncStateMachineBox<";
constexpr std::string_view client_call = "+AsyncStateMachineBox<System.Net.Http.HttpClient+";
constexpr std::string_view logged_call =
    "+AsyncStateMachineBox<Microsoft.Extensions.Http.Logging.LoggingScopeHttpMessageHandler+";
constexpr std::string_view client_method = "System.Net.Http.HttpClient.";
constexpr std::string_view token_source = "System.Threading.CancellationTokenSource";
constexpr u32 most_variables = 20; // compilers number a method's variables from 1 on

// A time on one of the process's clocks.
struct NotedStart {
  ProcessClock::Clock clock;
  u64 time = 0;
};

class HttpCallReader {
public:
  explicit HttpCallReader(const Snapshot &snapshot) : snapshot_(snapshot), fields_(snapshot.runtime()) {}

  void read() {
    read_boxes();
    read_suspended();
  }

  // Each of the two ways counts each call once.
  const std::vector<NotedStart> &starts() const { return by_log_.size() > by_timer_.size() ? by_log_ : by_timer_; }

private:
  void read_boxes() {
    for (const TypedObject &one : objects_that(snapshot_, [&](Address mt) { return is_call(name(mt)); })) {
      const std::optional<u32> flags = fields_.number<u32>(one.address, "m_stateFlags");
      if (!flags || is_done(status_of(*flags)))
        continue;
      if (name(one.method_table).find(client_call) != std::string::npos)
        add(by_timer_, ProcessClock::Clock::ticks, timer_start(one.address));
      else
        add(by_log_, ProcessClock::Clock::stopwatch, logged_start(one.address));
    }
  }

  // .NET 11's own methods have no boxes; what they keep has no names.
  void read_suspended() {
    SuspendedCalls calls(snapshot_);
    if (!calls.exist())
      return;
    ReferenceReader reader(snapshot_.references());
    for (const TypedObject &one :
         objects_that(snapshot_, [&](Address mt) { return snapshot_.runtime().is_continuation(mt); })) {
      OpenedObject call;
      if (!calls.method_of(one.address).starts_with(client_method) || !reader.open(one.address, call))
        continue;
      u64 start = 0;
      reader.for_each(call, [&](Address held) {
        const std::string &type = name(fields_.type_of(held));
        if (type.starts_with(token_source))
          start = std::max(start, start_of_timer(held));
      });
      add(by_timer_, ProcessClock::Clock::ticks, start);
    }
  }

  const std::string &name(Address mt) const { return snapshot_.runtime().types().name(mt); }
  static bool is_call(const std::string &type) {
    return type.find(box) != std::string::npos &&
           (type.find(client_call) != std::string::npos || type.find(logged_call) != std::string::npos);
  }
  static void add(std::vector<NotedStart> &to, ProcessClock::Clock clock, u64 time) {
    if (time)
      to.push_back({clock, time});
  }

  // Returns the path to a variable of the call, or to a field of it ("._startTimestamp"); empty: it has none of that
  // name. Parameters have their names, and other variables a number besides.
  std::string path_to(Address call, const char *variable, const char *field) {
    const Address type = fields_.type_of(call);
    std::string path = fmt::format("StateMachine.{}{}", variable, field);
    for (u32 i = 1; i <= most_variables && !fields_.offset(type, path); ++i)
      path = fmt::format("StateMachine.<{}>5__{}{}", variable, i, field);
    return fields_.offset(type, path) ? path : "";
  }

  // The source that ends the call when its time is over has a timer, if the client has a timeout.
  u64 timer_start(Address call) {
    const std::string path = path_to(call, "cts", "");
    return path.empty() ? 0 : start_of_timer(fields_.reference_or_null(call, path));
  }

  // A source has no timer any more when its call is over.
  u64 start_of_timer(Address source) {
    const Address timer = fields_.reference_or_null(source, "_timer");
    return timer ? fields_.number<u64>(timer, "_startTicks").value_or(0) : 0;
  }

  u64 logged_start(Address call) {
    const std::string path = path_to(call, "stopwatch", "._startTimestamp");
    return path.empty() ? 0 : fields_.number<u64>(call, path).value_or(0);
  }

  const Snapshot &snapshot_;
  FieldReader fields_;
  std::vector<NotedStart> by_timer_, by_log_;
};

} // namespace

HttpCalls find_http_calls(const Snapshot &snapshot) {
  HttpCalls out;
  HttpCallReader reader(snapshot);
  reader.read();
  if (reader.starts().empty())
    return out;
  ProcessClock clock(snapshot);
  for (const NotedStart &one : reader.starts())
    clock.saw(one.clock, one.time);
  for (const NotedStart &one : reader.starts())
    if (const std::optional<u64> age = clock.since(one.clock, one.time))
      out.ages.push_back(*age), out.is_at_least = clock.is_at_least(one.clock);
  std::ranges::sort(out.ages);
  return out;
}

} // namespace dnheap
