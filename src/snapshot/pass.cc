#include "snapshot/pass.h"

#include <algorithm>
#include <array>

namespace dnheap {

namespace {

struct PassRow {
  Pass pass;
  Passes rests_on;                       // passes that this one needs: all are in rows above
  std::array<std::string_view, 7> names; // unused ones are empty
};

constexpr PassRow rows[] = {
    {Pass::runtime, {}, {"runtime"}},
    {Pass::heap, Pass::runtime, {"segments"}},
    {Pass::index, Pass::heap, {"walk", "index"}},
    {Pass::tally, Pass::heap, {"walk"}},
    {Pass::roots, Pass::index, {"roots"}},
    {Pass::references, Pass::roots | Pass::tally, {}},
    {Pass::live, Pass::references, {"mark"}},
    {Pass::graph, Pass::references, {"edges"}},
    {Pass::owners, Pass::references, {}},
    {Pass::owned_roots, Pass::owners, {}},
    {Pass::dominators,
     Pass::graph | Pass::owned_roots,
     {"single references", "fanned out", "depth-first search", "cross edges", "dominators", "dominator tree",
      "retained sizes"}},
};
static_assert(std::size(rows) == pass_count);

} // namespace

Passes with_foundations(Passes passes) {
  for (auto row = std::rbegin(rows); row != std::rend(rows); ++row)
    if (passes.has(row->pass))
      passes |= row->rests_on;
  return passes;
}

std::vector<std::string_view> names_of(Passes passes) {
  passes = with_foundations(passes);
  std::vector<std::string_view> out;
  for (const PassRow &row : rows)
    if (passes.has(row.pass) && !(row.pass == Pass::tally && passes.has(Pass::index)))
      out.insert(out.end(), row.names.begin(), std::find(row.names.begin(), row.names.end(), ""));
  return out;
}

} // namespace dnheap
