// A synthetic NativeAOT process with some of everything, and what it takes to walk it.
#pragma once
#include "heap/walk.h"
#include "runtime/find.h"
#include "support/aot_builder.h"

#include <gtest/gtest.h>

namespace dnheap::test {

// Every object, in the order of addresses.
class AotCollector {
public:
  AotCollector(const TypeSystem &types, const Heap &heap) : types_(types, heap) {}
  TypeTable &types() { return types_; }
  void begin_chunk(const ObjectRange &) {}
  void operator()(const Object &object) {
    objects.push_back({object.address, types_.method_table(object.type), object.size});
  }
  void end_chunk(const ChunkResult &) {}
  std::vector<AotObject> objects;

private:
  TypeTable types_;
};

// A process with some of everything, and the names of its types.
struct Shop {
  explicit Shop(const AotShape &shape) : heap(shape) {
    node = heap.type("Shop.Stock", "Node", 2);
    names = {{heap.object_type, "System.Object"}, {heap.string_type, "System.String"}, {node, "Shop.Stock.Node"}};
    auto add = [&](Address type, const char *name) {
      names[type] = name;
      return type;
    };
    Address inner = add(heap.type("", "Inner", 1, node), "Shop.Stock.Node+Inner");
    Address plain = add(heap.type("", "Größe", 1), "Größe");
    Address matrix = add(heap.array(node, 8, 2), "Shop.Stock.Node[,]");
    Address jagged = add(heap.array(matrix, static_cast<u32>(heap.p)), "Shop.Stock.Node[,][]");
    Address box = heap.definition("Shop", "Box`1", 1), pair = heap.definition("Shop", "Pair`2", 2);
    Address boxed = add(heap.instance(box, {heap.string_type}, 1), "Shop.Box<System.String>");
    // Whatever stands between module and definition.
    Address both = add(heap.instance(pair, {boxed, matrix}, 2, 0x540000),
                       "Shop.Pair<Shop.Box<System.String>, Shop.Stock.Node[,]>");
    made_up = heap.statics(3);

    AotSegment &old = heap.segment(GCSegmentGeneration::gen2), &young = heap.segment(GCSegmentGeneration::gen0),
               &more = heap.segment(GCSegmentGeneration::gen2), &large = heap.segment(GCSegmentGeneration::loh),
               &frozen = heap.segment(GCSegmentGeneration::frozen);
    for (Address type : {node, inner, plain, boxed, both, made_up, heap.object_type})
      heap.object(old, type);
    heap.object(young, heap.string_type, 0); // the smallest that there is
    heap.object(young, heap.string_type, 5);
    heap.object(young, jagged, 3);
    heap.context(young, 200);
    heap.object(young, node);
    heap.object(young, heap.free_type, 77);
    heap.object(more, matrix, 40);
    heap.object(large, matrix, 20000);
    heap.object(frozen, heap.string_type, 9);
  }

  AotBuilder heap;
  Address node = 0, made_up = 0;
  std::map<Address, std::string> names;
};

struct OpenedAot {
  explicit OpenedAot(std::unique_ptr<Target> of) : target(std::move(of)) {
    std::vector<FoundRuntime> found = find_runtimes(*target);
    if (found.size() != 1)
      throw Error(std::to_string(found.size()) + " runtimes found");
    runtime = found[0].open();
    heap = std::make_unique<Heap>(*runtime);
  }
  std::vector<AotObject> walk() const {
    std::vector<std::unique_ptr<AotCollector>> collectors;
    HeapWalk walk(*heap, target->memory, 1, {});
    WalkResult result = walk.run(collectors, [&] { return std::make_unique<AotCollector>(runtime->types(), *heap); });
    EXPECT_EQ(result.bad_objects, 0u);
    EXPECT_EQ(result.bytes + heap->context_bytes(), heap->segment_bytes());
    return collectors[0]->objects;
  }

  std::unique_ptr<Target> target;
  std::unique_ptr<Runtime> runtime;
  std::unique_ptr<Heap> heap;
};

} // namespace dnheap::test
