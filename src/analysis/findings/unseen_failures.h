// UnseenFailures: exceptions of failed tasks that nobody has looked at, by their type and by the program's method in
// which each was thrown. Whoever waits for what such a call was to do may wait for ever. The sources are the tasks' own
// records of exceptions, garbage included: where nobody keeps a task, only garbage has its exception. One walk of the
// heap, if there are such records. Not for several threads at once.
#pragma once
#include "snapshot/snapshot.h"

#include <set>
#include <string>
#include <vector>

namespace dnheap {

struct UnseenFailure {
  Address exception = 0; // the first of them
  u64 count = 0;
  bool is_at_least = false; // not all failures were looked at: more may be alike
  std::string type;         // of the exception
  std::string method; // of the program, in words: the innermost that the first exception passed through; empty: unknown
  std::string thrown_in;                      // the class of that method
  std::set<std::string, std::less<>> classes; // of the program, whose methods the first exception passed through

  // Returns "the same class", for that in which it was thrown, or "a class that called it".
  const char *words_for(std::string_view one_of_classes) const {
    return one_of_classes == thrown_in ? "the same class" : "a class that called it";
  }
};

// Describes one exception.
UnseenFailure describe_failure(const Snapshot &snapshot, Address exception);
// Returns the failures, most frequent first.
std::vector<UnseenFailure> find_unseen_failures(const Snapshot &snapshot);

} // namespace dnheap
