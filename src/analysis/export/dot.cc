// dot: the objects around one object, for Graphviz: those that refer to it and those that it refers to, step by step,
// the nearest first. Takes the graph of the whole heap, to find the referrers of objects.
#include "analysis/export/exporter.h"
#include "analysis/export/file_text.h"
#include "analysis/objects/object_view.h"
#include "base/text.h"
#include "objects/object_graph.h"
#include "report/encoding.h"

#include <algorithm>
#include <fmt/format.h>
#include <unordered_map>

namespace dnheap {

namespace {

constexpr u64 usual_depth = 2, usual_limit = 100;

// Returns a quoted text of the DOT language; control characters, and those that change the direction of writing, become
// '?'.
std::string dot_text(std::string_view text) {
  std::string shown, out = "\"";
  report::append_printable(shown, shortened(text, 300));
  for (char c : shown)
    (out += c == '"' || c == '\\' ? "\\" : "") += c;
  return out + "\"";
}

struct Neighbourhood {
  std::vector<ObjectId> objects;      // in the order in which they were found
  std::unordered_map<u32, u64> steps; // distance of each object
  bool is_cut = false;
};

Neighbourhood around(const Snapshot &snapshot, ObjectId centre, u64 depth, u64 limit) {
  const Edges references = snapshot.graph().edges();
  const Referrers turned(references, snapshot.threads(), snapshot.watch());
  const Edges referrers = turned.edges();
  Neighbourhood out{{centre}, {{static_cast<u32>(centre), 0}}, false};
  for (u64 at = 0; at < out.objects.size(); ++at) {
    const ObjectId here = out.objects[at];
    const u64 step = out.steps[static_cast<u32>(here)];
    if (step == depth)
      break;
    for (const Edges *edges : {&referrers, &references})
      for (ObjectId other : edges->of(here)) {
        if (out.steps.contains(static_cast<u32>(other)))
          continue;
        if (out.objects.size() == limit) {
          out.is_cut = true;
          break;
        }
        out.steps.emplace(static_cast<u32>(other), step + 1);
        out.objects.push_back(other);
      }
  }
  return out;
}

// Appends the fields by which one object refers to other shown objects; each target once.
u64 append_edges(FileText &out, ObjectView &view, const Snapshot &snapshot, ObjectId from, const Neighbourhood &among) {
  constexpr u64 most_names = 5;
  std::vector<std::pair<ObjectId, std::vector<std::string>>> edges;
  std::unordered_map<u32, u64> place, count;
  view.for_each_reference(from, [&](const ObjectView::Reference &reference) {
    snapshot.watch().check();
    const ObjectId to = snapshot.index().find(reference.target);
    if (to == no_object || !among.steps.contains(static_cast<u32>(to)))
      return true;
    auto [at, is_new] = place.try_emplace(static_cast<u32>(to), edges.size());
    if (is_new)
      edges.push_back({to, {}});
    if (count[static_cast<u32>(to)]++ < most_names)
      edges[at->second].second.push_back(view.field(from, reference, ObjectView::Indices::told));
    return true;
  });
  for (const auto &[to, names] : edges) {
    std::string label;
    for (const std::string &name : names)
      label += (label.empty() ? "" : ", ") + (name.starts_with('.') ? name.substr(1) : name);
    if (const u64 all = count[static_cast<u32>(to)]; all > names.size())
      label += ", … " + count_text(all) + " in all";
    out.text +=
        fmt::format("  n{} -> n{} [label={}];\n", static_cast<u32>(from), static_cast<u32>(to), dot_text(label));
    out.flush_if_large();
  }
  return edges.size();
}

} // namespace

Exported export_dot(const ExportJob &job, NewFile &file) {
  const Snapshot &snapshot = job.snapshot;
  ObjectView view(snapshot);
  std::string note;
  const ObjectId centre = view.at(job.question.around->value(), note);
  const Neighbourhood found =
      around(snapshot, centre, job.question.depth.value_or(usual_depth), job.question.limit.value_or(usual_limit));

  Exported out;
  out.bytes = out.references = out.roots = 0;
  FileText text(file);
  text.text = "digraph dnheap {\n  rankdir=LR;\n  node [shape=box, fontname=\"sans-serif\"];\n";
  for (ObjectId object : found.objects) {
    std::string label = dot_text(view.type_name(object)); // details about the object go below the name
    label.insert(label.size() - 1,
                 fmt::format("\\n{:#x}\\n{}", view.address(object), bytes_text(view.aligned_size(object))));
    text.text += fmt::format("  n{} [label={}{}];\n", static_cast<u32>(object), label,
                             object == centre ? ", style=filled, fillcolor=gold" : "");
    *out.bytes += view.aligned_size(object);
    text.flush_if_large();
  }
  const RootSet &roots = snapshot.roots();
  const RootOwners &owners = snapshot.owners();
  std::vector<std::pair<u32, u32>> holds; // owner, object
  for (u64 i = 0; i < roots.roots.size(); ++i)
    if (const ObjectId object = snapshot.index().find(roots.roots[i].object);
        object != no_object && found.steps.contains(static_cast<u32>(object)))
      holds.emplace_back(owners.owner_of[i], static_cast<u32>(object));
  std::sort(holds.begin(), holds.end());
  holds.erase(std::unique(holds.begin(), holds.end()), holds.end());
  for (u64 i = 0; i < holds.size(); ++i) {
    if (i == 0 || holds[i - 1].first != holds[i].first)
      text.text += fmt::format("  r{} [shape=ellipse, label={}];\n", holds[i].first,
                               dot_text(owners.owners[holds[i].first].name));
    text.text += fmt::format("  r{} -> n{};\n", holds[i].first, holds[i].second);
    text.flush_if_large();
  }
  for (ObjectId object : found.objects)
    *out.references += append_edges(text, view, snapshot, object, found);
  text.text += "}\n";
  text.flush();

  out.objects = found.objects.size();
  out.roots = holds.size();
  if (!note.empty())
    out.notes.add(note);
  if (found.is_cut)
    out.notes.add("the file has only the nearest " + count_text(found.objects.size()) +
                  " objects; a larger --limit adds more");
  return out;
}

} // namespace dnheap
