// Inspector: knows the meaning of some libraries' types, and shows their objects on the heap. Each inspector is one row
// of a table. `dnheap inspect NAME` runs one; a new one is one file and one row in inspectors.cc. Types are recognized
// by the name of a base type and by their fields; a type with a known name but other fields is reported in a note,
// never guessed at. An InspectFunction adds its table, named like the inspector, and notes; it may throw Error and
// Interrupted. Not for several threads at once.
#pragma once
#include "analysis/question.h"
#include "analysis/verb.h"

#include <string_view>

namespace dnheap {

using InspectFunction = void (*)(const Snapshot &snapshot, const Question &question, report::Answer &answer);

struct Inspector {
  const char *name = "";
  const char *question = "";
  Words types = {};          // types that it knows, as C# writes them
  const char *own = nullptr; // name of its own pass, as Progress shows it; null: it walks the heap
  bool names_holders = true; // finds out which fields hold the objects, and which objects are alive
  bool finds_paths = false;  // may look for the paths that keep objects alive
  InspectFunction inspect = nullptr;
};

// Returns the inspectors in the order in which they are listed.
std::span<const Inspector> inspectors();
// Returns null if there is none with that name.
const Inspector *find_inspector(std::string_view name);
// Returns their names, followed by `list`, for verbs.cc.
Words inspector_words();

void inspect_timers(const Snapshot &snapshot, const Question &question, report::Answer &answer);
void inspect_events(const Snapshot &snapshot, const Question &question, report::Answer &answer);
void inspect_collections(const Snapshot &snapshot, const Question &question, report::Answer &answer);
void inspect_pools(const Snapshot &snapshot, const Question &question, report::Answer &answer);
void inspect_contexts(const Snapshot &snapshot, const Question &question, report::Answer &answer);
void inspect_finalizers(const Snapshot &snapshot, const Question &question, report::Answer &answer);
void inspect_http(const Snapshot &snapshot, const Question &question, report::Answer &answer);
void inspect_db(const Snapshot &snapshot, const Question &question, report::Answer &answer);
void inspect_sockets(const Snapshot &snapshot, const Question &question, report::Answer &answer);
void inspect_safe_handles(const Snapshot &snapshot, const Question &question, report::Answer &answer);
void inspect_caches(const Snapshot &snapshot, const Question &question, report::Answer &answer);
void inspect_di(const Snapshot &snapshot, const Question &question, report::Answer &answer);
void inspect_requests(const Snapshot &snapshot, const Question &question, report::Answer &answer);
void inspect_regex(const Snapshot &snapshot, const Question &question, report::Answer &answer);
void inspect_async_locals(const Snapshot &snapshot, const Question &question, report::Answer &answer);
void inspect_ef(const Snapshot &snapshot, const Question &question, report::Answer &answer);

} // namespace dnheap
