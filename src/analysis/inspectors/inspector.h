// Inspector: one that knows what some types of libraries mean, and says what a heap has of them: as one row of a table.
// `dnheap inspect NAME` asks one; a new one is one file and one row in inspectors.cc. Types are known by the name of a
// base type and by their fields; what is called so but has other fields is told in a note, never guessed at. An
// InspectFunction adds its table, named like the inspector, and notes; it may throw Error and Interrupted. One thread.
#pragma once
#include "analysis/question.h"
#include "analysis/verb.h"

#include <string_view>

namespace dnheap {

using InspectFunction = void (*)(Snapshot &snapshot, const Question &question, report::Answer &answer);

struct Inspector {
  const char *name = "";
  const char *question = "";
  Words types = {};          // that it knows, as C# writes them
  const char *own = nullptr; // a pass of its own, by the name that Progress has of it; null: it walks the heap
  bool names_holders = true; // asks by which field objects are held, and what is alive
  bool finds_paths = false;  // perhaps asks by what way objects are kept alive
  InspectFunction inspect = nullptr;
};

// In the order in which they are listed.
std::span<const Inspector> inspectors();
// Null: none is called so.
const Inspector *find_inspector(std::string_view name);
// Their names, and `list` behind them, for verbs.cc.
Words inspector_words();

void inspect_timers(Snapshot &snapshot, const Question &question, report::Answer &answer);
void inspect_events(Snapshot &snapshot, const Question &question, report::Answer &answer);
void inspect_collections(Snapshot &snapshot, const Question &question, report::Answer &answer);
void inspect_pools(Snapshot &snapshot, const Question &question, report::Answer &answer);
void inspect_contexts(Snapshot &snapshot, const Question &question, report::Answer &answer);
void inspect_finalizers(Snapshot &snapshot, const Question &question, report::Answer &answer);
void inspect_http(Snapshot &snapshot, const Question &question, report::Answer &answer);
void inspect_db(Snapshot &snapshot, const Question &question, report::Answer &answer);
void inspect_sockets(Snapshot &snapshot, const Question &question, report::Answer &answer);
void inspect_safe_handles(Snapshot &snapshot, const Question &question, report::Answer &answer);
void inspect_caches(Snapshot &snapshot, const Question &question, report::Answer &answer);
void inspect_di(Snapshot &snapshot, const Question &question, report::Answer &answer);
void inspect_requests(Snapshot &snapshot, const Question &question, report::Answer &answer);
void inspect_regex(Snapshot &snapshot, const Question &question, report::Answer &answer);
void inspect_ef(Snapshot &snapshot, const Question &question, report::Answer &answer);

} // namespace dnheap
