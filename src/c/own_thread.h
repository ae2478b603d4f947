// OwnThread: the thread that does all the work of one snapshot, so that calls may come from any thread: they wait in
// turn. It is needed because only the thread that stopped a process (ptrace) can release it, and because a caller's
// stack may be small. A call costs 10 to 50 µs. Any thread may call except this one itself; nobody may after fork(),
// which copies no threads.
#pragma once
#include <atomic>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <unistd.h>

namespace dnheap::c {

class OwnThread {
public:
  OwnThread();
  ~OwnThread(); // not after fork(), where it would wait for ever
  OwnThread(const OwnThread &) = delete;

  // Runs `work` on the thread and returns when it is done; rethrows its exception. Calls `meanwhile` on the caller's
  // thread, ten times a second. Throws UsageError if `meanwhile` itself calls run(), or if this process is not the one
  // that made the thread.
  void run(const std::function<void()> &work, const std::function<void()> &meanwhile);
  bool is_of_this_process() const { return process_ == ::getpid(); }

private:
  void serve();

  const pid_t process_ = ::getpid();
  std::mutex turn_;                       // held by the thread whose turn it is
  std::atomic<std::thread::id> caller_{}; // the thread that holds turn_
  std::mutex mutex_;                      // guards the members below
  std::condition_variable changed_;
  const std::function<void()> *work_ = nullptr;
  std::exception_ptr error_;
  bool ends_ = false;
  std::thread thread_;
};

} // namespace dnheap::c
