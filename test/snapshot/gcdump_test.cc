// A .gcdump as a target: what is in the file is what a walk of the laid out memory finds.
#include "dump/records/gcdump.h"
#include "dump/records/gcdump_names.h"
#include "objects/object_graph.h"
#include "objects/roots.h"
#include "snapshot/snapshot.h"
#include "support/gcdump_writer.h"
#include "target/heap_record.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <random>

namespace dnheap::test {
namespace {

constexpr Address base = 0x7f0000000000;

std::unique_ptr<Snapshot> opened(const GcDumpWriter &writer, unsigned threads = 2) {
  const std::vector<std::byte> file = writer.write();
  std::unique_ptr<Target> target = open_gcdump(file, threads, {});
  EXPECT_TRUE(target);
  target->path = "x.gcdump";
  SnapshotOptions options;
  options.threads = threads;
  return std::make_unique<Snapshot>(std::move(target), options);
}

struct Seen {
  std::string type;
  u64 bytes = 0;
  std::vector<Address> references = {};
  bool operator==(const Seen &) const = default;
};
void PrintTo(const Seen &seen, std::ostream *out) {
  *out << seen.type << " " << seen.bytes << " →" << seen.references.size();
}

std::map<Address, Seen> objects_of(const Snapshot &snapshot) {
  std::map<Address, Seen> out;
  const ObjectGraph &graph = snapshot.graph();
  for (u64 i = 0; i < graph.objects(); ++i) {
    const auto id = static_cast<ObjectId>(i);
    const Address method_table = snapshot.references().types()[graph.type(id)].method_table;
    Seen seen{snapshot.runtime().types().name(method_table), 0};
    ReferenceReader reader(snapshot.references());
    OpenedObject object;
    EXPECT_TRUE(reader.open(snapshot.index().address(id), object));
    seen.bytes = object.size;
    for (ObjectId target : graph.edges().of(id))
      seen.references.push_back(snapshot.index().address(target));
    std::sort(seen.references.begin(), seen.references.end());
    out[snapshot.index().address(id)] = seen;
  }
  return out;
}

std::map<Address, Seen> objects_of(const GcDumpWriter &writer, u64 least) {
  std::map<Address, Seen> out;
  for (const GcDumpWriter::Node &node : writer.nodes) {
    if (!node.address || !node.type)
      continue;
    Seen seen{writer.types[node.type].name, std::max(node.size, least)};
    for (u32 child : node.children)
      if (writer.nodes[child].address && writer.nodes[child].type)
        seen.references.push_back(writer.nodes[child].address);
    std::sort(seen.references.begin(), seen.references.end());
    out[node.address] = seen;
  }
  return out;
}

std::string notes_of(const Snapshot &snapshot) {
  std::string out;
  for (const Note &note : snapshot.target().notes)
    out += note.text + "\n";
  return out;
}

// Three nodes, one of which has no room for its second reference, as objects of collectible types.
GcDumpWriter small_dump() {
  GcDumpWriter out;
  out.add_group("[.NET Roots]");
  const u32 node = out.add_type("Shop.Node", 24, "/app/Shop.dll"), text = out.add_type("System.String");
  const u32 a = out.add_node(node, 24, base), b = out.add_node(node, 24, base + 24),
            c = out.add_node(text, 62, base + 48);
  out.nodes[a].children = {b, c};
  out.nodes[b].children = {a};
  const u32 field = out.add_group("[static var Shop.Node.first]", {a});
  const u32 statics = out.add_group("[static vars]", {field});
  const u32 pins = out.add_group("[pinning Handles]", {c});
  const u32 others = out.add_group("[other roots]", {pins});
  out.nodes[0].children = {statics, others};
  return out;
}

TEST(GcDump, ObjectsTypesAndReferencesAreThoseOfTheFile) {
  const GcDumpWriter writer = small_dump();
  const std::unique_ptr<Snapshot> snapshot = opened(writer);
  EXPECT_EQ(objects_of(*snapshot), objects_of(writer, 24));
  EXPECT_EQ(snapshot->tally().walk.bad_objects, 0u);
  EXPECT_EQ(snapshot->graph().bad_references(), 0u);
  EXPECT_EQ(notes_of(*snapshot), "");
}

TEST(GcDump, RootsHaveTheirKindsAndNames) {
  const std::unique_ptr<Snapshot> snapshot = opened(small_dump());
  const RootSet &roots = snapshot->roots();
  ASSERT_EQ(roots.roots.size(), 2u);
  EXPECT_EQ(kind_text(roots.roots[0]), "handle:pinned");
  EXPECT_EQ(roots.roots[0].object, base + 48);
  EXPECT_EQ(roots.roots[1].kind, RootKind::static_field);
  // dotnet-gcdump names a static field by its own type.
  EXPECT_EQ(roots.name(roots.roots[1]), "first (Shop.Node)");
  EXPECT_EQ(roots.roots[1].object, base);
}

// Sizes, holes, orders and references of all kinds, in words of 4 and of 8 bytes.
TEST(GcDump, RandomHeapsAreLaidOutAsTheyAre) {
  for (u64 seed = 0; seed < 20; ++seed) {
    std::mt19937_64 random(seed);
    GcDumpWriter writer;
    writer.is_64_bit = seed % 3 != 0;
    const u64 p = writer.is_64_bit ? 8 : 4;
    writer.add_group("[.NET Roots]");
    std::vector<u32> types;
    for (int i = 0; i < 12; ++i)
      types.push_back(writer.add_type("Type" + std::to_string(i)));
    std::vector<u32> objects;
    Address at = writer.is_64_bit ? base : 0x10000000;
    for (int i = 0; i < 3000; ++i) {
      const u64 number = random() % types.size();
      u64 size = 3 * p + number * p; // of a fixed size, or
      if (number % 3 == 1)
        size += random() % 40 * p; // an array of references
      if (number % 3 == 2)
        size += random() % 50; // a string
      objects.push_back(writer.add_node(types[number], size, at));
      at += (size + p - 1) / p * p;
      switch (random() % 8) {
      case 0: at += 3 * p + random() % 100 * p; break;
      case 1: at += random() % 100 ? p : u64{3} << 20; break; // less than the smallest object; or another segment
      default: break;
      }
    }
    for (u32 object : objects)
      if (writer.nodes[object].type % 3 != 0)
        for (u64 i = random() % 5; i; --i)
          writer.nodes[object].children.push_back(objects[random() % objects.size()]);
    for (u32 object : objects) // sizes are whole words where there are references
      if (!writer.nodes[object].children.empty() && writer.nodes[object].type % 3 == 0)
        writer.nodes[object].children.clear();
    std::vector<u32> held(objects.begin(), objects.begin() + 10);
    writer.nodes[0].children = {writer.add_group("[local vars]", held)};
    std::map<Address, Seen> expected = objects_of(writer, 3 * p);
    std::map<std::string, bool> refers;
    for (const auto &[address, seen] : expected)
      refers[seen.type] = refers[seen.type] || !seen.references.empty();
    for (auto &[address, seen] : expected)
      if (refers[seen.type])
        seen.bytes = (seen.bytes + p - 1) / p * p;
    for (unsigned threads : {1u, 3u}) {
      const std::unique_ptr<Snapshot> snapshot = opened(writer, threads);
      EXPECT_EQ(objects_of(*snapshot), expected) << seed;
      EXPECT_EQ(snapshot->tally().walk.bad_objects, 0u) << seed;
      EXPECT_EQ(notes_of(*snapshot), "") << seed;
    }
  }
}

TEST(GcDump, ObjectsInsideOfOthersAreLeftOutWithANote) {
  GcDumpWriter writer = small_dump();
  writer.add_node(writer.nodes[1].type, 24, base + 32);  // in the second
  writer.add_node(writer.nodes[1].type, 24, base + 201); // odd
  const std::unique_ptr<Snapshot> snapshot = opened(writer);
  EXPECT_EQ(snapshot->index().count(), 2u); // what begins inside of the second, and what begins inside of that
  EXPECT_NE(notes_of(*snapshot).find("left out: at an odd address, or inside of another object"), std::string::npos);
}

TEST(GcDump, SegmentsGiveGenerations) {
  GcDumpWriter writer = small_dump();
  writer.segments = {{base, base + 24, {base + 24, base, base, base, base}},
                     {base + 24, base + 200, {base + 200, base + 200, base + 200, base + 24, base + 24}}};
  const std::unique_ptr<Snapshot> snapshot = opened(writer);
  std::map<GCSegmentGeneration, u64> counts;
  for (const TypeTally &type : snapshot->tally().types)
    for (u64 i = 0; i < generation_count; ++i)
      if (type.method_table != snapshot->runtime().types().free_object_method_table())
        counts[static_cast<GCSegmentGeneration>(i)] += type.generations[i].count;
  EXPECT_EQ(counts[GCSegmentGeneration::gen0], 1u);
  EXPECT_EQ(counts[GCSegmentGeneration::gen2], 2u);
  EXPECT_TRUE(snapshot->target().record->has_generations);
}

TEST(GcDump, WhatIsBehindTheGraphIsRead) {
  GcDumpWriter writer = small_dump();
  writer.ticks = 621355968000000000 + 17 * 10000000LL;
  writer.process = "shop";
  writer.pid = 4711;
  writer.has_interop = true;
  const std::unique_ptr<Target> target = open_gcdump(writer.write(), 1, {});
  EXPECT_EQ(target->program, "shop");
  EXPECT_EQ(target->pid, 4711u);
  ASSERT_TRUE(target->taken);
  EXPECT_EQ(target->taken->seconds, 17u);
  EXPECT_EQ(target->record->source, "a .gcdump of dotnet-gcdump");
}

TEST(GcDump, SamplesAndUndescribedObjectsAreNotes) {
  GcDumpWriter writer = small_dump();
  writer.sampling = 2.5F;
  const u32 unknown = writer.add_node(0, 0, base + 0x1000);
  writer.nodes[1].children.push_back(unknown);
  const std::unique_ptr<Snapshot> snapshot = opened(writer);
  EXPECT_NE(notes_of(*snapshot).find("1 object is referred to, but not described"), std::string::npos);
  EXPECT_NE(notes_of(*snapshot).find("is a sample"), std::string::npos);
}

TEST(GcDump, GroupsThatLeadToEachOtherEnd) {
  GcDumpWriter writer = small_dump();
  const u32 loop = writer.add_group("[loop]");
  writer.nodes[loop].children = {loop, 0};
  writer.nodes[0].children.push_back(loop);
  EXPECT_EQ(opened(writer)->roots().roots.size(), 2u);
}

// A file cut anywhere is an Error, or the part that is there; never anything else.
TEST(GcDump, CutFilesAreErrors) {
  const std::vector<std::byte> whole = small_dump().write();
  for (u64 size = 24; size < whole.size(); ++size) {
    const std::vector<std::byte> part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    try {
      if (const std::unique_ptr<Target> target = open_gcdump(part, 1, {})) {
        EXPECT_EQ(target->record->roots.size(), 2u) << size; // only what is behind the graph is cut off
      }
    } catch (const Error &) {
    }
  }
}

TEST(GcDump, NodesThatShareTheirBytesAreAnError) {
  GcDumpWriter writer = small_dump();
  std::vector<u32> many(5000, 1);
  writer.add_node(writer.nodes[1].type, 24, base + 0x10000, many);
  std::vector<std::byte> file = writer.write();
  const Bytes bytes(file);
  // All places of nodes become that of the last one.
  const u64 count = writer.nodes.size();
  for (u64 at = 0; at + 4 * (count + 2) < file.size(); ++at)
    if (load<u32>(&file[at], ByteOrder::little) == count && load<u32>(&file[at + 4], ByteOrder::little) == 2) {
      for (u64 i = 0; i + 1 < count; ++i)
        std::copy_n(file.begin() + static_cast<std::ptrdiff_t>(at + 4 * count), 4,
                    file.begin() + static_cast<std::ptrdiff_t>(at + 4 + 4 * i));
      break;
    }
  EXPECT_THROW((void)open_gcdump(bytes, 1, {}), Error);
}

TEST(GcDump, NamesAreRestored) {
  const std::pair<const char *, const char *> names[] = {
      {"System.Byte[] (Bytes > 10K)", "System.Byte[]"},
      {"System.Collections.Generic.Dictionary<System.String,System.Int32>",
       "System.Collections.Generic.Dictionary<System.String, System.Int32>"},
      {"System.Int32<,>", "System.Int32[,]"},
      {"[]c", "<>c"},
      {"[]c__DisplayClass4_0", "<>c__DisplayClass4_0"},
      {"<Main>d__0", "<Main>d__0"},
      {"System.Int32[][]", "System.Int32[][]"},
      {"", ""},
      {"<", "<"},
      {"[] (Bytes > ", "[] (Bytes > "},
  };
  for (const auto &[listed, restored] : names)
    EXPECT_EQ(restored_type_name(listed), restored);
}

TEST(GcDump, OtherFilesOfTheFormatAreErrors) {
  GcDumpWriter writer = small_dump();
  writer.version = 7;
  EXPECT_THROW((void)open_gcdump(writer.write(), 1, {}), Error);
  EXPECT_FALSE(open_gcdump(std::vector<std::byte>(100), 1, {}));
}

} // namespace
} // namespace dnheap::test
