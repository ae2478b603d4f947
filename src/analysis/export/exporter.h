// Exporter: a file that another tool opens, as one row of a table: what `export --as NAME` writes. An ExportFunction
// streams: its memory does not depend on how many objects there are, unless its row says so. It may throw Error (the
// disk is full), UsageError, NotFound and Interrupted; then there is no file. One thread calls it; it uses more itself.
#pragma once
#include "analysis/plan.h"
#include "analysis/verb.h"
#include "base/host/host.h"
#include "objects/heap_types.h"
#include "snapshot/snapshot.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace dnheap {

// What went into the file. Absent: the format has none of that.
struct Exported {
  std::optional<u64> objects, bytes; // bytes: aligned ones, of these objects
  std::optional<u64> references, types, roots, unreachable, strings, frames;
  std::vector<std::string> notes; // what is lost, or cut, in this file
};

struct ExportJob {
  Snapshot &snapshot;
  const Question &question;
  const report::Completeness &completeness; // of walk and roots
};

using ExportFunction = Exported (*)(const ExportJob &job, NewFile &file);

struct Exporter {
  const char *name; // word of --as
  const char *holds;
  const char *opened_by;
  bool takes_values = false;          // strings' contents, where --values is given
  bool is_neighbourhood = false;      // takes --around, --depth and --limit
  void (*plan)(Plan &plan) = nullptr; // what it takes; of ObjectStream's passes, too
  ExportFunction write = nullptr;
};

// In the order of the words of --as (verbs.cc).
std::span<const Exporter> exporters();

Exported export_ndjson(const ExportJob &job, NewFile &file);
Exported export_heapsnapshot(const ExportJob &job, NewFile &file);
Exported export_gcdump(const ExportJob &job, NewFile &file);
Exported export_sqlite(const ExportJob &job, NewFile &file);
Exported export_speedscope(const ExportJob &job, NewFile &file);
Exported export_pprof(const ExportJob &job, NewFile &file);
Exported export_dot(const ExportJob &job, NewFile &file);

// By TypeId, and one more for objects of no known type. One thread.
std::vector<std::string> exported_type_names(Snapshot &snapshot);
// The number of System.String; none: it has no objects.
std::optional<TypeId> string_type(const std::vector<std::string> &names);
// A string's contents, cut where it is longer than most_exported_characters. Any thread.
std::string exported_text(const Runtime &runtime, Address string);

// Characters of a string that a file takes at most; the rest is cut with "…".
inline constexpr u64 most_exported_characters = 65536;

} // namespace dnheap
