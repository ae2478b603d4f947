// Text for a screen: what a dump says must never steer a terminal; colour marks, and changes no width.
#include "report/encoding.h"
#include "report/write.h"

#include <gtest/gtest.h>
#include <sstream>

namespace dnheap::report {
namespace {

// Escapes, a direction turned round, controls of one byte and of two, a tab, a line end, what is no UTF-8.
const std::string hostile = "Shop.\x1b]0;title\x07\x1b[2J\xc2\x9b"
                            "31m\xe2\x80\xae<evil,\tA\r\nB>\xff\x7f.漢字漢字漢字漢字漢字漢字漢字漢字漢字";

Answer hostile_answer() {
  Answer answer;
  answer.headline.what = "core: " + hostile;
  answer.lead = hostile + "\n\n" + hostile;
  answer.completeness.emplace();
  answer.completeness->notes.add(hostile);
  answer.completeness->gaps = {{0x1000, 0x2000, hostile}};
  answer.next_command = "dnheap path " + hostile;
  Table table;
  table.name = "types";
  table.title = hostile;
  table.columns = {{"count", "Count", Kind::count},
                   {"type", hostile, Kind::text},
                   {"path", "Path", Kind::text, Shown::everywhere, true},
                   {"nested", "Nested", Kind::nested},
                   {"share", "", Kind::bar, Shown::in_text}};
  table.set_rows({{1u, hostile, hostile, std::vector<Cell>{hostile}, 0.5}});
  table.total = Row{1u, hostile, Cell(), Cell(), Cell()};
  table.notes = {hostile};
  answer.tables.push_back(std::move(table));
  return answer;
}

std::string text_of(const WriteOptions &options) {
  std::string out;
  Sink sink(out);
  write_text(hostile_answer(), options, sink);
  return out;
}

std::string without_marks(std::string text) {
  for (std::string_view mark : {"\x1b[0m", "\x1b[1m", "\x1b[2m", "\x1b[33m"})
    for (std::size_t at; (at = text.find(mark)) != text.npos;)
      text.erase(at, mark.size());
  return text;
}

TEST(Screen, NothingOfADumpReachesATerminalThatItWouldObey) {
  for (u64 width : {0, 40, 80, 120, 1000})
    for (bool full : {false, true})
      for (bool color : {false, true}) {
        WriteOptions options;
        options.width = width;
        options.full_names = full;
        options.wrap = options.color = color;
        const std::string text = text_of(options), plain = color ? without_marks(text) : text;
        for (char c : plain)
          ASSERT_TRUE((static_cast<u8>(c) >= 0x20 && c != 0x7f) || c == '\n') << width;
        ASSERT_EQ(plain.find("\xc2\x9b"), plain.npos);
        ASSERT_EQ(plain.find("\xe2\x80\xae"), plain.npos);
        std::string clean;
        append_utf8(clean, plain);
        ASSERT_EQ(clean, plain);
        EXPECT_EQ(color, text != plain);
      }
}

TEST(Screen, ColourChangesNoWidth) {
  WriteOptions options;
  options.width = 80;
  options.wrap = true;
  const std::string plain = text_of(options);
  options.color = true;
  EXPECT_EQ(without_marks(text_of(options)), plain);
  std::istringstream lines(plain);
  for (std::string line; std::getline(lines, line);)
    EXPECT_TRUE(width_of(line) <= 80 || line.starts_with("next:")) << line;
}

TEST(Screen, WideCharactersTakeTwoColumns) {
  EXPECT_EQ(width_of("→×…ö"), 4u);
  EXPECT_EQ(width_of("漢字"), 4u);
  EXPECT_EQ(width_of("e\xcc\x81"), 1u);
  EXPECT_EQ(width_of("\xf0\x9f\x98\x80"), 2u);
}

// Six columns of numbers do not fit 40 columns: a row takes several lines, and each number is there, whole.
TEST(Screen, RowsThatFitNoLineAreFolded) {
  Answer answer;
  Table table;
  table.name = "t";
  Row row;
  for (u64 i = 0; i < 6; ++i) {
    table.columns.push_back({"k", "Address", Kind::address});
    row.push_back(Cell(0x7f0000000000u + i));
  }
  table.set_rows({row});
  answer.tables.push_back(std::move(table));
  WriteOptions options;
  options.width = 40;
  std::string out;
  Sink sink(out);
  write_text(answer, options, sink);
  EXPECT_EQ(out,
            "\n       Address         Address\n           Address         Address\n           Address         Address\n"
            "0x7f0000000000  0x7f0000000001\n    0x7f0000000002  0x7f0000000003\n"
            "    0x7f0000000004  0x7f0000000005\n");
}

} // namespace
} // namespace dnheap::report
