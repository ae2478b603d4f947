#include "snapshot/attached_process.h"

#include "base/host/control_group.h"
#include "base/process/process.h"
#include "base/text.h"
#include "snapshot/snapshot.h"

#include <algorithm>

namespace dnheap {

AttachedProcess::AttachedProcess(u64 pid, const SnapshotOptions &options)
    : process_(pid, {.pause = options.pause, .temp_dir = options.temp_dir, .watch = options.watch}),
      always_running_(!options.pause) {}

AttachedProcess::AttachedProcess(u64 pid, const SnapshotOptions &options,
                                 std::span<const std::pair<Address, Address>> needed)
    : process_(pid, {.briefly = true, .needed = needed, .temp_dir = options.temp_dir, .watch = options.watch}),
      always_running_(false) {}

void AttachedProcess::look_at_resident() {
  if (is_pausing() || always_running_)
    resident_ = process_.resident();
}

std::string AttachedProcess::copy(const SnapshotOptions &options) {
  if (process_.is_copied())
    return "";
  if (options.temp_dir.empty() || options.max_memory) {
    const u64 size = std::min(process_.memory()->size(), private_memory(pid()).value_or(~u64{0}));
    const std::optional<u64> left = memory_left();
    const bool limited = options.max_memory && options.max_memory < left.value_or(~u64{0});
    const u64 room = limited ? options.max_memory : left.value_or(~u64{0});
    if (size > room)
      return "this question needs a copy of the process, of " + bytes_text(size) + ", but only " + bytes_text(room) +
             (limited ? " are allowed (--max-memory)" : " of memory are left here") +
             ": stat, segments and objects need no copy; --temp-dir puts the copy on disk; or write a dump, and open "
             "it on another machine";
  }
  process_.copy(options.threads, options.watch);
  return "";
}

} // namespace dnheap
