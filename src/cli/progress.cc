#include "cli/progress.h"

#include "dnheap/program.h"
#include "dnheap/text.h"

#include <algorithm>
#include <cstdio>
#include <fmt/format.h>
#include <system_error>

namespace dnheap::cli {

namespace {

using Clock = std::chrono::steady_clock;

std::string duration_text(double seconds) {
  u64 whole = static_cast<u64>(seconds + 0.5);
  if (whole < 100)
    return fmt::format("{} s", whole);
  if (whole < 100 * 60)
    return fmt::format("{} min", (whole + 30) / 60);
  return fmt::format("{:.1f} h", seconds / 3600);
}

} // namespace

std::string progress_text(const PassState &state, u64 width) {
  std::string out = state.pass;
  if (state.number)
    out += fmt::format(" (pass {} of {})", state.number, state.count);
  out += ":";
  const bool has_rate = state.seconds >= 0.2, at_end = state.total && state.done >= state.total;
  const u64 done = at_end ? state.total : state.done;
  if (at_end || (!state.total && !done)) {
    // The remaining time is unknown if the pass has read everything, or if it does not count.
    out += at_end ? fmt::format(" {}, finishing,", bytes_text(done)) : "";
    return (out + " " + duration_text(state.seconds) + " so far").substr(0, width);
  }
  if (state.total)
    out +=
        fmt::format(" {}% of {}", static_cast<u64>(static_cast<double>(done) * 100 / static_cast<double>(state.total)),
                    bytes_text(state.total));
  else
    out += " " + bytes_text(done);
  if (state.objects) {
    out += fmt::format(", {} objects", count_text(state.objects));
    if (has_rate)
      out += fmt::format(", {} objects/s",
                         count_text(static_cast<u64>(static_cast<double>(state.objects) / state.seconds)));
  } else if (done && has_rate) {
    out += fmt::format(", {}/s", bytes_text(static_cast<u64>(static_cast<double>(done) / state.seconds)));
  }
  if (done && state.total && has_rate)
    out += fmt::format(", {} left", duration_text(state.seconds * static_cast<double>(state.total - done) /
                                                  static_cast<double>(done)));
  return out.substr(0, width);
}

ProgressLine::ProgressLine(const Progress &progress, std::vector<std::string_view> passes, bool enabled)
    : progress_(progress), passes_(std::move(passes)) {
  if (!enabled)
    return;
  try {
    thread_ = std::thread([this] { draw_until_stopped(); });
  } catch (const std::system_error &) { // no thread available: no line is shown
  }
}

void ProgressLine::stop() {
  if (!thread_.joinable())
    return;
  {
    std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void ProgressLine::draw_until_stopped() {
  PassState state;
  Clock::time_point start;
  bool drawn = false;
  std::unique_lock lock(mutex_);
  // Shows nothing for work that takes less than one turn.
  while (!wake_.wait_for(lock, std::chrono::milliseconds(250), [this] { return stopped_; })) {
    const Progress::Now now = progress_.now();
    if (!now.pass)
      continue;
    if (state.pass != now.pass || now.done < state.done) {
      start = Clock::now();
      state.pass = now.pass;
      // Search from the current pass on: a pass that occurs again does not move the count back.
      auto from = passes_.begin() + static_cast<std::ptrdiff_t>(state.number ? state.number - 1 : 0);
      auto found = std::find(from, passes_.end(), state.pass);
      state.number = found == passes_.end() ? state.number : static_cast<u64>(found - passes_.begin()) + 1;
      state.count = passes_.size();
    }
    state.done = now.done;
    state.total = now.total;
    state.objects = now.objects;
    state.seconds = std::chrono::duration<double>(Clock::now() - start).count();
    unsigned columns = terminal_width(2);
    std::fprintf(stderr, "\r%s\033[K", progress_text(state, columns > 1 ? columns - 1 : 79).c_str());
    std::fflush(stderr);
    drawn = true;
  }
  if (drawn) {
    std::fputs("\r\033[K", stderr);
    std::fflush(stderr);
  }
}

} // namespace dnheap::cli
