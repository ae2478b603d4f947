// ChildProcess: a child of the test program with threads that work and count what they did, to be stopped and looked
// at. Gone when this object is.
#pragma once
#include "base/integers.h"

#include <cstddef>

namespace dnheap {

class ChildProcess {
public:
  enum Kind { counts, starts_threads };
  static constexpr u64 page = 4096;

  // `threads` beside the main one.
  explicit ChildProcess(unsigned threads, Kind kind = counts);
  ~ChildProcess();
  ChildProcess(const ChildProcess &) = delete;
  ChildProcess &operator=(const ChildProcess &) = delete;

  u64 pid() const { return pid_; }
  u64 work() const;     // counted by all threads
  u64 signals() const;  // that were handled
  bool goes_on() const; // does every thread work? Waits for that a few seconds.
  void send_signal();   // of a kind that queues

  // Two pages of a pattern, then one that may not be read, and one of the pattern again.
  Address pattern() const;
  static std::byte pattern_at(u64 offset) { return static_cast<std::byte>(offset * 7 + offset / 256); }

private:
  struct Shared;
  Shared *shared_;
  u64 pid_ = 0;
  unsigned threads_;
};

} // namespace dnheap
