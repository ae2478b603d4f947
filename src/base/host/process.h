// Other processes of this machine, as the operating system shows them: their memory, which is only ever read, and their
// threads, stopped for as long as it takes. Linux only; elsewhere the functions that open something throw Error.
#pragma once
#include "base/bytes.h"

#include <atomic>
#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace dnheap {

// Text of /proc/PID/NAME, some `limit` bytes at most; nullopt when it cannot be read.
std::optional<std::string> process_text(u64 pid, const std::string &name, u64 limit = 64 << 20);
// Ids of all processes that may be seen, in no order. Throws Error where the system shows none, not even this one.
std::vector<u64> list_processes();
bool processes_are_hidden(); // does the system keep those of others back?
// Of one process's threads.
std::vector<u64> list_threads(u64 pid);

// What would have to be different for `pid` to be read, in one phrase: "set kernel.yama.ptrace_scope to 0, or …".
std::string what_forbids_reading(u64 pid);

// The memory of a process. Any thread.
class ProcessMemory {
public:
  // Throws Error that says why the process cannot be read, and what to do.
  explicit ProcessMemory(u64 pid);
  ~ProcessMemory();
  ProcessMemory(const ProcessMemory &) = delete;
  ProcessMemory &operator=(const ProcessMemory &) = delete;

  // Copies from `address` on until something cannot be read; returns how many bytes.
  u64 read(Address address, std::span<std::byte> out) const;
  // Has read() found that the process is no more? Then nothing of it can be read any longer.
  bool has_ended() const { return has_ended_; }
  // For each page from `address` on: where its bytes are. All `present` where the system does not tell.
  // `absent`: no memory yet, as where it was only read; `of_file`: as the file has it.
  enum class Page : u8 { present, absent, of_file };
  void find_pages(Address address, std::span<Page> out) const;

private:
  u64 pid_;
  mutable std::atomic<bool> has_ended_{false};
  int file_ = -1; // /proc/PID/mem, which needs no further permission
  int pages_ = -1;
};

u64 device_of(u32 major, u32 minor); // as stat() numbers devices

// A file that a process has mapped, as /proc/PID/maps names it.
struct MappedPath {
  std::string path;
  u64 device = 0, inode = 0;
};

// Files of a process, by the paths that it sees itself, also after it has ended. Any thread.
class ProcessFiles {
public:
  explicit ProcessFiles(u64 pid);
  ~ProcessFiles();
  ProcessFiles(const ProcessFiles &) = delete;
  ProcessFiles &operator=(const ProcessFiles &) = delete;

  // What paths in /proc/PID/maps have in front of what the process sees: the folder that was made its root by chroot();
  // else empty.
  const std::string &prefix() const { return prefix_; }
  // Is it still the file of that path, and one that can be read?
  bool has(const MappedPath &file) const;
  // Copies what the file has from `offset` on; 0 when it is not there.
  u64 read(const MappedPath &file, u64 offset, std::span<std::byte> out) const;

private:
  int open(const MappedPath &file) const; // −1: it is not there

  int root_ = -1;
  std::string prefix_;
};

// Memory of a process that is resident; and that no file has, resident or swapped out. Nullopt: unknown, or it has
// ended.
std::optional<u64> resident_memory(u64 pid);
std::optional<u64> private_memory(u64 pid);
// When it was started, by a clock of the system's own: another process of the same number has another time. Nullopt: it
// has ended.
std::optional<u64> process_start(u64 pid);
// How many seconds ago that was.
std::optional<double> process_age(u64 pid);
// When there is no memory left, the system ends this process rather than another. False where it has no such choice.
bool be_first_to_go();

// Keeps all threads of a process stopped, those that it starts meanwhile as well. The operating system lets them go
// when this process ends, however it does. To be used from one thread, always the same.
class StoppedProcess {
public:
  // Throws Error when that is not allowed, or not done after a few seconds, and Interrupted when `give_up` says so.
  StoppedProcess(u64 pid, bool (*give_up)(const void *), const void *context);
  ~StoppedProcess();
  StoppedProcess(const StoppedProcess &) = delete;
  StoppedProcess &operator=(const StoppedProcess &) = delete;

  struct Thread {
    u64 id = 0;     // as this process sees it
    int signal = 0; // that was on its way when the thread stopped: it gets it when it goes on
    bool stopped = false;
  };
  const std::vector<Thread> &threads() const { return threads_; }
  // General registers as the kernel keeps them (NT_PRSTATUS' set); empty when they cannot be had.
  std::vector<std::byte> registers(const Thread &thread) const;
  // Lets all go on. Does nothing when done already.
  void release();
  // From the first thread's stop until all were let go, or now.
  double seconds() const;

private:
  void stop_all(bool (*give_up)(const void *), const void *context);
  bool wait_for(Thread &thread);

  using Clock = std::chrono::steady_clock;
  u64 pid_;
  std::vector<Thread> threads_;
  Clock::time_point since_;
  std::optional<Clock::time_point> until_;
};

} // namespace dnheap
