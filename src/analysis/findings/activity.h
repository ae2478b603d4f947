// Activity: a group of threads, pending asynchronous calls or requests in flight, by the program's own method where
// they stand, the largest groups first; then calls that failed while nobody looked at their exceptions. It is evidence,
// and says nothing about harm. Reads requests and failures only if the tally shows .NET's objects for them. Not for
// several threads at once.
#pragma once
#include "analysis/threads/standing.h"
#include "snapshot/snapshot.h"
#include "snapshot/source_lines.h"

#include <string>
#include <vector>

namespace dnheap {

struct Activity {
  enum class Who : u8 { threads, calls, requests, failures };
  Who who = Who::threads;
  u64 count = 0;
  bool is_at_least = false; // there may be more
  std::string waits_for;    // in words: "a task", "sleep"; empty: they do not wait, or how they wait is unknown
  std::string method;       // of the program, in words; empty for requests
  // The method of .NET, or the native function, that the program's method calls; empty: none. Of failures: the type of
  // the exception.
  std::string calls;
  bool is_in_native = false;
  SourceLine at;

  // "20 threads"
  std::string figures() const;
  // "wait for data of a socket in Shop.LegacyClient.ReadReply (Legacy.cs:21)"
  std::string text() const;
};
const char *name_of(Activity::Who who); // "thread", "call", "request", "failure"

struct Activities {
  std::vector<Activity> list;
  u64 others = 0; // groups that are left out

  // Adds a group to the one that reads the same, or as a new one: what differs in nothing that is shown is one line.
  void add(Activity one);
};

// Returns at most `most` groups, and at most two of failures.
Activities find_activities(const Snapshot &snapshot, const Standing &standing, SourceLines &lines, u64 most);

} // namespace dnheap
