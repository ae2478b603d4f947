#include "analysis/verbs/tables/gc_memory_table.h"

#include "analysis/shapes/unknown_shape.h"
#include "base/text.h"
#include "report/columns_of.h"

#include <fmt/format.h>

namespace dnheap {

namespace {

using report::Cell;

// `raw`: the number behind the text.
struct MemoryLine {
  const char *datum;
  std::string value;
  Cell raw;
  std::string meaning;
};

std::string collection_text(const GCMemoryInfo &info) {
  return fmt::format("gen{}, {}, {}", info.generation, info.is_concurrent ? "concurrent" : "blocking",
                     info.is_compacting ? "compacting" : "not compacting");
}

std::vector<MemoryLine> lines_of_limits(const GCMemoryInfo &info, const GCSettings &settings) {
  auto bytes = [](const char *datum, u64 size, std::string meaning) {
    return MemoryLine{datum, bytes_text(size), size, std::move(meaning)};
  };
  return {{"collection", info.collection ? std::to_string(info.collection) : "before the first", info.collection,
           "the figures below are as of this collection"},
          bytes("available", info.limit, "the GC may use so much: " + origin_of_limit(info, settings)),
          bytes("high_load", info.high_load, "from this load on, full collections are frequent, and compact")};
}

void add_lines_of_collection(const GCMemoryInfo &info, std::vector<MemoryLine> &to) {
  auto bytes = [&](const char *datum, u64 size, const char *meaning) {
    to.push_back({datum, bytes_text(size), size, meaning});
  };
  auto count = [&](const char *datum, u64 number, const char *meaning) {
    to.push_back({datum, count_text(number), number, meaning});
  };
  to.push_back({"kind", collection_text(info), info.generation, ""});
  bytes("load", info.load, "memory in use in the machine or container, by all processes");
  bytes("heap", info.heap, "objects and holes after the collection");
  bytes("fragmented", info.fragmented, "the holes among these");
  bytes("committed", info.committed, "by the GC, its empty regions included");
  bytes("promoted", info.promoted, "survived in the generations that were collected");
  count("pinned_objects", info.pinned_objects, "that this collection met");
  count("finalization_pending", info.finalization_pending, "objects whose finalizers were due");
  if (info.pause_ns)
    to.push_back({"pause", fmt::format("{:.2f} ms", static_cast<double>(*info.pause_ns) / 1e6), *info.pause_ns,
                  "how long the program stood still"});
  if (info.pause_share)
    to.push_back({"pause_share", fmt::format("{:.2f} %", static_cast<double>(*info.pause_share) / 100),
                  *info.pause_share, "of all time since the start, in pauses"});
}

} // namespace

ReportedMemory recent_reported_memory(const Snapshot &snapshot) {
  ReportedMemory out;
  try {
    out.found = find_recent_gc_memory_info(snapshot);
  } catch (const Interrupted &) {
    throw;
  } catch (const Error &e) {
    out.why_not = fmt::format("unknown: {}", e.what());
    return out;
  }
  if (!out.found.newest)
    out.why_not =
        fmt::format("unknown: no object in {}gen0 and gen1 is a result of GC.GetGCMemoryInfo(); dnheap report "
                    "looks at all objects",
                    out.found.is_everything ? "" : "512 MiB of ");
  return out;
}

report::Table gc_memory_table(const ReportedMemory &reported, const GCSettings &settings) {
  using L = MemoryLine;
  using report::Kind;
  using report::Shown;
  const std::optional<GCMemoryInfo> &info = reported.found.newest;
  std::vector<L> lines;
  if (info)
    lines = lines_of_limits(*info, settings);
  if (info && info->collection)
    add_lines_of_collection(*info, lines);
  if (info)
    lines.push_back({"object", hex(info->object), {}, "the result of GC.GetGCMemoryInfo() that has these figures"});
  report::Table table = report::ColumnsOf<L>{
      {{"datum", "Datum", Kind::text}, &L::datum},
      {{"value", "Value", Kind::text}, &L::value},
      {{"meaning", "Meaning", Kind::text, Shown::in_text, true}, &L::meaning},
      {{"raw", "", Kind::number, Shown::in_data},
       &L::raw}}.table("memory_info", "What the GC last reported about memory", lines);
  if (!reported.why_not.empty())
    table.notes.push_back(reported.why_not);
  else if (info)
    table.notes.push_back("there may have been later collections, of which nothing is known here");
  if (reported.found.unknown)
    table.notes.push_back(unknown_shape_note(reported.found.unknown, "System.GCMemoryInfoData", "it"));
  return table;
}

} // namespace dnheap
