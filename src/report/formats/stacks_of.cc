#include "report/formats/stacks_of.h"

#include "base/not_found.h"

#include <algorithm>

namespace dnheap::report {

void for_each_stack(const Answer &answer, const WriteOptions &options,
                    const std::function<void(const CountedStack &)> &visit) {
  if (std::ranges::find(answer.tables, "stacks", &Table::name) == answer.tables.end())
    throw NotFound("the answer of '" + answer.command + "' has no stacks with counts" +
                   (answer.command == "stack" ? ": they come with --merge" : ""));
  WriteOptions only = options;
  only.table = "stacks";
  const Table &table = *tables_to_write(answer, only, Shown::in_data).front();
  auto column = [&](std::string_view key) {
    return static_cast<u64>(std::ranges::find(table.columns, key, &Column::key) - table.columns.begin());
  };
  const u64 methods = column("methods"), state = column("state");
  if (table.columns.empty() || table.columns[0].kind != Kind::count || methods == table.columns.size())
    throw NotFound("the table 'stacks' has no lists of methods: they come with --merge");
  WriteOptions all = options;
  all.top = 0;
  Rows rows(table, all);
  u64 shown = 0;
  CountedStack others{0, {"(other stacks)"}}; // so that shares of the sum stay right
  while (const Row *row = rows.next()) {
    const u64 *count = (*row)[0].get_if<u64>();
    const std::vector<Cell> *list = (*row)[methods].get_if<std::vector<Cell>>();
    if (!count || !list)
      continue;
    if (options.top && shown++ >= options.top) {
      others.count += *count;
      continue;
    }
    CountedStack stack{*count, {}};
    for (const Cell &method : *list)
      stack.methods.emplace_back(method.text().value_or("?"));
    if (stack.methods.empty())
      stack.methods.emplace_back("(no managed method)");
    if (state < table.columns.size())
      stack.methods.emplace_back((*row)[state].text().value_or("?"));
    visit(stack);
  }
  if (others.count)
    visit(others);
}

} // namespace dnheap::report
