// Exporter: a kind of file for another tool, as one row of a table: what `export --as NAME` writes. An ExportFunction
// streams: its memory does not depend on the number of objects, unless its row says so. It may throw Error (for
// example: the disk is full), UsageError, NotFound and Interrupted; no file is left in that case. One thread calls it;
// it starts further threads itself.
#pragma once
#include "analysis/plan.h"
#include "analysis/verb.h"
#include "base/host/host.h"
#include "base/notes.h"
#include "objects/heap_types.h"
#include "snapshot/snapshot.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace dnheap {

// Figures of the file's contents. A figure is absent if the format does not have it.
struct Exported {
  std::optional<u64> objects, bytes; // bytes: aligned, of these objects
  std::optional<u64> references, types, roots, unreachable, strings, frames;
  Notes notes; // what is missing, or cut, in this file
};

struct ExportJob {
  const Snapshot &snapshot;
  const Question &question;
  const report::Completeness &completeness; // of walk and roots
};

using ExportFunction = Exported (*)(const ExportJob &job, NewFile &file);

struct Exporter {
  const char *name; // word of --as
  const char *holds;
  const char *opened_by;
  bool takes_values = false;          // writes the contents of strings if --values is given
  bool is_neighbourhood = false;      // takes --around, --depth and --limit
  void (*plan)(Plan &plan) = nullptr; // the passes that it needs, including ObjectStream's
  ExportFunction write = nullptr;
};

// Returns the exporters in the order of the words of --as (verbs.cc).
std::span<const Exporter> exporters();

Exported export_ndjson(const ExportJob &job, NewFile &file);
Exported export_heapsnapshot(const ExportJob &job, NewFile &file);
Exported export_gcdump(const ExportJob &job, NewFile &file);
Exported export_sqlite(const ExportJob &job, NewFile &file);
Exported export_speedscope(const ExportJob &job, NewFile &file);
Exported export_pprof(const ExportJob &job, NewFile &file);
Exported export_dot(const ExportJob &job, NewFile &file);

// Returns the types' names by TypeId, and one more for objects of unknown type. Not for several threads at once.
std::vector<std::string> exported_type_names(const Snapshot &snapshot);
// Returns the TypeId of System.String; nullopt if the heap has no strings.
std::optional<TypeId> string_type(const std::vector<std::string> &names);
// Returns a string's contents, cut after most_exported_characters. Any thread.
std::string exported_text(const Runtime &runtime, Address string);

// A file has at most this many characters of a string; "…" stands for the rest.
inline constexpr u64 most_exported_characters = 65536;

} // namespace dnheap
