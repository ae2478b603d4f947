// ndjson: one JSON object per line: the dump, its types, its roots, its objects with their references, an end.
// doc/files.md describes each line.
#include "analysis/export/exporter.h"
#include "analysis/export/held_roots.h"
#include "analysis/export/object_stream.h"
#include "base/text.h"
#include "report/encoding.h"

#include <atomic>
#include <fmt/format.h>

namespace dnheap {

namespace {

void append_address(std::string &out, Address address) {
  fmt::format_to(std::back_inserter(out), "\"{:#x}\"", address);
}

void append_head(std::string &out, const ExportJob &job, u64 types) {
  const report::Completeness &walk = job.completeness;
  fmt::format_to(std::back_inserter(out),
                 R"({{"line":"dump","format":"dnheap-ndjson/1","objects":{},"types":{},"complete":{},"gaps":[)",
                 job.snapshot.index().count(), types, walk.complete());
  for (const auto &gap : walk.gaps) {
    out += &gap == &walk.gaps.front() ? "{\"start\":" : ",{\"start\":";
    append_address(out, gap.start);
    out += ",\"end\":";
    append_address(out, gap.end);
    out += ",\"reason\":";
    report::append_json_text(out, gap.reason);
    out += '}';
  }
  out += "]}\n";
}

void append_types(FileText &out, const Snapshot &snapshot, const std::vector<std::string> &names) {
  const HeapTypes &types = snapshot.references().types();
  for (u32 i = 0; i < names.size(); ++i) {
    fmt::format_to(std::back_inserter(out.text), R"({{"line":"type","id":{},"name":)", i);
    report::append_json_text(out.text, names[i]);
    if (i < types.size()) {
      out.text += ",\"method_table\":";
      append_address(out.text, types[TypeId{i}].method_table);
      out.text += ",\"assembly\":";
      report::append_json_text(out.text, snapshot.runtime().types().assembly(types[TypeId{i}].method_table));
    }
    out.text += "}\n";
    out.flush_if_large();
  }
}

void append_roots(FileText &out, const Snapshot &snapshot, const HeldRoots &roots) {
  for (const HeldRoots::Kind &kind : roots.kinds())
    for (const HeldRoots::Owner &owner : kind.owners)
      for (const HeldRoots::Held &held : owner.objects) {
        out.text += "{\"line\":\"root\",\"kind\":";
        report::append_json_text(out.text, name_of(owner.kind));
        out.text += ",\"owner\":";
        report::append_json_text(out.text, owner.name);
        out.text += ",\"object\":";
        append_address(out.text, snapshot.index().address(held.object));
        out.text += "}\n";
        out.flush_if_large();
      }
}

} // namespace

Exported export_ndjson(const ExportJob &job, NewFile &file) {
  const Snapshot &snapshot = job.snapshot;
  ObjectStream stream(snapshot);
  const HeldRoots roots(snapshot);
  const ReferenceNames names(snapshot);
  const std::vector<std::string> types = exported_type_names(snapshot);
  const std::optional<TypeId> strings = string_type(types);
  const bool values = job.question.values;

  FileText head(file);
  append_head(head.text, job, types.size());
  append_types(head, snapshot, types);
  append_roots(head, snapshot, roots);
  head.flush();

  std::atomic<u64> bytes{0}, references{0}, unreachable{0}, told{0};
  stream.write(file, "objects", [&](FileText &out, const ObjectStream::Item &item, u64) {
    const u64 type = item.object.type ? static_cast<u32>(item.object.id) : types.size() - 1;
    out.text += "{\"line\":\"object\",\"address\":";
    append_address(out.text, item.address);
    fmt::format_to(std::back_inserter(out.text), R"(,"type":{},"bytes":{},"aligned_bytes":{},"generation":"{}")", type,
                   item.bytes, item.aligned_bytes, name_of(item.generation));
    const bool is_unreachable = roots.is_unreachable(item.address);
    if (is_unreachable)
      out.text += ",\"reached\":false";
    if (values && item.object.type && item.object.id == strings) {
      out.text += ",\"value\":";
      report::append_json_text(out.text, exported_text(snapshot.runtime(), item.address));
      told.fetch_add(1, std::memory_order_relaxed);
    }
    u64 count = 0;
    stream.for_each_reference(item, [&](const ObjectStream::Reference &reference) {
      out.text += count++ ? ",{\"field\":" : ",\"references\":[{\"field\":";
      std::string name;
      names.append(name, ObjectStream::name(names, item, reference));
      report::append_json_text(out.text, name);
      out.text += ",\"to\":";
      append_address(out.text, snapshot.index().address(reference.target));
      out.text += '}';
      out.flush_if_large();
    });
    out.text += count ? "]}\n" : ",\"references\":[]}\n";
    bytes.fetch_add(item.aligned_bytes, std::memory_order_relaxed);
    references.fetch_add(count, std::memory_order_relaxed);
    unreachable.fetch_add(is_unreachable, std::memory_order_relaxed);
  });
  FileText end(file);
  end.text = fmt::format("{{\"line\":\"end\",\"objects\":{},\"aligned_bytes\":{},\"references\":{},\"roots\":{}}}\n",
                         snapshot.index().count(), bytes.load(), references.load(), roots.roots());
  end.flush();

  Exported out;
  out.objects = snapshot.index().count();
  out.bytes = bytes;
  out.references = references;
  out.types = types.size() - 1;
  out.roots = roots.roots();
  out.unreachable = unreachable;
  if (values)
    out.strings = told;
  if (!roots.problem().empty())
    out.notes.add(roots.problem());
  return out;
}

} // namespace dnheap
