#include "lookout/lookout.h"

#include "base/text.h"

#include <algorithm>
#include <new>
#include <numeric>

namespace dnheap {

namespace {

constexpr u64 looks_until_blind = 10; // after so many consecutive looks without figures, that is reported
// Looks before the next attempt to take a core: each attempt stops the process.
constexpr u64 looks_after_failure = 10;

} // namespace

Lookout::Lookout(const LookoutOptions &options, const LookoutClock &clock, const KeptCores &cores)
    : options_(options), clock_(clock), cores_(cores) {}

std::vector<Level> Lookout::levels_of(const Figures &figures) const {
  std::vector<Level> out;
  for (const Condition &condition : options_.conditions)
    out.push_back(level_of(condition, figures));
  return out;
}

std::vector<std::string> Lookout::texts(const std::vector<u64> &conditions) const {
  std::vector<std::string> out;
  for (const u64 i : conditions)
    out.push_back(options_.conditions[i].text);
  return out;
}

Event Lookout::event(Event::Kind kind, u64 pid) const {
  Event out;
  out.kind = kind;
  out.time = clock_.utc();
  out.pid = pid;
  return out;
}

// Checks only that the container's limit exists: the GC's figures may be missing at one look, because the GC is at
// work.
void Lookout::check(const Figures &first, const std::string &forbidden) const {
  for (const Condition &condition : options_.conditions) {
    if (!forbidden.empty() && condition.figure && is_of_gc(*condition.figure))
      throw UsageError("'" + condition.text + "' cannot be measured: " + forbidden +
                       ". Without that right, these can be: rss, private, container, oom (of the container)");
    if (!first.limit && (condition.percent || condition.figure == Figure::container))
      throw UsageError("'" + condition.text +
                       "' cannot be measured: the process's container, or control group, has no memory limit, or none "
                       "that is visible from here");
  }
}

void Lookout::watch(WatchedProcess &process) {
  Alarms alarms(options_.conditions.size(), static_cast<double>(options_.again),
                static_cast<double>(options_.every * looks_after_failure));
  taken_ = blind_looks_ = 0;
  for (bool is_first = true;; is_first = false) {
    const double next = clock_.now() + static_cast<double>(options_.every);
    Figures figures = process.look();
    if (process.has_ended())
      break;
    if (is_first) {
      check(figures, process.forbidden());
      Event began = event(Event::Kind::began, process.pid());
      began.runtime = process.runtime();
      began.figures = figures;
      began.by_port = process.forbidden();
      std::vector<u64> all(options_.conditions.size());
      std::iota(all.begin(), all.end(), 0);
      began.conditions = texts(all);
      options_.tell(began);
    }
    std::vector<Level> levels = levels_of(figures);
    note_blindness(levels, process);
    std::vector<u64> due = alarms.due(levels, clock_.now());
    if (!due.empty()) {
      due = confirmed(std::move(due), process, figures);
      levels = levels_of(figures);
    }
    if (!due.empty()) {
      Event due_now = event(Event::Kind::taken, process.pid());
      due_now.conditions = texts(due);
      due_now.figures = figures;
      if (take(process, std::move(due_now)))
        alarms.taken(levels, clock_.now());
      else if (process.has_ended())
        break;
      else
        alarms.failed(clock_.now());
    }
    clock_.sleep(std::max(next - clock_.now(), 0.0)); // a core may take longer than that
  }
  Event ended = event(Event::Kind::ended, process.pid());
  ended.reason = count_text(taken_) + (taken_ == 1 ? " core was written" : " cores were written");
  options_.tell(ended);
}

// Figures read while the GC was at work may be wrong once.
std::vector<u64> Lookout::confirmed(std::vector<u64> due, WatchedProcess &process, Figures &figures) const {
  std::string ran_out = std::move(figures.ran_out); // reported once
  figures = process.look();
  if (figures.ran_out.empty())
    figures.ran_out = std::move(ran_out);
  std::erase_if(due, [&](u64 i) { return level_of(options_.conditions[i], figures) != Level::above; });
  return due;
}

void Lookout::note_blindness(const std::vector<Level> &levels, const WatchedProcess &process) {
  std::vector<u64> unknown;
  for (u64 i = 0; i < levels.size(); ++i)
    if (levels[i] == Level::unknown)
      unknown.push_back(i);
  blind_looks_ = unknown.empty() ? 0 : blind_looks_ + 1;
  if (blind_looks_ != looks_until_blind)
    return;
  Event blind = event(Event::Kind::blind, process.pid());
  blind.conditions = texts(unknown);
  blind.reason = process.problem();
  options_.tell(blind);
}

bool Lookout::take(WatchedProcess &process, Event event) {
  event.file = cores_.next_path(event.time, process.pid());
  try {
    const TakenCore core = process.take(event.file);
    event.file_bytes = core.file_bytes;
    event.pause_seconds = core.pause_seconds;
    event.by_port = core.by_port;
    event.removed = cores_.remove_oldest(event.file);
    ++taken_;
  } catch (const Interrupted &) {
    throw;
  } catch (const std::bad_alloc &) {
    event.reason = "dnheap ran out of memory";
  } catch (const Error &error) {
    event.reason = error.what();
  }
  if (!event.reason.empty()) {
    event.kind = Event::Kind::not_taken;
    event.file.clear();
  }
  options_.tell(event);
  return event.reason.empty();
}

} // namespace dnheap
