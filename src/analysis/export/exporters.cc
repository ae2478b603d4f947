#include "analysis/export/exporter.h"
#include "analysis/owners/ranked_tree.h"
#include "objects/references.h"
#include "runtime/string_object.h"

#include <algorithm>

namespace dnheap {

namespace {

void plan_flame_graph(Plan &plan) {
  foresee_ranked(plan);
  plan.then("frames");
}

constexpr Exporter all_exporters[] = {
    {.name = "ndjson",
     .holds = "all objects, with their references, types and roots, one JSON object per line",
     .opened_by = "jq, DuckDB, any script",
     .takes_values = true,
     .plan = [](Plan &plan) { plan.then(Pass::owners).then("mark").then("objects"); },
     .write = export_ndjson},
    {.name = "heapsnapshot",
     .holds = "all objects, with their references, types and roots",
     .opened_by = "Chrome, Edge, VS Code",
     .takes_values = true,
     .plan =
         [](Plan &plan) {
           plan.then(Pass::owners).then("mark");
           for (const char *pass : {"count references", "nodes", "edges of objects"})
             plan.then(pass);
           plan.perhaps("edges of garbage").perhaps("strings");
         },
     .write = export_heapsnapshot},
    {.name = "gcdump",
     .holds = "all objects, with their references, types and roots",
     .opened_by = "PerfView, Visual Studio, dotnet-gcdump report",
     .plan =
         [](Plan &plan) {
           plan.then(Pass::owners).then("mark");
           for (const char *pass : {"count references", "places", "nodes", "addresses"})
             plan.then(pass);
         },
     .write = export_gcdump},
    {.name = "sqlite",
     .holds = "the tables of query, with indexes and views",
     .opened_by = "sqlite3, Datasette, every language",
     .takes_values = true,
     .plan =
         [](Plan &plan) {
           plan.then("mark");
           foresee_ranked(plan);
           plan.then("tables");
         },
     .write = export_sqlite},
    {.name = "speedscope",
     .holds = "the live bytes by owner, as a flame graph",
     .opened_by = "speedscope",
     .plan = plan_flame_graph,
     .write = export_speedscope},
    {.name = "pprof",
     .holds = "the live bytes by owner, as a flame graph",
     .opened_by = "pprof, Grafana, speedscope",
     .plan = plan_flame_graph,
     .write = export_pprof},
    {.name = "dot",
     .holds = "the objects around one object",
     .opened_by = "Graphviz: dot -Tsvg",
     .is_neighbourhood = true,
     .plan = [](Plan &plan) { plan.then(Pass::owners | Pass::graph).then("referrers"); },
     .write = export_dot},
};

} // namespace

std::span<const Exporter> exporters() { return all_exporters; }

std::vector<std::string> exported_type_names(const Snapshot &snapshot) {
  const HeapTypes &types = snapshot.references().types();
  std::vector<std::string> out;
  for (u32 i = 0; i < types.size(); ++i)
    out.push_back(snapshot.runtime().types().name(types[TypeId{i}].method_table));
  out.push_back("(unknown)");
  return out;
}

std::optional<TypeId> string_type(const std::vector<std::string> &names) {
  const auto at = std::find(names.begin(), names.end(), "System.String");
  return at == names.end() ? std::nullopt : std::optional(TypeId(static_cast<u32>(at - names.begin())));
}

std::string exported_text(const Runtime &runtime, Address string) {
  std::optional<StringText> text = string_text(runtime, string, most_exported_characters);
  if (!text)
    return {};
  return text->is_cut ? std::move(text->text) + "…" : std::move(text->text);
}

} // namespace dnheap
