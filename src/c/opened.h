// Opened: what a dnheap_snapshot stands for: a Snapshot with its Progress and its own thread, shared by the rows that
// are read from it, so that these can be closed later. Any thread; see own_thread.h.
#pragma once
#include "c/calls.h"
#include "c/own_thread.h"
#include "dnheap/snapshot.h"

#include <memory>
#include <optional>
#include <string>

namespace dnheap::c {

class Opened {
public:
  // After fork() the child never takes it apart: threads and stopped processes are its parent's.
  static std::shared_ptr<Opened> make(dnheap_on_progress on_progress, void *context);
  ~Opened();

  // Does it on the own thread, and tells the caller's on_progress meanwhile.
  void run(const std::function<void()> &work);
  Progress &progress() { return progress_; }

  std::optional<Snapshot> snapshot; // on the own thread alone
  std::string target;               // as a command line names it
  TargetInfo info;

private:
  Opened(dnheap_on_progress on_progress, void *context) : on_progress_(on_progress), context_(context) {}

  const dnheap_on_progress on_progress_;
  void *const context_;
  Progress progress_;
  OwnThread thread_;
};

} // namespace dnheap::c

// Copied by whoever is at work on it, so that on_progress may close it.
struct dnheap_snapshot {
  std::shared_ptr<dnheap::c::Opened> opened;
};
