#include "dump/live/live_process.h"

#include "base/host/file_time.h"

#include <algorithm>

namespace dnheap {

namespace {

bool was_cancelled(const void *watch) {
  const Progress *progress = static_cast<const Watch *>(watch)->progress;
  return progress && progress->cancel;
}

} // namespace

LiveProcess::LiveProcess(u64 pid, const LiveProcessOptions &options) : pid_(pid), target_(std::make_unique<Target>()) {
  { ProcessMemory allowed(pid); } // throws before anything is stopped
  if (options.pause && !options.briefly)
    stopped_.emplace(pid, was_cancelled, &options.watch);
  target_->container = "process";
  target_->path = "process " + std::to_string(pid);
  target_->pid = pid;
  target_->taken = TakenAt{seconds_now(), TakenAt::Clock::now, {}};
  read_identity(pid);
  read_maps(pid, options.temp_dir);
  if (options.briefly) { // what exists and where hardly changes in a few ms
    read_system_threads();
    stopped_.emplace(pid, was_cancelled, &options.watch);
  }
  read_threads(pid);
  if (options.briefly) {
    copy_needed(options.needed);
    released_ = true;
    stopped_->release();
  } else if (!options.pause) {
    target_->notes.add(Subject::dump, Effect::liveness,
                       "the process ran on while it was read (--no-pause): objects that it allocated, moved or "
                       "changed meanwhile may be missing, counted twice or wrong, and registers are not known");
  }
}

void LiveProcess::copy_needed(std::span<const std::pair<Address, Address>> needed) {
  constexpr u64 used_end = 1 << 20, red_zone = 128; // of each stack: most use some KiB
  const Memory &memory = target_->memory;
  auto copy = [&](Address start, Address end) {
    for (Address at = start; at < end;) {
      const Bytes bytes = memory.place(at, end - at);
      if (bytes.empty())
        return;
      memory.fetched(bytes);
      at += bytes.size();
    }
  };
  for (const Thread &thread : target_->threads)
    if (thread.stack_pointer > red_zone)
      copy(thread.stack_pointer - red_zone, thread.stack_pointer + used_end);
  for (const auto &[start, end] : needed)
    copy(start, end);
}

std::vector<std::pair<Address, Address>> LiveProcess::fetched() const {
  std::vector<std::pair<Address, Address>> out = memory_->fetched();
  auto changes = [&](const std::pair<Address, Address> &pages) {
    const auto after = std::upper_bound(changing_.begin(), changing_.end(), pages.first,
                                        [](Address at, const auto &mapping) { return at < mapping.first; });
    return after != changing_.begin() && pages.first < std::prev(after)->second;
  };
  std::erase_if(out, [&](const auto &pages) { return !changes(pages); });
  return out;
}

void LiveProcess::copy(unsigned threads, const Watch &watch) {
  memory_->fetch_all(threads, watch);
  copied_ = true;
  release();
}

void LiveProcess::release() {
  if (!is_pausing())
    return;
  released_ = true;
  memory_->freeze();
  stopped_->release();
}

std::optional<double> LiveProcess::pause_seconds() const {
  return stopped_ ? std::optional(stopped_->seconds()) : std::nullopt;
}

} // namespace dnheap
