// NativeAOT dumps that lack what the program's file holds: as gcore and createdump --withheap write them. And damage.
#include "snapshot/snapshot.h"
#include "support/aot_builder.h"
#include "support/debug_file_writer.h"
#include "support/run.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <random>

namespace dnheap::test {
namespace {

using Outcome = Provenance::Outcome;

struct Dump {
  enum Kind { as_gcore, with_heap };

  Dump(const AotShape &shape, Kind kind, const char *node_name = "Node") : heap(shape) {
    cell = heap.static_cell(0);
    node = heap.type("Shop", node_name, 2);
    odd = heap.type("", "Größe2", 1);
    pair = heap.definition("Shop", "Pair`2", 2);
    both = heap.instance(pair, {node, heap.string_type}, 1);
    AotSegment &young = heap.segment(GCSegmentGeneration::gen0);
    for (u64 i = 0; i < 20; ++i)
      heap.object(young, i % 2 ? both : node);
    heap.object(heap.segment(GCSegmentGeneration::gen2), heap.string_type, 7);
    heap.target();
    if (kind == as_gcore) // symbols are there: what nobody wrote to is not
      heap.hole(heap.constants.address(), heap.constants.end());
    else
      heap.hole(heap.constants.address(), heap.initialised.second);
    std::vector<std::byte> bytes = heap.program_file();
    file.assign(reinterpret_cast<const char *>(bytes.data()), bytes.size());
  }
  std::unique_ptr<Snapshot> open() {
    SnapshotOptions options;
    options.module_folders = {folder.path()};
    options.threads = 2;
    return std::make_unique<Snapshot>(heap.target(), options);
  }
  std::string error() {
    try {
      open()->runtime();
    } catch (const Error &e) {
      return e.what();
    }
    return "";
  }

  AotBuilder heap;
  // What `strip` took from the program.
  std::string debug_file(const std::vector<u8> &build_id) const {
    DebugFileWriter out{.format = heap.shape.format, .build_id = build_id};
    auto add = [&](const std::string &name, Address at) { out.symbols.push_back({name, at - heap.base()}); };
    add("_ZTV6String", heap.string_type);
    add("_ZTV14shop_Shop_Node", node);
    add("_ZTV16shop_Shop_Pair_2", pair);
    add("_ZTV38shop_Shop_Pair_2<shop_Shop_Node__String>", both);
    add("_ZTV11shop_Gr__e2", odd); // of "Größe2" nothing can be made
    add("__GCSTATICSshop_Shop_Node", cell);
    add("__GCSTATICSshop_Shop_Node__PreInitData", cell + 8);
    std::vector<std::byte> bytes = out.write();
    return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
  }

  Address node = 0, pair = 0, both = 0, odd = 0, cell = 0;
  std::string file;
  TemporaryFolder folder;
};

TEST(NativeAotFile, TheProgramIsLaidUnder) {
  for (const AotShape &shape : all_aot_shapes())
    for (Dump::Kind kind : {Dump::as_gcore, Dump::with_heap}) {
      SCOPED_TRACE(name_of(shape) + (kind == Dump::as_gcore ? " gcore" : " createdump --withheap"));
      Dump dump(shape, kind);
      dump.folder.write("shop", dump.file);
      std::unique_ptr<Snapshot> snapshot = dump.open();
      EXPECT_EQ(snapshot->runtime().version(), std::to_string(shape.major + 5) + ".0");
      ASSERT_EQ(snapshot->target().provenance.size(), 1u);
      EXPECT_EQ(snapshot->target().provenance[0].outcome, Outcome::used);
      EXPECT_EQ(snapshot->target().provenance[0].identity, "build id 01020304");
      EXPECT_EQ(snapshot->tally().walk.objects, dump.heap.objects.size());
      EXPECT_EQ(snapshot->tally().walk.bad_objects, 0u);
      EXPECT_TRUE(snapshot->heap().notes().empty());
      EXPECT_EQ(snapshot->runtime().types().name(dump.node), "Shop.Node");
      EXPECT_EQ(snapshot->runtime().types().name(dump.both), "Shop.Pair<Shop.Node, System.String>");
      // What the file says of variables is never taken for what they held.
      EXPECT_EQ(snapshot->target().memory.known_bytes(dump.heap.initialised.first, dump.heap.initialised.second),
                kind == Dump::as_gcore ? dump.heap.initialised.second - dump.heap.initialised.first : 0);
    }
}

TEST(NativeAotFile, NamesFromTheDebugFile) {
  std::vector<AotShape> shapes = all_aot_shapes();
  for (const AotShape &shape : all_n1_shapes())
    shapes.push_back(shape);
  for (AotShape shape : shapes) {
    SCOPED_TRACE(name_of(shape));
    shape.metadata = false;
    Dump dump(shape, Dump::as_gcore);
    dump.heap.poke(dump.cell, dump.heap.objects[0].address, dump.heap.p);
    dump.folder.write("shop", dump.file);
    auto name = [&](Snapshot &snapshot, Address type) { return snapshot.runtime().types().name(type); };
    auto statics = [](Snapshot &snapshot) {
      Notes problems;
      std::vector<StaticRoot> roots = snapshot.runtime().static_roots(problems);
      EXPECT_TRUE(problems.empty());
      return roots.empty() ? "" : roots[0].name;
    };
    std::unique_ptr<Snapshot> without = dump.open();
    EXPECT_TRUE(name(*without, dump.node).starts_with("shop!0x"));
    EXPECT_TRUE(statics(*without).starts_with("shop!0x"));

    dump.folder.write("shop.dbg", dump.debug_file({1, 2, 3, 4}));
    std::unique_ptr<Snapshot> with = dump.open();
    EXPECT_EQ(name(*with, dump.node), "Shop.Node");
    EXPECT_EQ(name(*with, dump.both), "Shop.Pair<Shop.Node, System.String>");
    EXPECT_EQ(name(*with, dump.odd), "shop_Gr__e2");
    EXPECT_EQ(statics(*with), "Shop.Node.*");
    ASSERT_EQ(with->target().provenance.size(), 2u);
    EXPECT_EQ(with->target().provenance[1].reason, "symbols");
    EXPECT_EQ(with->target().provenance[1].outcome, Outcome::used);

    std::filesystem::rename(dump.folder.path("shop.dbg"), dump.folder.path("4711")); // found by its build id
    std::unique_ptr<Snapshot> renamed = dump.open();
    EXPECT_EQ(name(*renamed, dump.node), "Shop.Node");
    std::filesystem::remove(dump.folder.path("4711"));

    dump.folder.write("shop.dbg", dump.debug_file({1, 2, 3, 5})); // of another build
    std::unique_ptr<Snapshot> other = dump.open();
    EXPECT_TRUE(name(*other, dump.node).starts_with("shop!0x"));
    ASSERT_EQ(other->target().provenance.size(), 2u);
    EXPECT_EQ(other->target().provenance[1].outcome, Outcome::rejected);
    EXPECT_NE(other->target().provenance[1].reason.find("build id 01020305 is not the dump's 01020304"),
              std::string::npos)
        << other->target().provenance[1].reason;
  }
}

// Names in the metadata count first.
TEST(NativeAotFile, MetadataBeforeTheDebugFile) {
  Dump dump({}, Dump::as_gcore);
  dump.folder.write("shop", dump.file);
  dump.folder.write("shop.dbg", dump.debug_file({1, 2, 3, 4}));
  std::unique_ptr<Snapshot> snapshot = dump.open();
  EXPECT_EQ(snapshot->runtime().types().name(dump.odd), "Größe2");
  EXPECT_EQ(snapshot->runtime().types().name(dump.node), "Shop.Node");
}

// Where the dump lacks the page with the program's headers nothing proves which file it was. One that fits is taken,
// and each of its names needs the hash of its type: those of another program have it not.
TEST(NativeAotFile, AnInferredProgram) {
  for (Format format : all_formats)
    for (bool descriptor : {false, true})
      for (const char *name : {"Node", "Mode"}) {
        SCOPED_TRACE(name_of(format) + " " + name + (descriptor ? " descriptor" : ""));
        const AotShape shape{.format = format, .header = !descriptor, .descriptor = descriptor};
        Dump dump(shape, Dump::as_gcore), other(shape, Dump::as_gcore, name);
        dump.heap.hole(dump.heap.base(), dump.heap.base() + 0x1000);
        dump.folder.write("shop", other.file);
        std::unique_ptr<Snapshot> snapshot = dump.open();
        EXPECT_EQ(snapshot->tally().walk.objects, dump.heap.objects.size());
        ASSERT_EQ(snapshot->target().provenance.size(), 1u);
        EXPECT_EQ(snapshot->target().provenance[0].identity, "inferred");
        std::string found = snapshot->runtime().types().name(dump.node);
        if (std::string_view(name) == "Node")
          EXPECT_EQ(found, "Shop.Node");
        else
          EXPECT_TRUE(found.starts_with("shop!0x")) << found;
      }
}

TEST(NativeAotFile, WithoutTheProgram) {
  for (Format format : all_formats) {
    SCOPED_TRACE(name_of(format));
    Dump described({.format = format, .header = false, .descriptor = true}, Dump::as_gcore);
    EXPECT_NE(described.error().find("if /srv/shop is a NativeAOT or single-file program, its file is needed"),
              std::string::npos)
        << described.error();
    Dump core({.format = format}, Dump::as_gcore);
    std::string error = core.error();
    EXPECT_NE(error.find("/srv/shop"), std::string::npos) << error;
    EXPECT_NE(error.find("give the folder of the program's file with --modules"), std::string::npos) << error;
    // Here not even that it is NativeAOT can be seen.
    Dump heap_dump({.format = format}, Dump::with_heap);
    error = heap_dump.error();
    EXPECT_NE(error.find("no .NET runtime found"), std::string::npos) << error;
    EXPECT_NE(error.find("if /srv/shop is a NativeAOT or single-file program, its file is needed"), std::string::npos)
        << error;
  }
}

TEST(NativeAotFile, AnotherProgramIsNotTaken) {
  Dump dump({}, Dump::as_gcore);
  std::string other = dump.file;
  std::size_t id = other.find("\x01\x02\x03\x04");
  ASSERT_NE(id, other.npos);
  other[id] = 9;
  dump.folder.write("shop", other);
  EXPECT_NE(dump.error().find("--modules"), std::string::npos);
}

// Whatever is damaged: an Error with a text, or an answer whose sum closes.
TEST(NativeAotFile, Damage) {
  std::mt19937_64 random(1);
  u64 answers = 0, errors = 0;
  std::vector<AotShape> shapes = all_aot_shapes();
  for (const AotShape &shape : all_n1_shapes())
    if (!shape.header || !shape.early)
      shapes.push_back(shape);
  for (const AotShape &shape : shapes)
    for (int round = 0; round < 25; ++round) {
      SCOPED_TRACE(name_of(shape) + ", round " + std::to_string(round));
      Dump dump(shape, Dump::as_gcore);
      dump.folder.write("shop", dump.file);
      if (round % 2)
        dump.folder.write("shop.dbg", dump.debug_file({1, 2, 3, 4}));
      AotBuilder &heap = dump.heap;
      const std::pair<Address, Address> stretches[] = {{heap.header, heap.initialised.second},
                                                       {heap.types, heap.data.end()},
                                                       {heap.variables.at("GcDacVars"), heap.types},
                                                       {heap.native.address(), heap.native.end()},
                                                       {heap.segments[0].start, heap.segments[0].block.end()}};
      const u64 values[] = {0, 1, ~u64{0}, 0x7fffffff, heap.native.address(), heap.free_type, heap.segments[0].start};
      for (int hits = 1 << random() % 5; hits; --hits) {
        auto [start, end] = stretches[random() % std::size(stretches)];
        Address at = start + random() % (end - start);
        if (random() % 2)
          heap.poke(at, random(), 1);
        else
          heap.poke(at & ~(heap.p - 1), values[random() % std::size(values)], heap.p);
      }
      try {
        std::unique_ptr<Snapshot> snapshot = dump.open();
        const HeapTally &tally = snapshot->tally();
        u64 gaps = 0;
        for (std::span<const Gap> list : {snapshot->heap().gaps(), tally.walk.gaps.listed()})
          for (const Gap &gap : list)
            gaps += gap.end - gap.start;
        EXPECT_EQ(tally.walk.bytes + snapshot->heap().context_bytes() + gaps, snapshot->heap().segment_bytes());
        for (const TypeTally &type : tally.types)
          EXPECT_FALSE(snapshot->runtime().types().name(type.method_table).empty());
        Notes problems;
        for (const StaticRoot &root : snapshot->runtime().static_roots(problems))
          EXPECT_NE(root.object, 0u);
        EXPECT_LT(problems.size(), 100u);
        ++answers;
      } catch (const Error &e) {
        EXPECT_GT(std::string_view(e.what()).size(), 20u) << e.what();
        EXPECT_LT(std::string_view(e.what()).size(), 4000u) << e.what();
        ++errors;
      }
    }
  // Both must be common, or the damage is not what it should be.
  EXPECT_GT(answers, errors / 4);
  EXPECT_GT(errors, answers / 40);
}

} // namespace
} // namespace dnheap::test
