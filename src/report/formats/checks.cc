#include "report/formats/checks.h"

namespace dnheap::report {

void for_each_check(const Answer &answer, const WriteOptions &options,
                    const std::function<void(const Check &)> &visit) {
  for (const Table &table : answer.tables) {
    if (table.name != "checks")
      continue;
    auto text_of = [&](const Row &row, const char *key) {
      const std::optional<u64> column = table.find_column(key);
      const std::optional<std::string_view> text = column ? row[*column].text() : std::nullopt;
      return std::string(text.value_or(""));
    };
    const std::optional<u64> exceeded = table.find_column("exceeded"), certain = table.find_column("certain");
    WriteOptions all = options;
    all.top = 0;
    Rows rows(table, all);
    while (const Row *row = rows.next()) {
      const bool *is_exceeded = exceeded ? (*row)[*exceeded].get_if<bool>() : nullptr;
      const bool *is_certain = certain ? (*row)[*certain].get_if<bool>() : nullptr;
      visit({is_exceeded && *is_exceeded, !is_certain || *is_certain, text_of(*row, "kind"), text_of(*row, "name"),
             text_of(*row, "metric"), text_of(*row, "place"), text_of(*row, "text")});
    }
    return;
  }
  throw UsageError("'" + answer.command + "' has no checks: this format needs 'check'");
}

} // namespace dnheap::report
