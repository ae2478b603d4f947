// The exceptions inside an unhandled one, in words; circles and long chains end. Where they were thrown,
// test/real/crashes.py tells of real ones.
#include "analysis/verdict/exception_cause.h"
#include "analysis/verdict/exception_message.h"
#include "base/text.h"
#include "snapshot/snapshot.h"
#include "support/opened.h"

#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

struct Causes {
  explicit Causes(const HeapShape &shape) : heap(shape), old(heap.segment(GCSegmentGeneration::gen2)) {
    MetadataWriter &metadata = heap.app().metadata;
    auto field = [&](const char *name, ElementType type, u64 number) {
      return FieldShape{metadata.field(name, field_signature(element(type))),
                        type == ElementType::I4 ? ElementType::I4 : ElementType::Class,
                        static_cast<u32>(number * heap.p)};
    };
    const u32 size = static_cast<u32>(6 * heap.p);
    const Address base = heap.method_table({.base_size = size, .rid = metadata.type("System", "Exception")});
    heap.fields(base, {field("_message", ElementType::String, 0), field("_innerException", ElementType::Object, 1),
                       field("_stackTrace", ElementType::Object, 2), field("_HResult", ElementType::I4, 3)});
    failure = heap.method_table({.base_size = size, .rid = metadata.type("Shop", "Failure"), .parent = base});
    reason = heap.method_table({.base_size = size, .rid = metadata.type("Shop", "Reason"), .parent = base});
  }

  Address exception(Address type, Address inner) {
    const Address at = old.object(type);
    put_inside(at, inner);
    return at;
  }
  void put_inside(Address exception, Address inner) { old.store(exception + 2 * heap.p, inner, heap.p); }

  std::string text(Address exception) {
    Snapshot snapshot(heap.target(), {});
    ExceptionObjects objects(snapshot);
    SourceLines lines(snapshot);
    const ExceptionObject read = objects.read({exception, method_table_of(snapshot.runtime().memory(), exception)});
    return ExceptionCause(snapshot, objects, lines).text(read);
  }

  bool has_message(Address exception) {
    Snapshot snapshot(heap.target(), {});
    ExceptionObjects objects(snapshot);
    return has_telling_message(snapshot, objects,
                               objects.read({exception, method_table_of(snapshot.runtime().memory(), exception)}));
  }
  void put_message(Address exception, Address text) { old.store(exception + heap.p, text, heap.p); }

  HeapBuilder heap;
  SegmentWriter &old;
  Address failure = 0, reason = 0;
};

TEST(ExceptionCause, AMessageIsWorthALook) {
  for (const HeapShape &shape : type_layouts()) {
    SCOPED_TRACE(name_of(shape));
    Causes causes(shape);
    const Address inner = causes.exception(causes.reason, 0), outer = causes.exception(causes.failure, inner);
    const Address empty = causes.old.string(""), telling = causes.old.string("no connection");
    EXPECT_FALSE(causes.has_message(outer));
    causes.put_message(inner, empty);
    EXPECT_FALSE(causes.has_message(outer));
    causes.put_message(inner, telling);
    EXPECT_TRUE(causes.has_message(outer));
    causes.put_inside(inner, outer); // a circle
    causes.put_message(inner, 0);
    EXPECT_FALSE(causes.has_message(outer));
  }
}

TEST(ExceptionCause, NamesEachCause) {
  for (const HeapShape &shape : type_layouts()) {
    SCOPED_TRACE(name_of(shape));
    Causes causes(shape);
    const Address innermost = causes.exception(causes.reason, 0);
    const Address middle = causes.exception(causes.failure, innermost);
    const Address outer = causes.exception(causes.failure, middle);
    EXPECT_EQ(causes.text(innermost), "Shop.Reason " + hex(innermost));
    EXPECT_EQ(causes.text(outer), "Shop.Failure " + hex(outer) + ", caused by Shop.Failure, caused by Shop.Reason");
  }
}

TEST(ExceptionCause, LeavesOutTheMiddleOfALongChain) {
  const std::string three = ", caused by Shop.Failure, caused by Shop.Failure, caused by Shop.Failure, …, caused by ";
  for (const auto &[length, end] : {std::pair(6, "Shop.Reason"), std::pair(100, "Shop.Failure, …")}) {
    Causes causes({});
    Address outer = causes.exception(causes.reason, 0);
    for (int i = 0; i < length; ++i)
      outer = causes.exception(causes.failure, outer);
    EXPECT_EQ(causes.text(outer), "Shop.Failure " + hex(outer) + three + end);
  }
}

TEST(ExceptionCause, EndsInACircle) {
  Causes causes({});
  const Address first = causes.exception(causes.failure, 0), second = causes.exception(causes.reason, first);
  causes.put_inside(first, second);
  EXPECT_EQ(causes.text(first), "Shop.Failure " + hex(first) + ", caused by Shop.Reason, …");
}

TEST(ExceptionCause, EndsAtAnExceptionInsideItself) {
  Causes causes({});
  const Address alone = causes.exception(causes.failure, 0);
  causes.put_inside(alone, alone);
  EXPECT_EQ(causes.text(alone), "Shop.Failure " + hex(alone) + ", …");
}

} // namespace
} // namespace dnheap::test
