// NativeAOT: names of fields, static ones and those of threads, from the program's debug file.
#include "objects/object_graph.h"
#include "objects/roots.h"
#include "snapshot/snapshot.h"
#include "support/aot_builder.h"
#include "support/debug_file_writer.h"
#include "support/dwarf_writer.h"
#include "support/run.h"

#include <gtest/gtest.h>
#include <set>

namespace dnheap::test {
namespace {

// class Node { object _next; int _count; } class Leaf : Node { Two _two; } struct Two { object A, B; }
// class Cache { static object _items; static Two _two; [ThreadStatic] static object t_own; }
// [InlineArray(4)] struct Four { object Item; }
// class Other { [ThreadStatic] static object t_first; [ThreadStatic] static Two t_two; }
struct Program {
  explicit Program(const AotShape &shape) : heap(shape), p(heap.p) {
    node = heap.type("Shop", "Node", 2);
    leaf = heap.type("Shop", "Leaf", 4);
    two = heap.type("Shop", "Two", 2);
    four = heap.type("Shop", "Four", 4);
    cache = heap.type("Shop", "Cache", 1);
    twos = heap.array(two, static_cast<u32>(2 * p));
    matrix = heap.array(node, static_cast<u32>(p), 2);
    heap.data.word(twos, 0xe0020000 | (2 * p) | has_pointers());
    heap.data.word(matrix, 0xdc020000 | p | has_pointers());
    held = heap.statics(3);
    inlined = heap.statics(5);
    AotSegment &young = heap.segment(GCSegmentGeneration::gen0);
    first = heap.object(young, node);
    second = heap.object(young, node);
    statics = heap.object(young, held);
    threads = heap.object(young, inlined);
    grid = heap.object(young, matrix, 6);
    young.block.word(grid + 2 * p, 2);
    young.block.word(grid + 2 * p + 4, 3);
    for (auto [at, value] : {std::pair{statics + p, first},
                             {statics + 3 * p, second},
                             {threads + p, first},
                             {threads + 4 * p, second},
                             {threads + 5 * p, first}})
      young.block.pointer(at, value);
    cell = heap.static_cell(statics);
    heap.threads[1].inlined_statics = {threads};
    own_index = heap.data.words({0, 0 - p});
    other_index = heap.data.words({0, 0 - 2 * p});
    lost_index = heap.data.words({0, 0 - 5 * p});
    inlined_cell = heap.data.words({inlined});
  }
  u32 has_pointers() const { return heap.shape.major <= 3 ? 0x200000 : 0x1000000; }

  // What the compiler describes; `change` may add to it, or leave things out.
  struct Changes {
    u64 node_size = 0;   // more than it has
    bool no_two = false; // one of the static fields is missing
  };
  std::string debug_file(const Changes &changes) const {
    DwarfWriter dwarf({heap.shape.format, 4, false});
    dwarf.begin_unit("NetRuntime");
    const u64 object = dwarf.class_type("Object", p, 0, {{"m_pEEType", 0, 0}})[0];
    const u64 to = dwarf.reference(dwarf.declaration("Object")), number = dwarf.base_type("int", 5, 4);
    const u64 of_two = dwarf.declaration("shop_Shop_Two");
    const u64 base = dwarf.class_type("shop_Shop_Node", 3 * p + changes.node_size, object,
                                      {{"_next", to, p}, {"_count", number, 2 * p}})[0];
    dwarf.class_type("shop_Shop_Two", 2 * p, 0, {{"A", to, 0}, {"B", to, p}});
    dwarf.class_type("shop_Shop_Four", 4 * p, 0, {{"Item", to, 0}});
    dwarf.class_type("shop_Shop_Leaf", 5 * p, base, {{"_two", of_two, 3 * p}});
    std::vector<DwarfWriter::StaticField> fields = {{"_items", to}};
    if (!changes.no_two)
      fields.push_back({"_two", of_two});
    fields.push_back({"t_own", to});
    std::vector<u64> at = dwarf.class_type("shop_Shop_Cache", p, object, {}, fields);
    dwarf.class_type("shop_Shop_Other", p, object, {}, {{"t_first", to}, {"t_two", of_two}});
    dwarf.place(at[1], cell - heap.base(), p);
    if (!changes.no_two)
      dwarf.place(at[2], cell - heap.base(), 2 * p);
    dwarf.end_unit();
    DebugFileWriter out{.format = heap.shape.format, .build_id = {1, 2, 3, 4}};
    out.more = {{".debug_info", dwarf.info()}, {".debug_abbrev", dwarf.abbrev()}, {".debug_str", dwarf.strings()}};
    for (auto &[name, place] : std::map<std::string, Address>{{"_ZTV14shop_Shop_Node", node},
                                                              {"_ZTV14shop_Shop_Leaf", leaf},
                                                              {"_ZTV19Boxed_shop_Shop_Two", two},
                                                              {"_ZTV20Boxed_shop_Shop_Four", four},
                                                              {"_ZTV15shop_Shop_Cache", cache},
                                                              {"__GCSTATICSshop_Shop_Cache", cell},
                                                              {"__TypeThreadStaticIndexshop_Shop_Cache", own_index},
                                                              {"__TypeThreadStaticIndexshop_Shop_Other", other_index},
                                                              {"__TypeThreadStaticIndexshop_Shop_Lost", lost_index},
                                                              {"_inlinedThreadStatics", inlined_cell}})
      out.symbols.push_back({name, place - heap.base()});
    std::vector<std::byte> bytes = out.write();
    return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
  }
  std::unique_ptr<Snapshot> open(const Changes &changes) {
    std::unique_ptr<Target> target = heap.target();
    folder.write("shop.dbg", debug_file(changes));
    SnapshotOptions options;
    options.module_folders = {folder.path()};
    return std::make_unique<Snapshot>(std::move(target), options);
  }

  AotBuilder heap;
  const u64 p;
  Address node = 0, leaf = 0, two = 0, four = 0, cache = 0, twos = 0, matrix = 0, held = 0, inlined = 0;
  Address first = 0, second = 0, statics = 0, threads = 0, grid = 0;
  Address cell = 0, own_index = 0, other_index = 0, lost_index = 0, inlined_cell = 0;
  TemporaryFolder folder;
};

std::string places(Fields &fields, Address type) {
  std::string out;
  for (const InstanceField &f : fields.instance_fields(type))
    out += f.name + ":" + f.type_name + "@" + std::to_string(f.offset) + " ";
  return out;
}

TEST(NativeFields, NamesOfEverything) {
  for (const AotShape &shape : all_aot_shapes()) {
    SCOPED_TRACE(name_of(shape));
    Program program(shape);
    const u64 p = program.p;
    std::unique_ptr<Snapshot> snapshot = program.open({});
    Fields &fields = snapshot->runtime().fields();
    auto name = [&](Address type, u64 words) { return fields.text(fields.reference(type, words * p)); };
    EXPECT_EQ(name(program.node, 1), "._next");
    EXPECT_EQ(name(program.node, 2), "." + std::string(p == 8 ? "0x10" : "0x8")); // a number
    EXPECT_EQ(name(program.leaf, 1), "._next");
    EXPECT_EQ(name(program.leaf, 4), "._two.B");
    EXPECT_EQ(name(program.two, 1), ".A"); // boxed
    EXPECT_EQ(name(program.twos, 2 + 7), "[*].B");
    EXPECT_EQ(fields.exact_reference(0, program.twos, (2 + 7) * p), "[3].B");
    EXPECT_EQ(fields.exact_reference(program.grid, program.matrix, 2 * p + 16 + 4 * p), "[1,1]");
    EXPECT_EQ(name(program.held, 1), p == 8 ? ".0x8" : ".0x4");
    auto at = [&](const char *what, u64 words) { return what + ("@" + std::to_string(words * p)) + " "; };
    EXPECT_EQ(places(fields, program.leaf),
              at("_next:Object", 1) + at("_count:System.Int32", 2) + at("_two:Shop.Two", 3));
    ASSERT_EQ(fields.instance_fields(program.leaf).size(), 3u);
    EXPECT_EQ(fields.instance_fields(program.leaf)[2].method_table, program.two);
    EXPECT_EQ(fields.instance_fields(program.leaf)[2].declaring_type, program.leaf);
    EXPECT_EQ(fields.instance_fields(program.leaf)[0].declaring_type, program.node);
    EXPECT_EQ(places(fields, program.two), at("A:Object", 1) + at("B:Object", 2));
    EXPECT_EQ(places(fields, program.four), at("Item:Object", 1));
    ASSERT_EQ(fields.instance_fields(program.four).size(), 1u);
    EXPECT_EQ(fields.instance_fields(program.four)[0].count, 4u); // of an inline array
    EXPECT_EQ(fields.instance_fields(program.two)[0].count, 1u);
    EXPECT_TRUE(fields.notes().empty());
  }
}

using Named = std::set<std::pair<std::string, Address>>;

Named roots_of(const Snapshot &snapshot) {
  Named out;
  for (const Root &root : snapshot.roots().roots)
    if (root.kind == RootKind::static_field || root.kind == RootKind::thread_static)
      out.emplace(snapshot.roots().name(root), root.object);
  return out;
}

TEST(NativeFields, StaticFieldsAreRoots) {
  for (const AotShape &shape : all_aot_shapes()) {
    SCOPED_TRACE(name_of(shape));
    Program program(shape);
    std::unique_ptr<Snapshot> snapshot = program.open({});
    EXPECT_EQ(roots_of(*snapshot), (Named{{"Shop.Cache.*", program.statics},
                                          {"Shop.Cache._items", program.first},
                                          {"Shop.Cache._two.B", program.second},
                                          {"(inlined)", program.threads},
                                          {"Shop.Cache.t_own", program.first},
                                          {"shop_Shop_Other.t_two.B", program.second},
                                          {"shop_Shop_Lost.*", program.first}}));
    EXPECT_EQ(snapshot->roots().holders, (std::vector<Address>{program.statics, program.threads}));
    // What the fields name is not told a second time as references of their holders.
    EXPECT_TRUE(snapshot->graph().edges().targets.empty());
  }
}

TEST(NativeFields, WhatDoesNotFitIsNotBelieved) {
  Program larger({});
  std::unique_ptr<Snapshot> snapshot = larger.open({.node_size = 8});
  Fields &fields = snapshot->runtime().fields();
  EXPECT_EQ(fields.text(fields.reference(larger.node, 8)), ".0x8");
  ASSERT_EQ(fields.notes().size(), 1u);
  EXPECT_EQ(fields.notes().texts()[0], "types whose fields in the debug file do not make up their size");

  Program fewer({});
  snapshot = fewer.open({.no_two = true});
  Named found = roots_of(*snapshot);
  EXPECT_TRUE(found.contains({"Shop.Cache.*", fewer.statics}));
  EXPECT_FALSE(found.contains({"Shop.Cache._items", fewer.first}));
  EXPECT_EQ(snapshot->roots().holders, (std::vector<Address>{fewer.threads}));
}

} // namespace
} // namespace dnheap::test
