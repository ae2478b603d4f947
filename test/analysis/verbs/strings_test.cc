// `strings`: which are equal, which one is kept, which field holds the copies; against a count of everything written.
#include "base/text.h"
#include "support/opened.h"
#include "support/rows.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <random>

namespace dnheap::test {
namespace {

using G = GCSegmentGeneration;

// Orders with a code and a note, and an array of strings.
struct Shop {
  explicit Shop(const HeapShape &shape) : heap(shape), old(heap.segment(G::gen2)) {
    MetadataWriter &metadata = heap.app().metadata;
    const u64 p = heap.p;
    const u32 size = static_cast<u32>(4 * p);
    order = heap.method_table({.base_size = size, .rid = metadata.type("Shop", "Order"), .series = {{p, 2 * p}}});
    auto field = [&](const char *name, u32 offset) {
      return FieldShape{metadata.field(name, field_signature(element(ElementType::String))), ElementType::Class,
                        offset};
    };
    const FieldShape code = field("_code", 0), note = field("_note", static_cast<u32>(p));
    heap.fields(order, {code, note});
    texts = heap.array(heap.string_type, static_cast<u32>(p));
  }
  Address add(Address code, Address note = 0) {
    const Address at = old.object(order);
    old.store(at + heap.p, code, heap.p);
    old.store(at + 2 * heap.p, note, heap.p);
    return at;
  }

  HeapBuilder heap;
  SegmentWriter &old;
  Address order = 0, texts = 0;
};

u64 number(const TextRow &row, const char *key) { return std::stoull(row.at(key)); }

TEST(Strings, CopiesCountWithTheFieldThatHoldsThem) {
  for (const HeapShape &shape : type_layouts()) {
    SCOPED_TRACE(name_of(shape));
    Shop shop(shape);
    const Address first = shop.old.string("EUR");
    for (int i = 0; i < 5; ++i)
      shop.add(shop.old.string("EUR"));
    shop.add(first, shop.old.string("to be called"));
    shop.add(shop.old.string("USD"), shop.old.string("to be called"));
    shop.old.string("EURO");
    Question question;
    question.values = true;
    report::Answer answer = answer_of(shop.heap, "strings", question);
    std::vector<TextRow> rows = text_rows_of(answer, "strings"), fields = text_rows_of(answer, "fields");
    const u64 size = align_up(shop.heap.size_of(shop.heap.string_type, 3), shop.heap.p);
    ASSERT_EQ(rows.size(), 2u);
    EXPECT_EQ(rows[0]["value"], "EUR");
    EXPECT_EQ(rows[0]["count"], "6");
    EXPECT_EQ(rows[0]["length"], "3");
    EXPECT_EQ(number(rows[0], "bytes"), 6 * size);
    EXPECT_EQ(number(rows[0], "wasted"), 5 * size);
    EXPECT_EQ(rows[0]["address"], hex(first));
    EXPECT_EQ(rows[0]["field"], "Shop.Order._code");
    EXPECT_EQ(rows[1]["value"], "to be called");
    EXPECT_EQ(rows[1]["field"], "Shop.Order._note");
    ASSERT_EQ(fields.size(), 2u);
    EXPECT_EQ(fields[0]["copies"], "5");
    EXPECT_EQ(fields[0]["contents"], "1");
    EXPECT_EQ(fields[1]["copies"], "1");
  }
}

TEST(Strings, ContentsAreNotToldUnasked) {
  Shop shop({});
  for (int i = 0; i < 3; ++i)
    shop.add(shop.old.string("secret"));
  report::Answer answer = answer_of(shop.heap, "strings");
  std::vector<TextRow> rows = text_rows_of(answer, "strings");
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0]["value"], "");
  EXPECT_EQ(rows[0]["hash"].size(), 16u);
}

TEST(Strings, ALiteralOfTheProgramIsKeptAndNoWaste) {
  Shop shop({});
  SegmentWriter &frozen = shop.heap.segment(G::frozen);
  for (int i = 0; i < 4; ++i)
    shop.add(shop.old.string("literal"));
  const Address literal = frozen.string("literal");
  frozen.string("literal");
  report::Answer answer = answer_of(shop.heap, "strings");
  std::vector<TextRow> rows = text_rows_of(answer, "strings"), fields = text_rows_of(answer, "fields");
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0]["address"], hex(literal));
  EXPECT_EQ(rows[0]["count"], "6");
  ASSERT_EQ(fields.size(), 1u);
  EXPECT_EQ(fields[0]["copies"], "4");
}

TEST(Strings, LiveAndDeadOnesAreToldApart) {
  Shop shop({});
  std::vector<Address> held;
  for (int i = 0; i < 3; ++i)
    held.push_back(shop.add(shop.old.string("kept")));
  for (int i = 0; i < 5; ++i)
    shop.add(shop.old.string("kept"));
  for (Address order : held)
    shop.heap.gc.handles.push_back({.type = HandleType::strong, .object = order});
  for (auto [life, count] : {std::pair(Life::any, "8"), {Life::live, "3"}, {Life::dead, "5"}}) {
    Question question;
    question.life = life;
    report::Answer answer = answer_of(shop.heap, "strings", question);
    std::vector<TextRow> rows = text_rows_of(answer, "strings");
    ASSERT_EQ(rows.size(), 1u);
    EXPECT_EQ(rows[0]["count"], count);
  }
}

TEST(Strings, ALengthThatLiesIsNoString) {
  Shop shop({});
  for (int i = 0; i < 3; ++i)
    shop.add(shop.old.string("some text"));
  const Address last = shop.old.string("some text");
  shop.old.store(last + shop.heap.p, 0x7fffffff, 4);
  report::Answer answer = answer_of(shop.heap, "strings");
  std::vector<TextRow> rows = text_rows_of(answer, "strings");
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0]["count"], "3");
}

// A copy that several fields hold counts with the one that holds most bytes of all, then with the first of them.
TEST(Strings, AgainstACountOfEverythingWritten) {
  for (const HeapShape &shape : type_layouts())
    for (u64 seed = 1; seed <= 4; ++seed) {
      SCOPED_TRACE(name_of(shape) + ", " + std::to_string(seed));
      std::mt19937_64 random(seed);
      auto below = [&](u64 n) { return random() % n; };
      Shop shop(shape);
      const u64 p = shop.heap.p, count = 1 + below(400), different = 1 + below(60);
      std::vector<Address> strings;
      std::map<Address, std::string> text_of;
      for (u64 i = 0; i < count; ++i) {
        const std::string text(below(different), static_cast<char>('a' + below(3)));
        strings.push_back(shop.old.string(text));
        text_of[strings.back()] = text;
      }
      std::map<Address, std::map<std::string, bool>> held; // by which fields
      auto pick = [&](const char *field) {
        const Address at = below(5) ? strings[below(strings.size())] : 0;
        if (at)
          held[at][field] = true;
        return at;
      };
      for (u64 i = 0; i < count; ++i) {
        const Address code = pick("Shop.Order._code"), note = pick("Shop.Order._note");
        shop.add(code, note);
        if (below(10) == 0) {
          const u64 length = below(20);
          const Address array = shop.old.object(shop.texts, length);
          for (u64 k = 0; k < length; ++k)
            shop.old.store(array + 2 * p + k * p, pick("System.String[]"), p);
        }
      }
      // The first of each content is kept.
      std::map<std::string, u64> seen;
      std::map<Address, u64> copies; // what each takes
      u64 wasted = 0, contents = 0;
      for (Address at : strings)
        if (seen[text_of[at]]++) {
          copies[at] = align_up(shop.heap.size_of(shop.heap.string_type, text_of[at].size()), p);
          wasted += copies[at];
        }
      for (const auto &[text, times] : seen)
        contents += times > 1;
      const std::vector<std::string> order = {"Shop.Order._code", "Shop.Order._note", "System.String[]"};
      std::map<std::string, u64> sums, wanted;
      for (const auto &[at, bytes] : copies)
        for (const auto &[field, is] : held[at])
          sums[field] += bytes;
      for (const auto &[at, bytes] : copies) {
        std::string best = "(nobody)";
        for (const std::string &field : order)
          if (held[at].contains(field) && (best == "(nobody)" || sums[field] > sums[best]))
            best = field;
        wanted[best] += bytes;
      }
      report::Answer answer = answer_of(shop.heap, "strings");
      std::vector<TextRow> rows = text_rows_of(answer, "strings"), fields = text_rows_of(answer, "fields");
      EXPECT_EQ(rows.size(), contents);
      u64 sum = 0;
      for (const TextRow &row : rows)
        sum += number(row, "wasted");
      EXPECT_EQ(sum, wasted);
      std::map<std::string, u64> found;
      for (const TextRow &row : fields)
        found[row.at("field")] = number(row, "wasted");
      EXPECT_EQ(found, wanted);
    }
}

} // namespace
} // namespace dnheap::test
