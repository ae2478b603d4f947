// AttachedProcess: the running process that a Snapshot reads. In contrast to a dump, it can be paused, it can end, some
// of its pages have no memory, and questions that read its memory in any order need a copy. Only the thread that
// attached to the process may use this.
#pragma once
#include "dump/live/live_process.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace dnheap {

struct SnapshotOptions;

class AttachedProcess {
public:
  // Stops the process, if options.pause says so. Throws Error that says why it cannot be read, and what to do.
  AttachedProcess(u64 pid, const SnapshotOptions &options);
  // The same, but lets the process go on as soon as its registers, the used ends of its stacks, and `needed` are
  // copied.
  AttachedProcess(u64 pid, const SnapshotOptions &options, std::span<const std::pair<Address, Address>> needed);

  // Call once.
  std::unique_ptr<Target> take_target() { return process_.take_target(); }
  u64 pid() const { return process_.pid(); }
  bool is_pausing() const { return process_.is_pausing(); }
  bool has_ended() const { return process_.memory()->process_has_ended(); }
  // Lets the process go on. Memory not read until then is unknown from now on.
  void release() { process_.release(); }
  // Returns how long the process stood still; nullopt if it was not stopped.
  std::optional<double> pause_seconds() const { return process_.pause_seconds(); }
  // Return what LiveProcess does.
  const std::map<u64, SystemThread> &system_threads() const { return process_.system_threads(); }
  std::vector<std::pair<Address, Address>> fetched() const { return process_.fetched(); }
  // Finds out which pages have memory, swapped out or not. Works only while the process is stopped, or if it never was.
  // Reads 8 bytes per mapped page.
  void look_at_resident();
  // Returns what look_at_resident() found, as [start, end) by address; nullopt if it was not called in time.
  const std::optional<std::vector<std::pair<Address, Address>>> &resident() const { return resident_; }
  // Copies all its memory once, and lets it go on. The copy never takes more memory than is free, since the process,
  // and others in its container, must not suffer; if the user names a folder, it takes disk space instead. If there is
  // no room for the copy, returns why, and what to do; else an empty text.
  std::string copy(const SnapshotOptions &options);

private:
  LiveProcess process_;
  bool always_running_;
  std::optional<std::vector<std::pair<Address, Address>>> resident_;
};

} // namespace dnheap
