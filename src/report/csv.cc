// CSV as RFC 4180 has it, but lines end in LF: a header line with the keys, then the rows of one table.
#include "report/encoding.h"
#include "report/write.h"

namespace dnheap::report {

void write_csv(const Answer &answer, const WriteOptions &options, Sink &sink) {
  std::vector<const Table *> tables = tables_to_write(answer, options, Shown::in_data);
  if (tables.empty())
    return;
  const Table &table = *tables.front();
  std::vector<u64> shown;
  for (u64 i = 0; i < table.columns.size(); ++i)
    if (table.columns[i].shown != Shown::in_text)
      shown.push_back(i);

  std::string line;
  auto write_line = [&](auto append) {
    line.clear();
    for (u64 i : shown) {
      if (i != shown.front())
        line += ',';
      append(i);
    }
    line += '\n';
    sink.write(line);
  };
  write_line([&](u64 i) { append_csv_text(line, table.columns[i].key); });
  Rows rows(table, options);
  while (const Row *row = rows.next())
    write_line([&](u64 i) { append_csv(line, (*row)[i], table.columns[i].kind); });
  sink.flush();
}

} // namespace dnheap::report
