// How questions may be worded, and in which words answers come: names of types as C# writes them, addresses as
// debuggers print them, delegates that call many methods, ways by size.
#include "analysis/verb.h"
#include "base/not_found.h"
#include "report/write.h"
#include "snapshot/snapshot.h"
#include "support/heap_builder.h"

#include <gtest/gtest.h>
#include <iomanip>
#include <sstream>

namespace dnheap::test {
namespace {

std::string ask(Snapshot &snapshot, const std::string &verb, const Question &question, const char *format = "text") {
  std::string out;
  report::Sink sink(out);
  report::WriteOptions options;
  options.table = question.table;
  for (const Verb &v : verbs())
    if (verb == v.name)
      report::find_writer(format)->write(v.answer(snapshot, question), options, sink);
  return out;
}

std::string about(Snapshot &snapshot, const std::string &verb, const std::string &subject,
                  const std::string &sort = "") {
  Question question;
  question.subject = subject;
  question.sort = sort;
  return ask(snapshot, verb, question);
}

bool has(const std::string &text, const std::string &part) { return text.find(part) != std::string::npos; }

const HeapShape shapes[] = {{}, {.format = {4, ByteOrder::big}}};

// Orders and bytes, each held by a handle of its own, many small ones and one large one.
struct Held {
  explicit Held(const HeapShape &shape) : heap(shape) {
    order = heap.type("Shop.Order", 3);
    also_order = heap.type("Shop.Order", 3);
    bytes = heap.array(heap.type("System.Byte", 1), 1);
    SegmentWriter &old = heap.segment(GCSegmentGeneration::gen2);
    for (int i = 0; i < 3; ++i)
      orders.push_back(old.object(order));
    old.object(also_order);
    small = old.object(bytes, 10);
    large = old.object(bytes, 5000);
    heap.gc.handles = {
        {.type = HandleType::strong, .object = orders[0]}, {.type = HandleType::strong, .object = orders[1]},
        {.type = HandleType::strong, .object = small},     {.type = HandleType::strong, .object = orders[2]},
        {.type = HandleType::pinned, .object = large},     {.type = HandleType::strong, .object = small}};
    snapshot = std::make_unique<Snapshot>(heap.target(), SnapshotOptions{});
  }

  HeapBuilder heap;
  Address order = 0, also_order = 0, bytes = 0, small = 0, large = 0;
  std::vector<Address> orders;
  std::unique_ptr<Snapshot> snapshot;
};

std::string hex_of(Address address) {
  std::ostringstream out;
  out << std::hex << address;
  return out.str();
}

TEST(Words, AddressesAsDebuggersPrintThem) {
  for (const HeapShape &shape : shapes) {
    Held t(shape);
    const std::string plain = hex_of(t.small), padded = std::string(16 - plain.size(), '0') + plain;
    const std::string fact = "object       0x" + plain;
    for (const std::string &word :
         {plain, "0x" + plain, "0X" + plain, padded, "0x" + padded, padded.substr(0, 8) + "`" + padded.substr(8),
          "0x" + padded.substr(0, 8) + "`" + padded.substr(8), std::to_string(t.small), "0n" + std::to_string(t.small)})
      EXPECT_TRUE(has(about(*t.snapshot, "show", word), fact)) << word;
    const std::string inside = about(*t.snapshot, "show", "0x" + hex_of(t.small + 4));
    EXPECT_TRUE(
        has(inside, "\naddress      0x" + hex_of(t.small + 4) + " lies 4 bytes inside the object at 0x" + plain))
        << inside;
  }
}

TEST(Words, AMethodTableIsItsType) {
  for (const HeapShape &shape : shapes) {
    Held t(shape);
    const std::string word = "0x" + hex_of(t.order), shown = about(*t.snapshot, "show", word);
    EXPECT_TRUE(has(shown, "type         Shop.Order\n")) << shown;
    EXPECT_TRUE(has(shown, "objects      3 on this heap, ")) << shown;
    const std::string path = about(*t.snapshot, "path", word);
    EXPECT_TRUE(has(path, word + " is the MethodTable of Shop.Order")) << path;
    EXPECT_TRUE(has(path, "\n        3  100.0%  ")) << path; // not the one of the other type with its name
  }
}

TEST(Words, TypesAsCSharpWritesThem) {
  for (const HeapShape &shape : shapes) {
    Held t(shape);
    const std::string path = about(*t.snapshot, "path", "byte[]");
    EXPECT_TRUE(has(path, "note: byte[] is taken for System.Byte[]\n")) << path;
    for (const char *word : {"byte[]", "Byte[]", "System.Byte[]"})
      for (const char *verb : {"stat", "objects", "handles", "roots", "retained"}) {
        Question exact, like;
        exact.type_exact = like.type_regex = word;
        EXPECT_EQ(has(ask(*t.snapshot, verb, exact), "is taken for"), word != std::string("System.Byte[]")) << verb;
        EXPECT_TRUE(has(ask(*t.snapshot, verb, exact), "System.Byte[]")) << verb;
        EXPECT_TRUE(has(ask(*t.snapshot, verb, like), "System.Byte[]")) << verb;
      }
    Question none;
    none.type_exact = "Byte";
    EXPECT_THROW(ask(*t.snapshot, "stat", none), NotFound);
    none.type_exact = "shop.order";
    try {
      ask(*t.snapshot, "objects", none);
      FAIL();
    } catch (const NotFound &error) {
      EXPECT_STREQ(error.what(), "no type on this heap is called 'shop.order', did you mean 'Shop.Order'?");
    }
  }
}

// All tables are about the same handles, or roots.
TEST(Words, SumsFollowTheFilter) {
  for (const HeapShape &shape : shapes) {
    Held t(shape);
    Question bytes;
    bytes.type_exact = "byte[]";
    bytes.table = "kinds";
    const std::string handles = ask(*t.snapshot, "handles", bytes, "csv");
    EXPECT_TRUE(has(handles, "\nstrong,2,2,0,0\n")) << handles;
    EXPECT_TRUE(has(handles, "\npinned,1,1,0,0\n")) << handles;
    const std::string roots = ask(*t.snapshot, "roots", bytes, "csv");
    EXPECT_TRUE(has(roots, "\nhandle:strong,2,1,0\nhandle:pinned,1,1,0\n")) << roots;
    bytes.table = "groups";
    EXPECT_EQ(ask(*t.snapshot, "roots", bytes, "csv"),
              "group,roots\nhandle:strong System.Byte[],2\nhandle:pinned System.Byte[],1\n");
  }
}

// What takes most comes first, however few they are; --sort instances is the other order.
TEST(Words, WaysBySize) {
  for (const HeapShape &shape : shapes) {
    Held t(shape);
    auto first_is = [](const std::string &text, const std::string &way, const std::string &other) {
      return has(text, way) && has(text, other) && text.find(way) < text.find(other);
    };
    const std::string strong = "handle:strong Shop.Order", pinned = "handle:pinned System.Byte[]";
    EXPECT_TRUE(first_is(about(*t.snapshot, "path", "Order|Byte"), pinned, strong));
    EXPECT_TRUE(first_is(about(*t.snapshot, "path", "Order|Byte", "bytes"), pinned, strong));
    EXPECT_TRUE(first_is(about(*t.snapshot, "path", "Order|Byte", "instances"), strong, pinned));
    EXPECT_THROW(about(*t.snapshot, "path", "0x" + hex_of(t.small), "bytes"), UsageError);
  }
}

// The note that names are equal is for whoever sees such a row.
TEST(Words, EqualNamesAreNotedWhereTheyAreSeen) {
  for (const HeapShape &shape : shapes) {
    Held t(shape);
    Question question;
    question.top = 1;
    EXPECT_FALSE(has(ask(*t.snapshot, "stat", question), "equal names"));
    question.top = 2;
    EXPECT_TRUE(has(ask(*t.snapshot, "stat", question), "equal names"));
    question.type_exact = "byte[]";
    EXPECT_FALSE(has(ask(*t.snapshot, "stat", question), "equal names"));
  }
}

// A delegate that calls many: how many, and alike ones once.
TEST(Words, DelegatesOfManyTargets) {
  for (const HeapShape &shape : shapes) {
    HeapBuilder heap(shape);
    const u32 p = static_cast<u32>(heap.p);
    MetadataWriter &core = heap.core().metadata;
    auto field = [&](const char *name, u32 word, ElementType type) {
      return FieldShape{
          core.field(name, field_signature(element(type == ElementType::Class ? ElementType::Object : type))), type,
          word * p};
    };
    u32 rid = core.type("System", "Delegate");
    std::vector<FieldShape> fields = {
        field("_target", 0, ElementType::Class), field("_methodBase", 1, ElementType::Class),
        field("_methodPtr", 2, ElementType::I), field("_methodPtrAux", 3, ElementType::I)};
    const Address base = heap.method_table({.base_size = 6 * p, .rid = rid, .module = heap.core().module});
    heap.fields(base, fields);
    rid = core.type("System", "MulticastDelegate");
    fields = {field("_invocationList", 4, ElementType::Class), field("_invocationCount", 5, ElementType::I)};
    const Address multicast =
        heap.method_table({.base_size = 8 * p, .rid = rid, .module = heap.core().module, .parent = base});
    heap.fields(multicast, fields);
    const Address type = heap.method_table(
        {.base_size = 8 * p, .rid = heap.app().metadata.type("Shop", "Handler"), .parent = multicast});
    SegmentWriter &young = heap.segment(GCSegmentGeneration::gen0);
    auto delegate = [&](u64 code, Address list, u64 count) {
      const Address out = young.object(type);
      young.store(out + 3 * p, code, p);
      young.store(out + 5 * p, list, p);
      young.store(out + 6 * p, count, p);
      return out;
    };
    std::vector<Address> parts;
    for (int i = 0; i < 3000; ++i)
      parts.push_back(delegate(i == 1500 ? 0x5000 : 0x4000, 0, 0));
    for (u64 code = 0x6000; code < 0x6006; ++code)
      parts.push_back(delegate(code, 0, 0));
    const Address list = young.object(heap.object_array_type, parts.size());
    for (u64 i = 0; i < parts.size(); ++i)
      young.store(list + (2 + i) * p, parts[i], p);
    const Address all = delegate(0x7000, list, parts.size()), one = parts[0];
    Snapshot snapshot(heap.target(), {});
    const std::string text = about(snapshot, "show", "0x" + hex_of(all));
    EXPECT_TRUE(has(text,
                    "calls        3,006 targets: <code 0x4000> ×2,999, <code 0x5000>, <code 0x6000>, <code 0x6001> "
                    "and 4 other methods\n"))
        << text.substr(0, 600);
    EXPECT_TRUE(has(about(snapshot, "show", "0x" + hex_of(one)), "calls        <code 0x4000>\n"));
  }
}

} // namespace
} // namespace dnheap::test
