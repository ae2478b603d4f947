// FindingRule: knows one way in which things gather in a process, or wait. A new rule is one file here, one row in
// find_findings.cc, and two programs in the tests: one in which the rule applies, and one in which it nearly does. A
// rule looks at objects only if the tally of types shows enough of them. Functions may throw Error and Interrupted. Not
// for several threads at once.
#pragma once
#include "analysis/findings/finding.h"
#include "analysis/native/native_owners.h"
#include "analysis/process/account_map.h"
#include "analysis/suspects/suspects.h"
#include "analysis/threads/async_calls.h"
#include "analysis/threads/thread_places.h"
#include "analysis/verb.h"
#include "analysis/verdict/verdict.h"
#include "snapshot/snapshot.h"
#include "snapshot/source_lines.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace dnheap {

struct Evidence {
  const Snapshot &snapshot;
  const Suspects &suspects;
  const AccountMap &map;
  const std::optional<NativeOwners> &native; // absent: malloc has little
  const VerdictFacts &facts;
  SourceLines &lines;
  std::span<const CallGroup> calls; // pending; empty, too, if there are too many
  std::span<const ThreadGroup> threads;
};

struct FindingRule {
  // As the report lists what was looked at: "timers". Empty: often it cannot be looked at, or it is too rare to be
  // listed.
  const char *looks_at;
  void (*find)(const Evidence &evidence, std::vector<Finding> &out);
  Words kinds; // of its findings
};

// Names the holder of an object for people: the field that HoldingFields names. If the holder is the array of a
// collection: the last field on the path to it that the program declares, or the owner.
std::string holder_in_words(const Snapshot &snapshot, const std::string &held_by, Address object);

void find_kept_scopes(const Evidence &evidence, std::vector<Finding> &out);
void find_kept_requests(const Evidence &evidence, std::vector<Finding> &out);
void find_waiting_requests(const Evidence &evidence, std::vector<Finding> &out);
void find_kept_timers(const Evidence &evidence, std::vector<Finding> &out);
void find_kept_handlers(const Evidence &evidence, std::vector<Finding> &out);
void find_kept_clients(const Evidence &evidence, std::vector<Finding> &out);
void find_kept_registrations(const Evidence &evidence, std::vector<Finding> &out);
void find_failed_calls(const Evidence &evidence, std::vector<Finding> &out);
void find_failed_readers(const Evidence &evidence, std::vector<Finding> &out);
void find_kept_values(const Evidence &evidence, std::vector<Finding> &out);
void find_kept_entries(const Evidence &evidence, std::vector<Finding> &out);
void find_kept_queries(const Evidence &evidence, std::vector<Finding> &out);
void find_memory_limit(const Evidence &evidence, std::vector<Finding> &out);
void find_kept_blocks(const Evidence &evidence, std::vector<Finding> &out);
void find_kept_contexts(const Evidence &evidence, std::vector<Finding> &out);
void find_open_handles(const Evidence &evidence, std::vector<Finding> &out);
void find_many_emitted(const Evidence &evidence, std::vector<Finding> &out);
void find_thread_statics(const Evidence &evidence, std::vector<Finding> &out);
void find_generic_statics(const Evidence &evidence, std::vector<Finding> &out);
void find_interned_strings(const Evidence &evidence, std::vector<Finding> &out);
void find_unlimited_caches(const Evidence &evidence, std::vector<Finding> &out);
void find_long_chains(const Evidence &evidence, std::vector<Finding> &out);
void find_many_exceptions(const Evidence &evidence, std::vector<Finding> &out);
void find_gc_time(const Evidence &evidence, std::vector<Finding> &out);
void find_unidentified_memory(const Evidence &evidence, std::vector<Finding> &out);
void find_dead_references(const Evidence &evidence, std::vector<Finding> &out);
void find_gc_handles(const Evidence &evidence, std::vector<Finding> &out);
void find_waiting_continuations(const Evidence &evidence, std::vector<Finding> &out);
void find_unbounded_queues(const Evidence &evidence, std::vector<Finding> &out);
void find_nested_scopes(const Evidence &evidence, std::vector<Finding> &out);
void find_kept_subscriptions(const Evidence &evidence, std::vector<Finding> &out);
void find_stacked_queries(const Evidence &evidence, std::vector<Finding> &out);
void find_ended_thread_values(const Evidence &evidence, std::vector<Finding> &out);

} // namespace dnheap
