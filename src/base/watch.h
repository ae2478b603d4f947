// Watch: how a pass reports to its caller: progress (Progress) and, when it is over, its duration (PassTimes). Both are
// owned by the embedder and passed down by pointer inside Watch; null members cost nothing. Progress may be read, and
// cancel set, from any thread or signal handler; PassTimes belongs to the thread that drives the passes.
#pragma once
#include "base/error.h"
#include "base/integers.h"

#include <atomic>
#include <chrono>
#include <string>
#include <vector>

namespace dnheap {

struct Progress {
  std::atomic<const char *> pass{nullptr}; // a string literal: the name of the pass
  std::atomic<u64> done{0}, total{0};      // in bytes of the pass
  std::atomic<u64> objects{0};             // objects seen so far, where the pass sees objects
  std::atomic<bool> cancel{false};         // set by the embedder; passes then throw Interrupted
};

struct PassTime {
  std::string name;
  double seconds = 0;
  u64 bytes = 0; // read by the pass; 0 if not meaningful
};

struct Watch {
  Progress *progress = nullptr;
  std::vector<PassTime> *times = nullptr;

  void check() const {
    if (progress && progress->cancel.load(std::memory_order_relaxed))
      throw Interrupted();
  }
};

// Declared at the top of a pass: `Timer timer(watch, "walk");`. The constructor adds the pass to the times; the
// destructor only sets its duration and allocates nothing, since memory may have run out.
class Timer {
public:
  Timer(const Watch &watch, const char *name, u64 total_bytes = 0) : watch_(watch) {
    if (watch.times) {
      place_ = watch.times->size();
      watch.times->push_back({name, 0, total_bytes});
    }
    if (Progress *p = watch.progress) {
      p->done = 0;
      p->total = total_bytes;
      p->objects = 0;
      p->pass = name;
    }
  }
  ~Timer() {
    if (watch_.progress)
      watch_.progress->pass = nullptr;
    if (watch_.times)
      (*watch_.times)[place_].seconds = std::chrono::duration<double>(Clock::now() - start_).count();
  }
  Timer(const Timer &) = delete;
  Timer &operator=(const Timer &) = delete;

  void bytes(u64 n) {
    if (watch_.times)
      (*watch_.times)[place_].bytes = n;
  }

private:
  using Clock = std::chrono::steady_clock;
  const Watch watch_;
  u64 place_ = 0; // among the times
  Clock::time_point start_ = Clock::now();
};

} // namespace dnheap
