// `lookup` and `memory`, and --kind of handles, on small heaps.
#include "base/error.h"
#include "base/not_found.h"
#include "base/text.h"
#include "support/opened.h"
#include "support/rows.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

using enum GCSegmentGeneration;

// A type with two methods and one object, and a type without any object.
struct LookedUp {
  explicit LookedUp(const HeapShape &shape) : heap(shape), p(heap.p) {
    MetadataWriter &metadata = heap.app().metadata;
    const Blob nothing = element(ElementType::Void);
    cart_row = metadata.type("Shop", "Cart");
    metadata.method("Add", method_signature(nothing, {element(ElementType::I4)}));
    metadata.method(".ctor", method_signature(nothing, {}));
    metadata.type("Other.Shop", "Cart");
    cart = heap.method_table({.base_size = static_cast<u32>(4 * p), .rid = cart_row});
    SegmentWriter &old = heap.segment(gen2);
    object = old.object(cart);
    old.store(object + p, object, p); // it refers to itself
    old.store(object + 2 * p, 0x1234, p);
    text = old.string("Hi there");
    heap.gc.handles = {{.type = HandleType::strong, .object = object},
                       {.type = HandleType::pinned, .object = object},
                       {.type = HandleType::weak_short, .object = object},
                       {.type = HandleType::weak_long, .object = object}};
  }
  std::vector<TextRow> found(const std::string &subject, const char *table = "found") {
    Question question;
    question.subject = subject;
    report::Answer answer = answer_of(heap, "lookup", question);
    return text_rows_of(answer, table);
  }
  std::vector<TextRow> memory(Address at, const std::string &by, bool values, u64 limit) {
    Question question;
    question.subject = hex(at);
    question.by = by;
    question.values = values;
    question.limit = limit;
    report::Answer answer = answer_of(heap, "memory", question);
    return text_rows_of(answer, "memory");
  }

  HeapBuilder heap;
  const u64 p;
  u32 cart_row = 0;
  Address cart = 0, object = 0, text = 0;
};

const TextRow *row_of(const std::vector<TextRow> &rows, const std::string &kind) {
  const auto at = std::ranges::find_if(rows, [&](const TextRow &row) { return row.at("kind") == kind; });
  return at == rows.end() ? nullptr : &*at;
}

TEST(Lookup, AnAddressIsAnObjectOfAType) {
  for (const HeapShape &shape : type_layouts()) {
    SCOPED_TRACE(name_of(shape));
    LookedUp looked(shape);
    const std::vector<TextRow> rows = looked.found(hex(looked.object + looked.p));
    ASSERT_TRUE(row_of(rows, "object"));
    EXPECT_EQ(row_of(rows, "object")->at("address"), hex(looked.object));
    EXPECT_EQ(row_of(rows, "object")->at("offset"), std::to_string(looked.p));
    ASSERT_TRUE(row_of(rows, "type"));
    EXPECT_EQ(row_of(rows, "type")->at("name"), "Shop.Cart");
    EXPECT_EQ(row_of(rows, "type")->at("address"), hex(looked.cart));
    ASSERT_TRUE(row_of(rows, "heap"));
    EXPECT_EQ(row_of(rows, "heap")->at("name"), "gen2");
  }
}

TEST(Lookup, AMethodTableHasItsMethods) {
  for (const HeapShape &shape : type_layouts()) {
    SCOPED_TRACE(name_of(shape));
    LookedUp looked(shape);
    const std::vector<TextRow> methods = looked.found(hex(looked.cart), "methods");
    ASSERT_EQ(methods.size(), 2u);
    EXPECT_EQ(methods[0].at("name"), "Add(System.Int32)");
    EXPECT_EQ(methods[1].at("name"), ".ctor()");
  }
}

TEST(Lookup, NamesFindTypesAndMethodsTheExactOnesFirst) {
  LookedUp looked({});
  std::vector<TextRow> rows = looked.found("Shop.Cart");
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].at("name"), "Shop.Cart");
  EXPECT_EQ(rows[0].at("address"), hex(looked.cart));
  EXPECT_EQ(rows[1].at("name"), "Other.Shop.Cart");
  EXPECT_EQ(rows[1].at("address"), "") << "the heap has no object of it";
  rows = looked.found("Shop.Cart.Add");
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].at("kind"), "method");
  EXPECT_EQ(rows[0].at("name"), "Shop.Cart.Add(System.Int32)");
  const std::string token = rows[0].at("token");
  EXPECT_EQ(looked.found("app.dll!" + token)[0].at("name"), "Shop.Cart.Add(System.Int32)");
  EXPECT_EQ(looked.found("APP!Shop.Cart..ctor")[0].at("name"), "Shop.Cart..ctor()");
  EXPECT_GE(looked.found("app.dll", "types").size(), 3u);
  for (const char *unknown : {"Shop.Nothing", "app.dll!0x06ffffff", "none.dll!Shop.Cart", "0x10", "!", "x!y!z"})
    EXPECT_THROW(looked.found(unknown), NotFound) << unknown;
}

std::vector<std::string> notes_in(LookedUp &looked, const char *verb, const Question &question, const char *table) {
  report::Answer answer = answer_of(looked.heap, verb, question);
  for (const report::Table &one : answer.tables)
    if (one.name == std::string_view(table))
      return one.notes;
  return {"there is no such table"};
}

TEST(Lookup, WhatIsLeftOutIsSaid) {
  constexpr u64 most_found = 1000, most_members = 10000;
  using Notes = std::vector<std::string>;
  LookedUp looked({});
  MetadataWriter &metadata = looked.heap.app().metadata;
  for (u64 i = 0; i < most_found; ++i)
    metadata.type("Space" + std::to_string(i), "Same");
  EXPECT_EQ(looked.found("Same").size(), most_found);
  EXPECT_EQ(notes_in(looked, "lookup", {.subject = "Same"}, "found"), Notes{});
  metadata.type("More", "Same");
  EXPECT_EQ(looked.found("Same").size(), most_found);
  EXPECT_EQ(notes_in(looked, "lookup", {.subject = "Same"}, "found"), Notes{"only the first 1,000 are listed"});

  const u64 types = looked.found("app.dll", "types").size();
  for (u64 i = types; i < most_members; ++i)
    metadata.type("Many", "Type" + std::to_string(i));
  EXPECT_EQ(looked.found("app.dll", "types").size(), most_members);
  EXPECT_EQ(notes_in(looked, "lookup", {.subject = "app.dll"}, "types"), Notes{});
  metadata.type("Many", "Last");
  EXPECT_EQ(looked.found("app.dll", "types").size(), most_members);
  EXPECT_EQ(notes_in(looked, "lookup", {.subject = "app.dll"}, "types"), Notes{"only the first 10,000 are listed"});
}

TEST(Lookup, ModulesThatAreMissingAreSaid) {
  LookedUp looked({});
  {
    Opened opened(looked.heap);
    const ContractDescriptor &d = opened.runtime.descriptor();
    const Address domain = opened.target->memory.pointer(d.number("AppDomain"), "the AppDomain");
    looked.heap.poke(domain + static_cast<u64>(d.offset("AppDomain", "AssemblyList")), 99, 4);
  }
  constexpr const char *broken = "the list of assemblies breaks off after ";
  report::Answer answer = answer_of(looked.heap, "lookup", {.subject = "Shop.Cart"});
  const std::vector<std::string> notes = answer.completeness->notes.sentences();
  EXPECT_EQ(std::ranges::count_if(notes, [&](const std::string &one) { return one.find(broken) != one.npos; }), 1);
  try {
    looked.found("Shop.Nothing");
    ADD_FAILURE() << "there is no such type";
  } catch (const NotFound &error) {
    EXPECT_NE(std::string(error.what()).find(broken), std::string::npos) << error.what();
  }
}

TEST(Memory, WhatIsLeftOutIsSaid) {
  using Notes = std::vector<std::string>;
  LookedUp looked({});
  const std::string long_text(700'000, 'x');
  const Address characters = looked.text + 12, many = looked.heap.segment(gen2).string(long_text) + 12;
  auto notes = [&](Address at, const char *by, u64 limit) {
    Question question{.subject = hex(at), .values = true, .by = by};
    if (limit)
      question.limit = limit;
    return notes_in(looked, "memory", question, "memory");
  };
  EXPECT_EQ(notes(characters, "wide_string", 0), Notes{});
  EXPECT_EQ(notes(characters, "wide_string", 2), Notes{"the text goes on after these 2 characters"});
  EXPECT_EQ(notes(many, "wide_string", 0), Notes{"the text goes on after these 4,096 characters"});
  EXPECT_EQ(notes(characters, "bytes", 4), Notes{});
  Question question{.subject = hex(many), .values = true, .by = "bytes"};
  question.range = {v0::Address(many), v0::Address(many + (u64{1} << 21))};
  EXPECT_EQ(notes_in(looked, "memory", question, "memory"),
            Notes{"no more than 1,048,576 bytes are shown: those from " + hex(many + (u64{1} << 20)) +
                  " on are another question"});
}

TEST(Memory, WordsThatLeadSomewhereAreShownAndOthersWithValuesAlone) {
  for (const HeapShape &shape : type_layouts()) {
    SCOPED_TRACE(name_of(shape));
    LookedUp looked(shape);
    std::vector<TextRow> rows = looked.memory(looked.object, "", false, 3);
    ASSERT_EQ(rows.size(), 3u);
    EXPECT_EQ(rows[0].at("leads_to"), "MethodTable of Shop.Cart");
    EXPECT_EQ(rows[1].at("value"), hex(looked.object));
    EXPECT_EQ(rows[1].at("leads_to"), "Shop.Cart");
    EXPECT_EQ(rows[2].at("value"), "");
    EXPECT_EQ(looked.memory(looked.object, "pointers", true, 3)[2].at("value"), "0x1234");
    EXPECT_THROW(looked.memory(looked.object, "bytes", false, 3), UsageError) << "contents";
    EXPECT_THROW(looked.memory(0x10, "", false, 3), NotFound);
  }
}

TEST(Memory, ContentsAreShownAsDebuggersDo) {
  LookedUp looked({});
  const Address characters = looked.text + 12;
  EXPECT_EQ(looked.memory(characters, "bytes", true, 4)[0].at("hexadecimal"), "48 00 69 00");
  EXPECT_EQ(looked.memory(characters, "bytes", true, 4)[0].at("text"), "H.i.");
  EXPECT_EQ(looked.memory(characters, "words", true, 3)[0].at("hexadecimal"), "0048 0069 0020");
  EXPECT_EQ(looked.memory(characters, "dwords", true, 1)[0].at("hexadecimal"), "00690048");
  EXPECT_EQ(looked.memory(characters, "qwords", true, 1)[0].at("hexadecimal"), "0074002000690048");
  EXPECT_EQ(looked.memory(characters, "chars", true, 8)[0].at("text"), "Hi there");
  EXPECT_EQ(looked.memory(characters, "wide_string", true, 100)[0].at("text"), "Hi there");
  EXPECT_EQ(looked.memory(characters, "string", true, 100)[0].at("text"), "H");
  EXPECT_EQ(looked.memory(characters, "bytes", true, 20).size(), 2u) << "16 on a line";
  Question question;
  question.subject = hex(characters);
  question.range = {v0::Address(characters), v0::Address(characters + 8)};
  report::Answer answer = answer_of(looked.heap, "memory", question);
  EXPECT_EQ(text_rows_of(answer, "memory").size(), 1u) << "up to the end of the range";
  question.range = {v0::Address(1), v0::Address(2)};
  EXPECT_THROW(answer_of(looked.heap, "memory", question), UsageError) << "it ends before it begins";
  EXPECT_LE(looked.memory(characters, "bytes", true, ~u64{0}).size(), (u64{1} << 20) / 16) << "bounded";
}

std::vector<std::string> handle_kinds(HeapBuilder &heap, const std::string &kind) {
  Question question;
  question.kind = kind;
  report::Answer answer = answer_of(heap, "handles", question);
  std::vector<std::string> out;
  for (const TextRow &row : text_rows_of(answer, "handles"))
    out.push_back(row.at("kind"));
  return out;
}

TEST(Kinds, OfHandlesAndRoots) {
  LookedUp looked({});
  using Words = std::vector<std::string>;
  EXPECT_EQ(handle_kinds(looked.heap, ""), (Words{"weak_short", "weak_long", "strong", "pinned"}));
  EXPECT_EQ(handle_kinds(looked.heap, "pinned"), Words{"pinned"});
  EXPECT_EQ(handle_kinds(looked.heap, "WeakShort"), Words{"weak_short"}) << "as SOS spells it";
  EXPECT_EQ(handle_kinds(looked.heap, "weak"), (Words{"weak_short", "weak_long"})) << "all that begin so";
  EXPECT_THROW(handle_kinds(looked.heap, "pined"), UsageError);
  Question question;
  question.kind = "pinned";
  report::Answer answer = answer_of(looked.heap, "roots", question);
  const std::vector<TextRow> roots = text_rows_of(answer, "roots");
  ASSERT_EQ(roots.size(), 1u);
  EXPECT_EQ(roots[0].at("kind"), "handle:pinned");
}

} // namespace
} // namespace dnheap::test
