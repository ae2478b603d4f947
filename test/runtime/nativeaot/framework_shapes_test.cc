// Fields of the framework's types, in NativeAOT programs without a debug file: where they lie, and when nothing is
// said.
#include "runtime/nativeaot/framework_shapes.h"
#include "runtime/nativeaot/native_aot.h"
#include "support/aot_shop.h"

#include <map>

namespace dnheap::test {
namespace {

std::map<std::string, u64> fields_of(AotBuilder &heap, Address type, u64 *unknown = nullptr) {
  if (heap.segments.empty())
    heap.segment(GCSegmentGeneration::gen2);
  OpenedAot opened(heap.target());
  FrameworkShapes shapes(opened.target->memory, opened.runtime->descriptor(),
                         dynamic_cast<NativeAot &>(*opened.runtime).types());
  std::map<std::string, u64> out;
  for (const InstanceField &field : shapes.fields(type))
    out[field.name] = field.offset;
  if (unknown)
    *unknown = shapes.unknown();
  return out;
}

// Eight references, two numbers of four bytes.
std::string exception_words(u64 p) { return p == 8 ? "rrrrrrrr." : "rrrrrrrr.."; }

Address exception(AotBuilder &heap, const std::string &words) {
  const Address type = heap.type("System", "Exception", words.size());
  heap.references(type, words);
  return type;
}

TEST(FrameworkShapes, ReferencesFirst) {
  std::vector<AotShape> shapes = all_aot_shapes();
  for (const AotShape &shape : all_n1_shapes())
    shapes.push_back(shape);
  for (const AotShape &shape : shapes) {
    SCOPED_TRACE(name_of(shape));
    AotBuilder heap(shape);
    const u64 p = heap.p;
    const std::string words = exception_words(p);
    const Address base = exception(heap, words), derived = heap.type("Shop", "Failure", words.size() + 2);
    heap.references(derived, words + ".r");
    heap.parent(derived, base);
    const std::map<std::string, u64> found = fields_of(heap, derived);
    EXPECT_EQ(found.size(), 10u);
    EXPECT_EQ(found.at("_message"), p);
    EXPECT_EQ(found.at("_innerException"), 3 * p);
    EXPECT_EQ(found.at("_corDbgStackTrace"), 8 * p);
    EXPECT_EQ(found.at("_HResult"), 9 * p);
    EXPECT_EQ(found.at("_idxFirstFreeStackTraceEntry"), 9 * p + 4);
  }
}

// One reference more, one that is none, another size: whatever such a type is, it is not the one that is known.
TEST(FrameworkShapes, OtherShapesAreNotNamed) {
  for (const char *words : {"rrrrrrrrr.", "rrrrrrr..", "rrrrrrrr..", "rrrrrrr.r"}) {
    AotBuilder heap(AotShape{});
    u64 unknown = 0;
    EXPECT_TRUE(fields_of(heap, exception(heap, words), &unknown).empty()) << words;
    EXPECT_EQ(unknown, 1u);
  }
}

TEST(FrameworkShapes, OtherTypes) {
  AotBuilder heap(AotShape{});
  const std::string words = exception_words(heap.p);
  const Address type = heap.type("Shop", "Exception", words.size());
  heap.references(type, words);
  u64 unknown = 0;
  EXPECT_TRUE(fields_of(heap, type, &unknown).empty());
  EXPECT_EQ(unknown, 0u);
}

// Head and tail of a queue's segment lie in lines of the cache, inside a struct without references.
TEST(FrameworkShapes, NumbersInAStructOfBytes) {
  AotBuilder heap(AotShape{});
  const std::string words = "rr." + std::string(24, '.'); // two references, a word of numbers, 192 bytes
  const Address definition = heap.definition("System.Collections.Concurrent", "ConcurrentQueueSegment`1", 1),
                segment = heap.instance(definition, {heap.string_type}, words.size());
  heap.references(segment, words);
  const std::map<std::string, u64> found = fields_of(heap, segment);
  ASSERT_EQ(found.size(), 8u);
  EXPECT_EQ(found.at("_nextSegment"), 16u);
  EXPECT_EQ(found.at("_slotsMask"), 24u);
  EXPECT_EQ(found.at("_headAndTail"), 32u);
  EXPECT_EQ(found.at("_headAndTail.Head"), 96u);
  EXPECT_EQ(found.at("_headAndTail.Tail"), 160u);
}

// What the target publishes of a managed type counts, whether or not the rest is as it is known.
TEST(FrameworkShapes, PublishedOffsets) {
  AotBuilder heap(
      {.header = false, .descriptor = true, .released = true}); // System.Threading.Thread._managedThreadId 24
  const Address type = heap.type("System.Threading", "Thread", 3);
  heap.references(type, "..r");
  const std::map<std::string, u64> found = fields_of(heap, type);
  EXPECT_EQ(found, (std::map<std::string, u64>{{"_managedThreadId", 24}}));
}

// Derived types lie in what a small parent leaves free; a struct that nobody boxes does not say where its references
// lie.
TEST(FrameworkShapes, ParentsWithoutFieldsAndStructsWithoutADescription) {
  AotBuilder heap(AotShape{});
  const u64 p = heap.p;
  const Address finalized = heap.type("System.Runtime.ConstrainedExecution", "CriticalFinalizerObject", 1),
                thread = heap.type("System.Threading", "Thread", 11);
  heap.references(thread, "rrrrrrrrr..");
  heap.parent(thread, finalized);
  const std::map<std::string, u64> found = fields_of(heap, thread);
  EXPECT_EQ(found.at("_name"), 4 * p);
  EXPECT_EQ(found.at("_threadState"), 10 * p);

  AotBuilder other(AotShape{});
  const Address task = other.type("System.Threading.Tasks", "Task", 6);
  other.references(task, "rrrrr.");
  const Address machine = other.type("Shop", "<Pay>d__1", 3);
  other.data.word(machine, 0x40000000); // a struct without a GCDesc
  const Address builder = other.definition("System.Runtime.CompilerServices", "AsyncTaskMethodBuilder`1", 1),
                definition = other.type("", "AsyncStateMachineBox`1", 1, builder);
  other.data.word(definition, 0x52030000);
  other.data.word(definition + 4, 2);
  const Address box = other.instance(definition, {other.string_type, machine}, 9);
  other.references(box, "rrrrr.r.r");
  other.parent(box, task);
  other.segment(GCSegmentGeneration::gen2);
  OpenedAot opened(other.target());
  FrameworkShapes shapes(opened.target->memory, opened.runtime->descriptor(),
                         dynamic_cast<NativeAot &>(*opened.runtime).types());
  const std::vector<InstanceField> of_box = shapes.fields(box), of_machine = shapes.fields(machine);
  ASSERT_FALSE(of_box.empty());
  EXPECT_EQ(of_box.back().name, "StateMachine");
  ASSERT_EQ(of_machine.size(), 1u);
  EXPECT_EQ(of_machine[0].offset, 2 * p);
}

// Two versions have the type, with different fields: the one that fits counts.
TEST(FrameworkShapes, TheVersionThatFits) {
  for (bool newer : {false, true}) {
    AotBuilder heap(AotShape{});
    const std::string words = newer ? "rrrr" : "rrr";
    const Address type = heap.type("System.Threading", "Condition", words.size());
    heap.references(type, words);
    const std::map<std::string, u64> found = fields_of(heap, type);
    EXPECT_EQ(found.at("_waitersHead"), (newer ? 3 : 2) * heap.p);
    EXPECT_EQ(found.contains("_waitEvent"), newer);
  }
}

// The box of an asynchronous method holds its variables as a struct, whose size is known by the struct's own type; the
// number of the await lies behind the references where no wider number can.
TEST(FrameworkShapes, StateMachines) {
  struct {
    const char *variables;
    std::optional<u64> state; // in words
  } cases[] = {{"r.r", 2}, {".r", 1}, {"rr..r", std::nullopt}, {"r", std::nullopt}};
  for (const auto &[variables, state] : cases)
    for (bool released : {false, true}) {
      SCOPED_TRACE(variables);
      AotBuilder heap({.header = !released, .descriptor = released, .released = released});
      const u64 p = heap.p, words = std::string_view(variables).size();
      const Address task = heap.type("System.Threading.Tasks", "Task", 6);
      heap.references(task, "rrrrr.");
      const Address typed = heap.type("Shop", "TaskOfNumber", 7); // as Task<int>, whose end nobody knows
      heap.references(typed, "rrrrr..");
      heap.parent(typed, task);
      const Address machine = heap.type("Shop", "<Pay>d__1", words);
      heap.references(machine, variables);
      heap.data.word(machine, 0x40000000 | heap.has_pointers()); // a struct
      const Address builder = heap.definition("System.Runtime.CompilerServices", "AsyncTaskMethodBuilder`1", 1),
                    definition = heap.type("", "AsyncStateMachineBox`1", 1, builder);
      heap.data.word(definition, 0x52030000);
      heap.data.word(definition + 4, 2);
      const Address box = heap.instance(definition, {heap.string_type, machine}, 7 + words);
      heap.references(box, std::string("rrrrr..") + variables);
      heap.parent(box, typed);
      const std::map<std::string, u64> found = fields_of(heap, box);
      EXPECT_EQ(found.at("m_stateFlags"), 6 * p + 4);
      EXPECT_EQ(found.at("StateMachine"), 8 * p);
      const std::map<std::string, u64> inside = fields_of(heap, machine);
      EXPECT_EQ(inside.contains("<>1__state"), state.has_value());
      EXPECT_EQ(state.value_or(0) * p, inside.contains("<>1__state") ? inside.at("<>1__state") : 0);
    }
}

} // namespace
} // namespace dnheap::test
