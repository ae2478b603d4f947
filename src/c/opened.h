// Opened: the object behind a dnheap_snapshot: a Snapshot with its Progress and its own thread, shared by the rows read
// from it, so that these can be closed later. Any thread; see own_thread.h.
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
  // In a child after fork() the object is never destroyed: threads and stopped processes belong to the parent.
  static std::shared_ptr<Opened> make(dnheap_on_progress on_progress, void *context);
  ~Opened();

  // Runs `work` on the thread of this object, and calls on_progress meanwhile.
  void run(const std::function<void()> &work);
  Progress &progress() { return progress_; }

  std::optional<Snapshot> snapshot; // used on its own thread alone
  std::string target;               // the target's name on a command line
  TargetInfo info;

private:
  Opened(dnheap_on_progress on_progress, void *context) : on_progress_(on_progress), context_(context) {}

  const dnheap_on_progress on_progress_;
  void *const context_;
  Progress progress_;
  OwnThread thread_;
};

} // namespace dnheap::c

// Every function copies `opened` while it works, so that on_progress may close the snapshot.
struct dnheap_snapshot {
  std::shared_ptr<dnheap::c::Opened> opened;
};
