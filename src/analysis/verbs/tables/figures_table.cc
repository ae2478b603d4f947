#include "analysis/verbs/tables/figures_table.h"

namespace dnheap {

using report::Kind;
using report::Shown;

report::Table figures_table(const char *name, std::string title, std::vector<report::Row> rows) {
  report::Table table;
  table.name = name;
  table.title = std::move(title);
  table.shown = Shown::in_text;
  table.whole = true;
  table.columns = {{"figures", "", Kind::text}, {"text", "", Kind::text, Shown::everywhere, true}};
  table.set_rows(std::move(rows));
  return table;
}

} // namespace dnheap
