#include "dump/live/port_heap.h"

#include "base/error.h"
#include "base/host/control_group.h"
#include "base/text.h"
#include "dump/live/event_session.h"
#include "dump/records/heap_events.h"
#include "dump/records/heap_layout.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>

namespace dnheap {

namespace {

using ListingClock = std::chrono::steady_clock;

double seconds_since(ListingClock::time_point start) {
  return std::chrono::duration<double>(ListingClock::now() - start).count();
}

// The process takes memory for events as they come, up to this. Runtimes before 11 send nothing before the collection
// is over, so all events must find room; those that do not are lost. A process in a container must not be ended for
// that.
u32 event_buffer(u64 pid) {
  constexpr u64 least = 16, most = 4095, mb = 1 << 20;
  u64 out = most;
  for (const GroupMemory &group : group_memory(pid))
    out = std::min(out, group.limit > group.used ? (group.limit - group.used) / mb * 3 / 4 : 0);
  return static_cast<u32>(std::clamp(out, least, most));
}

// Reads a session's stream until the collection is listed, then what comes at its end.
class Listing {
public:
  explicit Listing(const PortHeapOptions &options)
      : options_(options), parser_([this](const NettraceEvent &event) {
          events_.take(event, parser_.pointer_size(), parser_.ticks_per_second());
        }) {}

  void read(EventSession &session) {
    constexpr u64 part = 1 << 18;
    std::vector<std::byte> got;
    ListingClock::time_point last = ListingClock::now();
    while (!parser_.has_ended()) {
      options_.watch.check();
      got.clear();
      if (!session.receive(got, part))
        break;
      if (!got.empty())
        last = ListingClock::now();
      take(got);
      if (events_.is_complete())
        session.stop();
      if (events_.is_complete() && seconds_since(last) > options_.patience)
        break; // names of assemblies are all that can be missing
      if (!events_.is_complete() && seconds_since(last) > (events_.has_begun() ? options_.patience : begin_seconds))
        fail_late();
    }
    if (!events_.is_complete())
      throw Error("the diagnostics port was closed before all objects were listed: the process has probably ended");
  }

  const HeapEvents &events() const { return events_; }
  const NettraceParser &parser() const { return parser_; }

private:
  static constexpr double begin_seconds = 10;

  void take(Bytes bytes) {
    parser_.feed(bytes);
    if (Progress *progress = options_.watch.progress) {
      progress->done += bytes.size();
      progress->objects = events_.objects();
    }
  }
  [[noreturn]] void fail_late() const {
    throw Error(events_.has_begun()
                    ? "the process does not send the rest of its events: it may be stopped, by a debugger or SIGSTOP: "
                      "let it go on, and try again"
                    : "the process's GC lists no objects: it may be in a region without collections "
                      "(GC.TryStartNoGCRegion), or be another runtime than CoreCLR. dnheap -p needs no collection");
  }

  const PortHeapOptions &options_;
  HeapEvents events_;
  NettraceParser parser_;
};

OperatingSystem system_called(std::string_view name) {
  return name == "Linux" || name == "linux" ? OperatingSystem::linux_os
         : name == "macOS"                  ? OperatingSystem::macos
                                            : OperatingSystem::unknown;
}

Architecture architecture_called(std::string_view name) {
  for (Architecture one : {Architecture::x64, Architecture::arm64, Architecture::x86, Architecture::arm})
    if (name == name_of(one))
      return one;
  return Architecture::unknown;
}

void add_notes(const Listing &listing, double seconds, Target &target) {
  const std::optional<double> pause = listing.events().pause_seconds();
  auto text = [](double of) { return milliseconds_text(static_cast<u64>(std::ceil(of * 1000))); };
  target.notes.add(Subject::dump, Effect::none,
                   "the process made a full collection for this" +
                       (pause ? ", and stood still for " + text(*pause) : std::string()) + "; its events took " +
                       text(seconds) + " in all. Garbage is not listed");
  if (const u64 nameless = listing.events().nameless_types())
    target.notes.add(Subject::type_names, Effect::none,
                     count_text(nameless) + (nameless == 1 ? " type has" : " types have") +
                         " no name: another program listens to the process's events, and was sent the names before",
                     "end its session first");
}

} // namespace

std::unique_ptr<Target> open_port_heap(u64 pid, DiagnosticsPort &port, const PortHeapOptions &options) {
  const ListingClock::time_point start = ListingClock::now();
  const auto turn = [&] { options.watch.check(); };
  const PortProcess process = ask_for_process(port, {5, turn});
  auto listing = std::make_unique<Listing>(options);
  {
    Timer timer(options.watch, "collect and list");
    EventSession session(port,
                         {.provider = std::string(HeapEvents::provider),
                          .keywords = HeapEvents::keywords,
                          .level = HeapEvents::level,
                          .rundown_keywords = HeapEvents::rundown_keywords,
                          .buffer_mb = event_buffer(pid)},
                         {options.patience, turn});
    listing->read(session);
  }
  listing->events().check();
  auto out = std::make_unique<Target>();
  auto record = std::make_shared<HeapRecord>();
  out->container = "events";
  out->path = "process " + std::to_string(pid);
  out->os = system_called(process.os);
  out->architecture = architecture_called(process.architecture);
  out->pid = pid;
  out->program = printable(process.command_line);
  out->taken = TakenAt{static_cast<u64>(std::max<std::time_t>(std::time(nullptr), 0)), TakenAt::Clock::now, {}};
  record->source = "a heap that the GC of .NET " + printable(process.version.substr(0, process.version.find('+'))) +
                   " listed in events";
  record->paused_seconds = listing->events().pause_seconds();
  listing->events().fill(*record);
  add_notes(*listing, seconds_since(start), *out);
  lay_out_heap(listing->events().listed(), listing->parser().pointer_size(), options.threads, options.watch, *out,
               std::move(record));
  return out;
}

std::unique_ptr<Target> open_port_heap(u64 pid, const PortHeapOptions &options) {
  PortSearch search = find_diagnostics_port(pid);
  if (!search.port)
    throw Error(search.why_not);
  return open_port_heap(pid, *search.port, options);
}

} // namespace dnheap
