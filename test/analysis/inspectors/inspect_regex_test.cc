// `inspect regex`: expressions that were written, by how they are run, and how many patterns they are of.
#include "base/text.h"
#include "support/library_heap.h"
#include "support/opened.h"

#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

struct Regexes : LibraryHeap {
  explicit Regexes(const HeapShape &shape, const char *pattern = "pattern") : LibraryHeap(shape) {
    const char *name_space = "System.Text.RegularExpressions";
    regex = type(name_space, "Regex", 0, 5, {pattern, "factory", "!roptions"});
    generated = type("Shop", "Digits", regex, 5, {}, 3);
    interpreter = type(name_space, "RegexInterpreterFactory", 0, 3, {});
    compiler = type(name_space, "CompiledRegexRunnerFactory", 0, 3, {});
    own_factory = type("Shop", "DigitsFactory", 0, 3, {});
    runner = type(name_space, "RegexRunner", 0, 3, {"runregex"});
    const u32 cache = heap.app().metadata.type(name_space, "RegexCache");
    node = nested(cache, "Node", 3, {"Regex"});
    owner = type("Shop", "Rule", 0, 3, {"_regex"});
  }

  Address regex = 0, generated = 0, interpreter = 0, compiler = 0, own_factory = 0, runner = 0, node = 0, owner = 0;
};

TEST(InspectRegex, EnginesAndHolders) {
  for (const HeapShape &shape : type_layouts()) {
    SCOPED_TRACE(name_of(shape));
    Regexes s(shape);
    Address first = 0;
    for (int i = 0; i < 5; ++i) {
      const Address regex = s.with(s.regex, {s.old.string(i < 2 ? "a+" : "b+"), s.with(s.compiler, {}), 8 + 1});
      first = first ? first : regex;
      s.with(s.owner, {regex});
      for (int k = 0; k < 9; ++k)
        s.with(s.runner, {regex}); // which does not hold it
    }
    s.with(s.node, {s.with(s.regex, {0, s.with(s.interpreter, {}), 0})});
    s.with(s.generated, {0, s.with(s.own_factory, {}), 0x1000});
    s.with(s.regex, {0, 0, 0});
    report::Answer answer = inspected(s.heap, "regex");
    std::vector<TextRow> rows = text_rows_of(answer, "regex");
    ASSERT_EQ(rows.size(), 4u) << notes_of(answer);
    EXPECT_EQ(rows[0]["count"], "5");
    EXPECT_EQ(rows[0]["engine"], "compiled");
    EXPECT_EQ(rows[0]["options"], "IgnoreCase, Compiled");
    EXPECT_EQ(rows[0]["held_by"], "Shop.Rule._regex");
    EXPECT_EQ(rows[0]["patterns"], "2");
    EXPECT_EQ(rows[0]["example"], hex(first));
    std::map<std::string, TextRow> by_engine;
    for (TextRow &row : rows)
      by_engine[row["engine"]] = row;
    EXPECT_EQ(by_engine["generated"]["options"], "option 4096");
    EXPECT_EQ(by_engine["generated"]["type"], "Shop.Digits");
    EXPECT_EQ(by_engine["interpreted"]["options"], "None");
    EXPECT_EQ(by_engine["interpreted"]["held_by"], "System.Text.RegularExpressions.RegexCache+Node.Regex");
    EXPECT_EQ(by_engine[""]["count"], "1");
    EXPECT_EQ(by_engine["interpreted"]["is_cached"], "true");
    EXPECT_EQ(by_engine["compiled"]["is_cached"], "false");
    EXPECT_EQ(by_engine["interpreted"]["patterns"], ""); // which is no string
    EXPECT_EQ(unknown_notes_of(answer), "");
  }
}

TEST(InspectRegex, OfAnotherShapeIsNotTold) {
  Regexes s({}, "_pattern");
  s.with(s.regex, {0, 0, 0});
  report::Answer answer = inspected(s.heap, "regex");
  EXPECT_TRUE(text_rows_of(answer, "regex").empty());
  EXPECT_EQ(unknown_notes_of(answer), unknown_shape(1, "System.Text.RegularExpressions.Regex", "it"));
}

} // namespace
} // namespace dnheap::test
