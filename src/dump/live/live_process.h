// LiveProcess: a running process of this machine as a Target. All its threads are stopped from the constructor until
// release(), or until this object is destroyed; if this program dies, Linux lets them go on (base/process/process.h
// says what Windows does). Never writes to the process. Costs a look at its memory map; memory is copied when it is
// asked for (dump/live/live_memory.h). Must always be used from the same thread. For snapshot/ alone. What differs
// between systems is in live_process_linux.cc and live_process_windows.cc.
#pragma once
#include "base/watch.h"
#include "dump/live/live_memory.h"
#include "target/system_thread.h"
#include "target/target.h"

#include <map>
#include <optional>
#include <span>
#include <utility>

namespace dnheap {

struct LiveProcessOptions {
  bool pause = true; // false: threads run on, and memory may change while it is read
  // True: the process stands still only while its registers, the used ends of its stacks, and `needed` are copied. All
  // other memory is read later, as it is then.
  bool briefly = false;
  std::span<const std::pair<Address, Address>> needed = {};
  std::string temp_dir;
  Watch watch;
};

class LiveProcess {
public:
  // Throws Error that says why the process cannot be read, and what to do.
  LiveProcess(u64 pid, const LiveProcessOptions &options);

  // Call once.
  std::unique_ptr<Target> take_target() { return std::move(target_); }
  const std::shared_ptr<LiveMemory> &memory() const { return memory_; }
  u64 pid() const { return pid_; }
  // Returns which pages of the accessible mappings have memory, their own or a file's, by address. Nullopt after the
  // process was released, and if more than 1 TiB is accessible. Reads 8 bytes per page.
  std::optional<std::vector<std::pair<Address, Address>>> resident() const;
  // Copies all of its memory, then lets the process go on.
  void copy(unsigned threads, const Watch &watch);
  bool is_copied() const { return copied_; }
  bool is_pausing() const { return stopped_ && !released_; }
  // Lets the process go on; memory not read until then cannot be read any more. Does nothing if the process was not
  // stopped.
  void release();
  // Returns what the system said of each thread just before a brief stop, by OS id.
  const std::map<u64, SystemThread> &system_threads() const { return system_threads_; }
  // Returns the memory that has been read so far and that the process can change, by address.
  std::vector<std::pair<Address, Address>> fetched() const;
  // Returns how long the process has stood still so far; nullopt if it was not stopped.
  std::optional<double> pause_seconds() const;

private:
  void read_identity(u64 pid);
  void read_maps(u64 pid, const std::string &temp_dir);
  void read_threads(u64 pid);
  void read_system_threads();
  void copy_needed(std::span<const std::pair<Address, Address>> needed);

  const u64 pid_;
  std::optional<StoppedProcess> stopped_;
  std::unique_ptr<Target> target_;
  std::shared_ptr<LiveMemory> memory_;
  u16 machine_ = 0;
  std::map<u64, SystemThread> system_threads_;
  std::vector<std::pair<Address, Address>> changing_; // mappings that can be written to
  bool copied_ = false, released_ = false;
};

} // namespace dnheap
