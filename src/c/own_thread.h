// OwnThread: the thread that does all the work of one snapshot, so that callers may come from any: they wait in turn. A
// process that is stopped (ptrace) can be let go by the thread that stopped it only, and a caller's stack may be small.
// A call costs 10 to 50 µs. Any thread may call; but not its own, and nobody after fork(), which copies no threads.
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
  ~OwnThread(); // not after fork(): it would wait for ever
  OwnThread(const OwnThread &) = delete;

  // Does `work` there and returns when it is done; throws what it throws. Calls `meanwhile` here, ten times a second,
  // until that throws: this goes to the caller, but when `work` is done, too.
  // Throws UsageError when `meanwhile` itself asks for more, or the process is not the one that it belongs to.
  void run(const std::function<void()> &work, const std::function<void()> &meanwhile);
  bool is_of_this_process() const { return process_ == ::getpid(); }

private:
  void serve();

  const pid_t process_ = ::getpid();
  std::mutex turn_;                       // whose it is
  std::atomic<std::thread::id> caller_{}; // who has it
  std::mutex mutex_;                      // of what follows
  std::condition_variable changed_;
  const std::function<void()> *work_ = nullptr;
  std::exception_ptr error_;
  bool ends_ = false;
  std::thread thread_;
};

} // namespace dnheap::c
