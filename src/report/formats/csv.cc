// CSV according to RFC 4180, except that lines end in LF: a header line with the keys, then the rows of one table.
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

  auto append_line = [&](std::string &out, auto append) {
    for (u64 i : shown) {
      if (i != shown.front())
        out += ',';
      append(i);
    }
    out += '\n';
  };
  std::string header;
  append_line(header, [&](u64 i) { append_csv_text(header, table.columns[i].key); });
  sink.write(header);
  write_rows(table, options, sink, [&](std::string &out, const Row &row, bool) {
    append_line(out, [&](u64 i) { append_csv(out, row[i], table.columns[i].kind); });
  });
  sink.flush();
}

} // namespace dnheap::report
