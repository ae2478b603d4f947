#include "analysis/verbs/tables/views_table.h"

#include "analysis/findings/finding_rule.h"
#include "analysis/shapes/largest_first.h"
#include "base/text.h"
#include "objects/object_index.h"
#include "report/columns_of.h"

#include <map>

namespace dnheap {

namespace {

constexpr u64 most_asked = 4096; // views whose holder is looked for
constexpr const char *not_asked = "(not looked for)";

} // namespace

report::Table views_table(const Snapshot &snapshot, const std::vector<MappedView> &views, bool in_text) {
  using report::Cell;
  using report::Kind;
  using report::Shown;
  struct Sum {
    u64 bytes = 0, views = 0, stored = 0;
    Address example = 0;
  };
  std::map<std::pair<std::string, std::string>, Sum> sums; // by file and holder
  for (u64 i = 0; i < views.size(); ++i) {
    const MappedView &view = views[i];
    std::string holder = i >= most_asked ? not_asked : "";
    if (i < most_asked && snapshot.index().is_object(view.handle))
      holder = holder_in_words(snapshot, "[]", view.handle);
    Sum &sum = sums[{view.file, holder == "[]" ? "" : holder}];
    sum.bytes += view.bytes;
    sum.stored += view.stored;
    sum.example = sum.views++ ? sum.example : view.handle;
  }
  using S = std::pair<const std::pair<std::string, std::string>, Sum>;
  report::Table table = report::ColumnsOf<S>{
      {{"bytes", "Bytes", Kind::bytes}, [](const S &s) { return s.second.bytes; }},
      {{"dump_bytes", "In dump", Kind::bytes, Shown::in_data}, [](const S &s) { return s.second.stored; }},
      {{"views", "Views", Kind::count}, [](const S &s) { return s.second.views; }},
      {{"file", "File", Kind::text}, [](const S &s) { return report::text_cell(printable(s.first.first)); }},
      {{"example", "Example", Kind::address}, [](const S &s) { return s.second.example; }},
      {{"held_by", "Held by", Kind::text}, [](const S &s) {
         return s.first.second.empty() ? Cell("(nobody)") : Cell(s.first.second);
       }}}.table("views", "Views of memory-mapped files", largest_first(sums, &Sum::bytes));
  if (views.size() > most_asked)
    table.notes.push_back("the holders of " + count_text(views.size() - most_asked) + " views were not looked for");
  table.shown = in_text ? Shown::everywhere : Shown::in_data;
  return table;
}

bool are_views_worth_a_look(const std::vector<MappedView> &views, u64 mapped) {
  constexpr u64 least = 32 << 20, least_part = 10; // as for malloc
  u64 bytes = 0;
  for (const MappedView &one : views)
    bytes += one.bytes;
  return bytes >= least && bytes >= mapped / least_part;
}

void foresee_views(Plan &plan) {
  plan.perhaps(Pass::index | Pass::graph | Pass::owned_roots | Pass::live)
      .perhaps("walk")
      .perhaps("breadth-first search");
}

} // namespace dnheap
