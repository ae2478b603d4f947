// `exceptions`: which are alike, which have another one inside, what they passed through, who deals with one; in every
// layout.
#include "base/not_found.h"
#include "base/text.h"
#include "support/opened.h"
#include "support/rows.h"

#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

struct Shop {
  explicit Shop(const HeapShape &shape) : heap(shape), old(heap.segment(GCSegmentGeneration::gen2)) {
    MetadataWriter &metadata = heap.app().metadata;
    auto field = [&](const char *name, ElementType type, u64 offset) {
      return FieldShape{metadata.field(name, field_signature(element(type))),
                        type == ElementType::I4 ? ElementType::I4 : ElementType::Class, static_cast<u32>(offset)};
    };
    const u32 size = static_cast<u32>(6 * heap.p);
    base = heap.method_table({.base_size = size, .rid = metadata.type("System", "Exception")});
    heap.fields(base, {field("_message", ElementType::String, 0), field("_innerException", ElementType::Object, heap.p),
                       field("_stackTrace", ElementType::Object, 2 * heap.p),
                       field("_HResult", ElementType::I4, 3 * heap.p)});
    failure = heap.method_table({.base_size = size, .rid = metadata.type("Shop", "Failure"), .parent = base});
    other = heap.type("Shop.Order", 4);
  }

  Address exception(Address type, u32 hresult, Address inner = 0) {
    const Address at = old.object(type);
    old.store(at + 2 * heap.p, inner, heap.p);
    old.store(at + 4 * heap.p, hresult, 4);
    return at;
  }

  HeapBuilder heap;
  SegmentWriter &old;
  Address base = 0, failure = 0, other = 0;
};

TEST(Exceptions, ThoseThatAreAlikeAreOneRow) {
  for (const HeapShape &shape : type_layouts()) {
    SCOPED_TRACE(name_of(shape));
    Shop shop(shape);
    const Address inner = shop.exception(shop.base, 0x80131500);
    for (int i = 0; i < 3; ++i)
      shop.exception(shop.failure, 0x80041234);
    const Address outer = shop.exception(shop.failure, 0x80041234, inner);
    shop.exception(shop.failure, 0x80041235);
    shop.old.object(shop.other);
    report::Answer answer = answer_of(shop.heap, "exceptions");
    std::vector<TextRow> rows = text_rows_of(answer, "exceptions");
    ASSERT_EQ(rows.size(), 4u);
    EXPECT_EQ(rows[0]["count"], "3");
    EXPECT_EQ(rows[0]["type"], "Shop.Failure");
    EXPECT_EQ(rows[0]["hresult"], "0x80041234");
    EXPECT_EQ(rows[0]["os_id"], "");
    EXPECT_EQ(rows[0]["thrown_in"], "(never thrown)");
    EXPECT_EQ(rows[1]["inner_type"], "System.Exception");
    EXPECT_EQ(rows[1]["address"], hex(outer));
    EXPECT_EQ(rows[2]["hresult"], "0x80041235");
    EXPECT_EQ(rows[3]["type"], "System.Exception");
    EXPECT_TRUE(text_rows_of(answer, "stacks").empty());
  }
}

TEST(Exceptions, OneByItsAddress) {
  for (const HeapShape &shape : type_layouts()) {
    SCOPED_TRACE(name_of(shape));
    Shop shop(shape);
    shop.exception(shop.failure, 0x80041234);
    const Address second = shop.exception(shop.failure, 0x80041234);
    const Address order = shop.old.object(shop.other);
    Question question;
    question.subject = hex(second);
    report::Answer answer = answer_of(shop.heap, "exceptions", question);
    std::vector<TextRow> rows = text_rows_of(answer, "exceptions");
    ASSERT_EQ(rows.size(), 1u);
    EXPECT_EQ(rows[0]["address"], hex(second));
    EXPECT_EQ(rows[0]["count"], "1");
    question.subject = hex(order);
    EXPECT_THROW(answer_of(shop.heap, "exceptions", question), NotFound);
    question.subject = "Shop.Failure";
    EXPECT_THROW(answer_of(shop.heap, "exceptions", question), UsageError);
  }
}

TEST(Exceptions, AThreadDealsWithTheOneThatItsHandleHolds) {
  for (const HeapShape &shape : type_layouts()) {
    SCOPED_TRACE(name_of(shape));
    Shop shop(shape);
    for (int i = 0; i < 2; ++i)
      shop.exception(shop.failure, 1);
    const Address thrown = shop.exception(shop.failure, 1);
    shop.heap.gc.handles = {{.type = HandleType::strong, .object = shop.old.object(shop.other)},
                            {.type = HandleType::strong, .object = thrown}};
    Notes problems;
    Address handle = 0;
    {
      Opened opened(shop.heap);
      for (const HandleData &one : opened.runtime.gc().get_handles(std::vector{HandleType::strong}, problems))
        if (one.object == thrown)
          handle = one.handle;
    }
    ASSERT_NE(handle, 0u);
    shop.heap.poke(shop.heap.threads[1].address + 0x300, handle, shop.heap.p);
    report::Answer answer = answer_of(shop.heap, "exceptions");
    std::vector<TextRow> rows = text_rows_of(answer, "exceptions");
    ASSERT_EQ(rows.size(), 2u);
    EXPECT_EQ(rows[0]["address"], hex(thrown));
    EXPECT_EQ(rows[0]["os_id"], std::to_string(shop.heap.threads[1].os_id));
    EXPECT_EQ(rows[1]["count"], "2");
    EXPECT_EQ(rows[1]["os_id"], "");
  }
}

// Where nothing is published: {…, previous, …, handle of the exception} for each, the one at hand first. What is none
// of that tells nothing.
TEST(Exceptions, OneThatWasThrownWhileAnotherWasDealtWith) {
  for (const HeapShape &shape : type_layouts())
    for (bool sound : {true, false}) {
      SCOPED_TRACE(name_of(shape));
      Shop shop(shape);
      const u64 p = shop.heap.p;
      const Address outer = shop.exception(shop.failure, 1), own = shop.exception(shop.failure, 2);
      shop.heap.gc.handles = {{.type = HandleType::strong, .object = outer},
                              {.type = HandleType::strong, .object = own}};
      const Address infos[] = {shop.heap.native.reserve(0x200), shop.heap.native.reserve(0x200)};
      std::map<Address, Address> handle_of;
      {
        Opened opened(shop.heap);
        Notes problems;
        for (const HandleData &one : opened.runtime.gc().get_handles(std::vector{HandleType::strong}, problems))
          handle_of[one.object] = one.handle;
      }
      ASSERT_EQ(handle_of.size(), 2u);
      const Address thread = shop.heap.threads[1].address;
      shop.heap.poke(thread + 0x300, handle_of[own], p);
      shop.heap.poke(thread + 0x300 + 2 * p, infos[0], p);
      shop.heap.poke(infos[0] + 8 * p, handle_of[own], p);
      shop.heap.poke(infos[0] + p, sound ? infos[1] : infos[0], p); // a circle
      shop.heap.poke(infos[1] + 8 * p, handle_of[outer], p);
      report::Answer answer = answer_of(shop.heap, "exceptions");
      std::vector<TextRow> rows = text_rows_of(answer, "exceptions");
      ASSERT_EQ(rows.size(), 2u);
      EXPECT_EQ(rows[0]["address"], hex(own));
      EXPECT_EQ(rows[0]["nested"], "false");
      EXPECT_EQ(rows[1]["address"], hex(outer));
      EXPECT_EQ(rows[1]["nested"], sound ? "true" : "false");
      EXPECT_EQ(rows[1]["os_id"], sound ? std::to_string(shop.heap.threads[1].os_id) : "");
    }
}

// Lengths and counts of a stack trace are any numbers.
TEST(Exceptions, AStackTraceThatIsNoneIsNotTold) {
  for (const HeapShape &shape : type_layouts()) {
    Shop shop(shape);
    const Address bytes = shop.heap.array(shop.heap.object_type, 1);
    for (u64 count : {u64{1}, u64{3}, ~u64{0}}) {
      const Address array = shop.old.object(bytes, 20 * shop.heap.p);
      shop.old.store(array + 2 * shop.heap.p, count, 4);
      const Address one = shop.exception(shop.failure, static_cast<u32>(count));
      shop.old.store(one + 3 * shop.heap.p, array, shop.heap.p);
    }
    report::Answer answer = answer_of(shop.heap, "exceptions");
    for (TextRow &row : text_rows_of(answer, "exceptions"))
      EXPECT_EQ(row["thrown_in"], "") << name_of(shape);
    EXPECT_NE(answer.completeness->notes.size(), 0u);
  }
}

// Without the names of .NET's own types nobody knows which objects are exceptions: that there are none is no answer.
TEST(Exceptions, WithoutNamesOfTypesNothingIsSaidToBeAbsent) {
  for (const HeapShape &shape : type_layouts())
    for (bool has_names : {true, false}) {
      SCOPED_TRACE(name_of(shape));
      Shop shop(shape);
      shop.exception(shop.failure, 0x80041234);
      if (!has_names)
        for (const ModuleWriter &module : shop.heap.modules)
          shop.heap.hole(module.image, module.image + shop.heap.assembly_file(module).size());
      for (const char *verb : {"exceptions", "locks", "async", "waste"}) {
        const report::Answer answer = answer_of(shop.heap, verb);
        const std::vector<std::string> notes = answer.completeness->notes.sentences();
        EXPECT_EQ(
            std::any_of(notes.begin(), notes.end(),
                        [](const std::string &note) { return note.starts_with("the names of .NET's own types"); }),
            !has_names)
            << verb;
        EXPECT_TRUE(has_names || !answer.completeness->complete()) << verb;
      }
    }
}

} // namespace
} // namespace dnheap::test
