// Writes addresses alone, one per line, for scripts that ask about each object. Uses the table `objects`; everything
// else is left out.
#include "base/not_found.h"
#include "report/encoding.h"
#include "report/write.h"

#include <algorithm>

namespace dnheap::report {

void write_addresses(const Answer &answer, const WriteOptions &options, Sink &sink) {
  WriteOptions only = options;
  only.table = "objects";
  const Table &table = *tables_to_write(answer, only, Shown::in_data).front();
  const auto column = std::ranges::find(table.columns, Kind::address, &Column::kind);
  if (column == table.columns.end())
    throw NotFound("the table '" + table.name + "' has no addresses");
  const auto at = static_cast<u64>(column - table.columns.begin());
  write_rows(table, options, sink, [&](std::string &out, const Row &row, bool) {
    append_csv(out, row[at], Kind::address);
    out += '\n';
  });
  sink.flush();
}

} // namespace dnheap::report
