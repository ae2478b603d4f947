// Other processes of this machine, as the operating system shows them: their memory, which is only read, and their
// threads, which can be stopped for a while. Linux and Windows; on other systems functions that open something throw
// Error.
#pragma once
#include "base/bytes.h"

#include <atomic>
#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace dnheap {

// Returns the text of /proc/PID/NAME, at most about `limit` bytes; nullopt if it cannot be read, as on all systems but
// Linux.
std::optional<std::string> process_text(u64 pid, const std::string &name, u64 limit = 64 << 20);
// Returns the ids of all visible processes, in no order. Throws Error if the system shows none, not even this one.
std::vector<u64> list_processes();
bool processes_are_hidden(); // true: the system hides other users' processes
// Returns the paths of the files that a process has mapped as code: its program, and libraries. Nullopt: this program
// may not look at them; empty: the process has ended, or belongs to the kernel.
std::optional<std::vector<std::string>> loaded_files(u64 pid);
// Returns a path by which this program can read the file that the process was started from; empty: unknown.
std::string program_file(u64 pid);
// Returns the thread ids of one process.
std::vector<u64> list_threads(u64 pid);

// Returns, in one phrase, what must change so that `pid` can be read: "set kernel.yama.ptrace_scope to 0, or …".
std::string what_forbids_reading(u64 pid);

// The memory of a process. Any thread.
class ProcessMemory {
public:
  // Throws Error that says why the process cannot be read, and what to do.
  explicit ProcessMemory(u64 pid);
  ~ProcessMemory();
  ProcessMemory(const ProcessMemory &) = delete;
  ProcessMemory &operator=(const ProcessMemory &) = delete;

  // Copies memory from `address` on until something cannot be read; returns the number of bytes.
  u64 read(Address address, std::span<std::byte> out) const;
  // True if read() has found that the process has ended: then none of its memory can be read any longer.
  bool has_ended() const { return has_ended_; }
  // Classifies each page from `address` on; all are `present` if the system does not say. `absent`: the page has no
  // memory, as the process has not written to it; `of_file`: the page equals that of the mapped file.
  enum class Page : u8 { present, absent, of_file };
  void find_pages(Address address, std::span<Page> out) const;

private:
  u64 pid_;
  mutable std::atomic<bool> has_ended_{false};
  int file_ = -1; // /proc/PID/mem; reading it needs no further permission
  int pages_ = -1;
  void *process_ = nullptr; // Windows: its handle
};

u64 device_of(u32 major, u32 minor); // the device number that stat() uses

// A file mapped by a process, as /proc/PID/maps names it.
struct MappedPath {
  std::string path;
  u64 device = 0, inode = 0;
};

// Opens a process's files by the paths that the process itself sees, even after it has ended. Any thread.
class ProcessFiles {
public:
  explicit ProcessFiles(u64 pid);
  ~ProcessFiles();
  ProcessFiles(const ProcessFiles &) = delete;
  ProcessFiles &operator=(const ProcessFiles &) = delete;

  // Returns the folder that chroot() made the root of the process: paths in /proc/PID/maps begin with it, paths that
  // the process sees do not. Usually empty.
  const std::string &prefix() const { return prefix_; }
  // True if that path still is the same file, and can be read.
  bool has(const MappedPath &file) const;
  // Copies the file's content from `offset` on; returns 0 if the file is not there.
  u64 read(const MappedPath &file, u64 offset, std::span<std::byte> out) const;

private:
  int open(const MappedPath &file) const; // −1: it is not there

  int root_ = -1;
  std::string prefix_;
};

// Return a process's resident memory, and its memory that is in no file, resident or swapped out. Nullopt: unknown, or
// it has ended.
std::optional<u64> resident_memory(u64 pid);
std::optional<u64> private_memory(u64 pid);
// Returns the start time on a clock of the system: another process with the same id has another start time. Nullopt: it
// has ended.
std::optional<u64> process_start(u64 pid);
// Returns the process's age in seconds.
std::optional<double> process_age(u64 pid);
// Makes the system end this process before others when memory runs out. Returns false if the system has no such choice.
bool be_first_to_go();

// Keeps all threads of a process stopped, including new ones. Linux releases them when this process ends, however it
// ends. Windows does not: there this class also releases them at Ctrl-C, when the console is closed, and when this
// process crashes; but not if another process ends this one (TerminateProcess). Must always be used from the same
// thread.
class StoppedProcess {
public:
  // Throws Error if that is not allowed, or takes more than a few seconds; throws Interrupted if `give_up` returns
  // true.
  StoppedProcess(u64 pid, bool (*give_up)(const void *), const void *context);
  ~StoppedProcess();
  StoppedProcess(const StoppedProcess &) = delete;
  StoppedProcess &operator=(const StoppedProcess &) = delete;

  struct Thread {
    u64 id = 0;     // as this process sees it
    int signal = 0; // signal that was about to arrive when the thread stopped; delivered when it goes on
    bool stopped = false;
    void *handle = nullptr; // Windows: of the thread
  };
  const std::vector<Thread> &threads() const { return threads_; }
  // Returns the general registers as the kernel stores them (NT_PRSTATUS' set; on Windows the CONTEXT, or that of a
  // 32-bit process); empty if not available.
  std::vector<std::byte> registers(const Thread &thread) const;
  // Releases all threads. Does nothing if that is done already.
  void release();
  // Returns the seconds from the first thread's stop until the release, or until now.
  double seconds() const;

private:
  using Clock = std::chrono::steady_clock;
  struct Patience {
    bool (*give_up)(const void *);
    const void *context;
    Clock::time_point last;
    // Throws Interrupted if the caller gives up, Error with that reason once the last time is over.
    void check(const std::string &too_late) const;
  };
  void stop_all(const Patience &patience);

  // Each system's own part.
  void begin_stop();        // before the first thread is stopped
  bool stop_thread(u64 id); // adds it to threads_; false if the thread has ended
  bool wait_for(Thread &thread);
  void wait_for_all(const Patience &patience); // until the threads that were asked to stop stand still
  [[noreturn]] void fail_without_threads() const;

  u64 pid_;
  std::vector<Thread> threads_;
  Clock::time_point since_;
  std::optional<Clock::time_point> until_;
};

} // namespace dnheap
