// Rows are written in their order, whatever the number of threads; what came before an error is written.
#include "report/write.h"

#include <atomic>
#include <gtest/gtest.h>

namespace dnheap::report {
namespace {

Answer numbers(u64 rows, u64 fails_at = ~u64{0}) {
  Answer answer;
  Table table;
  table.name = "rows";
  table.columns = {{"a", "A", Kind::address}, {"b", "B", Kind::text}, {"c", "C", Kind::nested}};
  table.rows = [rows, fails_at, at = u64{0}](Row &row) mutable {
    if (at == fails_at)
      throw Error("lost");
    if (at == rows)
      return false;
    row[0] = at;
    if (at % 3)
      row[1] = at % 2 ? "a, \"b\"" : "c";
    if (at % 7 == 0)
      row[2] = std::vector<Cell>{at, "x"};
    ++at;
    return true;
  };
  answer.tables.push_back(std::move(table));
  return answer;
}

std::string written(Answer answer, const char *format, unsigned threads, u64 top = 0) {
  std::string out;
  Sink sink(out);
  WriteOptions options;
  options.threads = threads;
  options.top = top;
  find_writer(format)->write(answer, options, sink);
  return out;
}

// Line by line, from the definition.
std::string csv_of(u64 rows) {
  std::string out = "a,b,c\n";
  for (u64 i = 0; i < rows; ++i) {
    char address[32];
    std::snprintf(address, sizeof address, "0x%llx", static_cast<unsigned long long>(i));
    out += std::string(address) + "," +
           (i % 3 == 0 ? ""
            : i % 2    ? "\"a, \"\"b\"\"\""
                       : "c") +
           "," + (i % 7 ? "" : "\"[" + std::to_string(i) + ",\"\"x\"\"]\"") + "\n";
  }
  return out;
}

TEST(WriteRows, AreTheSameForAnyNumberOfThreads) {
  for (u64 rows : {0u, 1u, 511u, 512u, 513u, 1023u, 1024u, 1025u, 100000u}) {
    const std::string wanted = csv_of(rows), json = written(numbers(rows), "json", 1);
    for (unsigned threads : {1u, 2u, 3u, 16u}) {
      EXPECT_TRUE(written(numbers(rows), "csv", threads) == wanted) << rows << " rows, " << threads << " threads";
      EXPECT_TRUE(written(numbers(rows), "json", threads) == json) << rows << " rows, " << threads << " threads";
      EXPECT_TRUE(written(numbers(rows + 10), "csv", threads, rows ? rows : 1) == csv_of(rows ? rows : 1)) << rows;
    }
  }
}

TEST(WriteRows, WhatCameBeforeAnErrorIsWritten) {
  for (u64 fails_at : {0u, 1u, 20000u, 40000u})
    for (unsigned threads : {1u, 2u}) {
      std::string out;
      Sink sink(out);
      WriteOptions options;
      options.threads = threads;
      const Answer answer = numbers(50000, fails_at);
      EXPECT_THROW(write_csv(answer, options, sink), Error);
      sink.flush();
      EXPECT_TRUE(out == csv_of(fails_at)) << fails_at;
    }
}

// Whoever waits for its turn does not wait for a thread that has failed.
TEST(WriteRows, AnErrorOfTheWriterEndsAllThreads) {
  for (u64 fails_at : {0u, 511u, 512u, 5000u, 99999u})
    for (unsigned threads : {1u, 2u, 16u}) {
      std::string out;
      Sink sink(out);
      WriteOptions options;
      options.threads = threads;
      const Answer answer = numbers(100000);
      EXPECT_THROW(write_rows(answer.tables[0], options, sink,
                              [&](std::string &to, const Row &row, bool) {
                                const u64 number = *row[0].get_if<u64>();
                                if (number == fails_at)
                                  throw Error("full");
                                (to += std::to_string(number)) += ' ';
                              }),
                   Error);
      std::string wanted; // whole pieces, in order, up to that one at most
      for (u64 i = 0; wanted.size() < out.size(); ++i)
        (wanted += std::to_string(i)) += ' ';
      EXPECT_TRUE(out == wanted) << fails_at;
      EXPECT_EQ(out.find(" " + std::to_string(fails_at) + " "), out.npos);
    }
}

// Rows of megabytes: few of them are held between the source and the writer.
TEST(WriteRows, LongTextsAreHeldByTheFew) {
  constexpr u64 rows = 300, size = 1 << 20, most_held = 64;
  u64 made = 0, most = 0;
  std::atomic<u64> formatted = 0;
  Table table;
  table.columns = {{"text", "Text", Kind::text}};
  table.has_long_texts = true;
  table.rows = [&](Row &row) {
    if (made == rows)
      return false;
    row[0] = std::string(size, 'x');
    ++made;
    most = std::max(most, made - formatted);
    return true;
  };
  std::string out;
  Sink sink(out);
  WriteOptions options;
  options.threads = 2;
  write_rows(table, options, sink, [&](std::string &to, const Row &row, bool) {
    to += row[0].text()->substr(0, 1);
    ++formatted;
  });
  sink.flush();
  EXPECT_EQ(out, std::string(rows, 'x'));
  EXPECT_LE(most, most_held);
}

} // namespace
} // namespace dnheap::report
