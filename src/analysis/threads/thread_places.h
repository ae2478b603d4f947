// ThreadPlaces: where threads stand, in words for the verdict: in which way most of them do, and where the one stands
// that runs finalizers. Fed with each thread's stack once; keeps a count per place. One thread.
#pragma once
#include "analysis/names/framework_names.h"
#include "analysis/threads/thread_text.h"
#include "snapshot/snapshot.h"

#include <map>
#include <string>

namespace dnheap {

class ThreadPlaces {
public:
  explicit ThreadPlaces(Snapshot &snapshot) : runtime_(snapshot.runtime()), framework_(snapshot.assemblies()) {}

  void add(const WalkedStack &stack, const WaitText &wait);
  // "700 of them sleep, in Shop.Poller.Run": of the largest group, and the program's method that most of it stands in.
  // Empty: no two stand alike.
  std::string most() const;
  // "waits for an event in Shop.Handle.Finalize"; empty: none runs a finalizer.
  const std::string &finalizer() const { return finalizer_; }

private:
  std::string method_behind(const WalkedStack &stack, const WaitText &wait) const;

  const Runtime &runtime_;
  const FrameworkNames framework_;
  std::map<std::string, std::map<std::string, u64>> counts_; // by wait and method
  std::string finalizer_;
};

} // namespace dnheap
