#include "c/own_thread.h"

#include "dnheap/error.h"

#include <csignal>
#include <utility>

namespace dnheap::c {

namespace {

#ifdef _WIN32 // Windows has no signals that interrupt a thread
struct SignalsForOthers {
  ~SignalsForOthers() {}
};
#else
// Blocks signals: those of the host program are for its own threads, not for ours. Faults still go to the thread that
// causes them.
class SignalsForOthers {
public:
  SignalsForOthers() {
    sigset_t all;
    ::sigfillset(&all);
    for (int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT})
      ::sigdelset(&all, fault);
    ::pthread_sigmask(SIG_BLOCK, &all, &before_);
  }
  ~SignalsForOthers() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsForOthers(const SignalsForOthers &) = delete;

private:
  sigset_t before_;
};
#endif

} // namespace

OwnThread::OwnThread() {
  const SignalsForOthers blocked; // a new thread inherits its creator's mask
  thread_ = std::thread([this] { serve(); });
}

OwnThread::~OwnThread() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void OwnThread::run(const std::function<void()> &work, const std::function<void()> &meanwhile) {
  if (!is_of_this_process())
    throw UsageError("this was opened by another process, before fork(): open it anew here");
  if (caller_ == std::this_thread::get_id())
    throw UsageError("on_progress may not use the snapshot whose progress it gets");
  const std::lock_guard turn(turn_);
  caller_ = std::this_thread::get_id();
  std::unique_lock lock(mutex_);
  work_ = &work;
  changed_.notify_all();
  // Thrown by `meanwhile`; rethrown only after `work` ends, as `work` lies on the caller's stack.
  std::exception_ptr thrown;
  while (!changed_.wait_for(lock, std::chrono::milliseconds(100), [&] { return !work_; })) {
    if (thrown)
      continue;
    lock.unlock();
    try {
      meanwhile();
    } catch (...) {
      thrown = std::current_exception();
    }
    lock.lock();
  }
  caller_ = std::thread::id();
  const std::exception_ptr error = std::exchange(error_, nullptr);
  if (thrown)
    std::rethrow_exception(thrown);
  if (error)
    std::rethrow_exception(error);
}

void OwnThread::serve() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return work_ || ends_; });
    if (!work_)
      return;
    lock.unlock();
    std::exception_ptr error;
    try {
      (*work_)();
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    error_ = std::move(error);
    work_ = nullptr;
    changed_.notify_all();
  }
}

} // namespace dnheap::c
