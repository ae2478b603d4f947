// `extract`: whatever the dump, every verb says of the core what it says of the dump, and with --no-values nothing of
// what strings and numbers held is left.
#include "analysis/verb.h"
#include "base/text.h"
#include "dump/open.h"
#include "report/write.h"
#include "snapshot/snapshot.h"
#include "support/core_file.h"
#include "support/random_graph.h"
#include "support/run.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <gtest/gtest.h>
#include <regex>

namespace dnheap::test {
namespace {

using G = GCSegmentGeneration;

constexpr const char *secret = "correct horse battery staple";

std::string text16(std::string_view text, ByteOrder order) {
  std::string out;
  for (char c : text)
    out += order == ByteOrder::little ? std::string{c, '\0'} : std::string{'\0', c};
  return out;
}

void replace_all(std::string &in, const std::string &what, const std::string &with) {
  for (std::size_t at = 0; (at = in.find(what, at)) != in.npos; at += with.size())
    in.replace(at, what.size(), with);
}

// JSON, or what the error says.
std::string answer_of(Snapshot &snapshot, const Verb &verb, const std::string &subject = {}, Question question = {}) {
  question.subject = subject;
  question.target = "TARGET";
  std::string out;
  try {
    report::Answer answer = ask(verb, snapshot, question);
    for (report::Fact &fact : answer.target)
      if (fact.key == "path")
        fact.value = "PATH";
    report::Sink sink(out);
    report::write_json(answer, {}, sink);
  } catch (const Error &e) {
    out = e.what();
  }
  const std::string &path = snapshot.target().path;
  if (!path.empty())
    replace_all(out, path, "");
  // Settings are values; which of the sources lacks them is another matter in an extract.
  static const std::regex settings(R"re(\{"problem":"[^"]*GC settings[^"]*"\},?\n?)re");
  return std::regex_replace(out, settings, "");
}

// Questions that take other ways than a verb's usual one.
struct Variant {
  const char *verb;
  Question question;
};

std::vector<Variant> variants() {
  std::vector<Variant> out = {{"stat", {}}, {"stat", {}},   {"objects", {}}, {"stat", {}},
                              {"show", {}}, {"verify", {}}, {"retained", {}}};
  out[0].question.life = Life::live;
  out[1].question.by = "retained";
  out[2].question.life = Life::dead;
  out[3].question.type_regex = "^Shop";
  out[4].question.closure = true;
  out[5].question.all = true;
  out[6].question.tree = true;
  return out;
}

const Verb &verb_named(std::string_view name) {
  for (const Verb &verb : verbs())
    if (verb.name == name)
      return verb;
  throw std::logic_error("no verb " + std::string(name));
}

void extract(std::unique_ptr<Target> target, const std::string &path, bool no_values) {
  SnapshotOptions options;
  options.threads = 2;
  options.record_reads = true;
  Snapshot snapshot(std::move(target), options);
  Question question;
  question.output = path;
  question.no_values = no_values;
  ask(verb_named("extract"), snapshot, question);
}

// `make` gives the same process at every call.
template <class Make> void expect_same_answers(Make make, const std::vector<Address> &objects) {
  TemporaryFolder folder;
  for (bool no_values : {false, true})
    for (const char *name : {"small.core", "small.core.zst"}) {
      SCOPED_TRACE(std::string(name) + (no_values ? ", no values" : ""));
      extract(make(), folder.path(name), no_values);
      std::unique_ptr<Snapshot> core = Snapshot::open(folder.path(name));
      Snapshot whole(make(), {});
      ASSERT_TRUE(core->target().extraction);
      EXPECT_EQ(core->target().extraction->values_blanked, no_values);
      for (const Verb &verb : verbs()) {
        if (!verb.answer || verb.makes_file || (verb.subject && !verb.subject.is_optional) ||
            verb.name == std::string("info") || // which says that it is a core
            // Which are of all memory, not of what is left of it.
            verb.name == std::string("account") || verb.name == std::string("report") ||
            verb.name == std::string("summary") || (no_values && verb.reads_contents)) // which says that it cannot tell
          continue;
        EXPECT_EQ(answer_of(*core, verb), answer_of(whole, verb)) << verb.name;
      }
      for (const Variant &variant : variants()) {
        const Verb &verb = verb_named(variant.verb);
        if (verb.subject && objects.empty())
          continue;
        const std::string subject = verb.subject ? hex(objects.at(objects.size() / 2)) : "";
        const std::string wanted = answer_of(whole, verb, subject, variant.question);
        const bool has_roots = wanted.find("without roots") == wanted.npos; // not all targets
        EXPECT_TRUE(!has_roots || wanted.find("\"dnheap/1\"") != wanted.npos) << verb.name << ": " << wanted;
        EXPECT_EQ(answer_of(*core, verb, subject, variant.question), wanted) << verb.name;
      }
      for (Address object : objects)
        for (const char *verb : {"show", "path"})
          EXPECT_EQ(answer_of(*core, verb_named(verb), hex(object)), answer_of(whole, verb_named(verb), hex(object)));
      EXPECT_EQ(answer_of(*core, verb_named("path"), "System.String"),
                answer_of(whole, verb_named("path"), "System.String"));
    }
}

void add_shop(HeapBuilder &heap) {
  Address order = heap.type("Shop.Order", 4), orders = heap.array(order, static_cast<u32>(heap.p));
  Address bytes = heap.array(heap.object_type, 1);
  SegmentWriter &old = heap.segment(G::gen2);
  Address first = old.object(order);
  old.string(secret);
  old.free(200);
  Address numbers = old.object(bytes, 100);
  for (u64 i = 0; i < std::string_view(secret).size(); ++i)
    old.store(numbers + 2 * heap.p + i, static_cast<u8>(secret[i]), 1);
  Address large = heap.segment(G::loh).object(orders, 30000);
  heap.segments.back().store(large + 2 * heap.p + 29999 * heap.p, first, heap.p);
  SegmentWriter &young = heap.segment(G::gen0);
  young.string("");
  heap.threads[0].context = young.context(104);
  Address last = young.object(order);
  heap.gc.handles = {{.type = HandleType::strong, .object = large},
                     {.type = HandleType::dependent, .object = large, .secondary = last}};
}

std::vector<Address> some_objects(const HeapBuilder &heap) {
  std::vector<Address> out;
  for (u64 i = 0; i < heap.objects.size() && out.size() < 12; i += 1 + heap.objects.size() / 12)
    out.push_back(heap.objects[i].address);
  return out;
}

TEST(Extract, EveryVerbAnswersTheSameInEveryFormat) {
  for (Format format : all_formats) {
    SCOPED_TRACE(name_of(format));
    HeapBuilder heap({.format = format});
    add_shop(heap);
    heap.target();
    expect_same_answers([&] { return heap.target(); }, some_objects(heap));
  }
}

// What is not published is looked for in all of the runtime's data.
TEST(Extract, DerivedLayouts) {
  for (Net net : {Net::net8, Net::net9, Net::net10}) {
    HeapBuilder heap({.net = net, .published = false});
    add_shop(heap);
    heap.target();
    expect_same_answers([&] { return heap.target(); }, {});
  }
}

TEST(Extract, ReferencesOfAllShapes) {
  std::mt19937_64 random(71);
  RandomGraph made({}, random, 4, 120);
  made.heap.target();
  expect_same_answers([&] { return made.heap.target(); }, some_objects(made.heap));
}

TEST(Extract, WhatTheDumpLacksStaysAGap) {
  HeapBuilder heap({});
  Address order = heap.type("Shop.Order", 4);
  SegmentWriter &old = heap.segment(G::gen2);
  for (int i = 0; i < 1000; ++i)
    old.object(order);
  for (int i = 0; i < 300; ++i)
    old.string("the walk looks for a chain of objects behind what is not sound");
  heap.hole(old.start + 4800, old.start + 4800 + 4096);
  heap.poke(old.start + 32000, 0x1234560, 8);
  heap.poke(old.end() - 9000, 0x1234560, 8);
  heap.gc.handles = {{.type = HandleType::strong, .object = old.start}};
  heap.target();
  expect_same_answers([&] { return heap.target(); }, {old.start});
}

// What a collection that plans has written, and where it hit an array's length.
TEST(Extract, WhileACollectionPlans) {
  HeapBuilder heap({});
  heap.structures_invalid = 1;
  Address order = heap.type("Shop.Order", 1), bytes = heap.array(heap.object_type, 1);
  for (G generation : {G::gen2, G::gen1}) {
    SegmentWriter &segment = heap.segment(generation);
    for (int i = 0; i < 200; ++i) {
      Address dead = segment.object(order);
      if (i % 2)
        segment.object(bytes, 16);
      Address plug = segment.object(order);
      segment.store(plug - 32, plug - dead, 8);
      segment.store(plug - 24, 0 - u64{160}, 8);
      segment.store(plug - 16, 0, 4);
      segment.store(plug + 8, dead + 24, 8);
    }
  }
  heap.gc.handles = {{.type = HandleType::strong, .object = heap.objects[5].address}};
  heap.target();
  EXPECT_GT(Snapshot(heap.target(), {}).tally().walk.bad_objects, 100u);
  expect_same_answers([&] { return heap.target(); }, {});
}

// An array of arrays of …: what describes types is followed one by one, as there may be any number.
TEST(Extract, ArraysOfArraysOfArrays) {
  HeapBuilder heap({});
  Address type = heap.object_array_type;
  for (int i = 0; i < 100'000; ++i)
    type = heap.array(type, static_cast<u32>(heap.p));
  heap.segment(G::gen2).object(type, 1);
  TemporaryFolder folder;
  extract(heap.target(), folder.path("core"), false);
  EXPECT_EQ(Snapshot::open(folder.path("core"))->tally().walk.objects, 1u);
}

TEST(Extract, NoValuesLeavesNone) {
  for (Format format : all_formats) {
    SCOPED_TRACE(name_of(format));
    HeapBuilder heap({.format = format});
    add_shop(heap);
    TemporaryFolder folder;
    for (bool no_values : {false, true}) {
      std::unique_ptr<Target> target = heap.target();
      target->program = "shop --password=" + std::string(secret);
      target->threads[0].registers = {0x1234567, heap.objects[0].address};
      extract(std::move(target), folder.path("core"), no_values);
      const std::string file = read_file(folder.path("core"));
      EXPECT_EQ(file.find(text16(secret, format.byte_order)) == file.npos, no_values);
      EXPECT_EQ(file.find(secret) == file.npos, no_values);
      std::unique_ptr<Snapshot> core = Snapshot::open(folder.path("core"));
      std::vector<u64> kept = {no_values ? 0u : 0x1234567u, heap.objects[0].address};
      EXPECT_EQ(core->target().threads[0].registers, kept);
    }
  }
}

// Metadata as it lies in an image. The literals of the program's code come last.
std::vector<std::byte> metadata_with(const std::string &literal) {
  MetadataWriter writer;
  writer.type("Shop", "Plugin");
  std::vector<std::byte> out = writer.write();
  for (u64 at = 8; at + 4 <= out.size(); ++at)
    if (text_at(out, at, 4) == "#US") {
      const u32 words[] = {static_cast<u32>(out.size()), static_cast<u32>(literal.size())};
      std::memcpy(out.data() + at - 8, words, sizeof words);
      break;
    }
  const Bytes bytes = std::as_bytes(std::span(literal));
  out.insert(out.end(), bytes.begin(), bytes.end());
  return out;
}

// A search that tries whatever a structure may point to runs through any page.
TEST(Extract, NoValuesLeavesNoLiteralsThoughTheyWereRead) {
  constexpr u64 page = 4096;
  const std::string here = text16("a key in the code", ByteOrder::little),
                    there = text16("a plugin's", ByteOrder::little);
  for (Format format : all_formats) {
    SCOPED_TRACE(name_of(format));
    HeapBuilder heap({.format = format});
    add_shop(heap);
    const std::vector<std::byte> read = metadata_with(here), other = metadata_with(there);
    const Address at = heap.native.append(read), image = heap.native.reserve(2 * page, page);
    heap.native.put(image, u64{'M'}, 1);
    heap.native.put(image + 1, u64{'Z'}, 1);
    for (u64 i = 0; i < other.size(); ++i) // its literals alone lie in the second page
      heap.native.put(image + page - (other.size() - there.size()) + i, static_cast<u64>(other[i]), 1);
    TemporaryFolder folder;
    for (bool no_values : {false, true}) {
      std::unique_ptr<Target> target = heap.target();
      Module plugin;
      plugin.path = "Plugin.dll";
      plugin.base = image;
      plugin.extents = {{image, image + 2 * page, 0}};
      target->modules.push_back(plugin);
      std::sort(target->modules.begin(), target->modules.end(),
                [](const Module &a, const Module &b) { return a.base < b.base; });
      SnapshotOptions options;
      options.record_reads = true;
      Snapshot snapshot(std::move(target), options);
      snapshot.target().memory.note_read(at, read.size());
      snapshot.target().memory.note_read(image + page, page);
      Question question;
      question.output = folder.path("core");
      question.no_values = no_values;
      ask(verb_named("extract"), snapshot, question);
      const std::string file = read_file(folder.path("core"));
      EXPECT_EQ(file.find(here) == file.npos, no_values);
      EXPECT_EQ(file.find(there) == file.npos, no_values);
      EXPECT_NE(file.find("Plugin"), file.npos);
    }
  }
}

// Its handle is a number, but `show` tells what it leads to, of each one.
TEST(Extract, WhatWeakReferencesLeadTo) {
  for (Format format : all_formats) {
    SCOPED_TRACE(name_of(format));
    HeapBuilder heap({.format = format});
    const u64 p = heap.p;
    const Address weak = heap.method_table(
        {.base_size = static_cast<u32>(3 * p), .rid = heap.app().metadata.type("System", "WeakReference")});
    heap.fields(weak, {{heap.app().metadata.field("_taggedHandle", field_signature(element(ElementType::I))),
                        ElementType::I, 0}});
    SegmentWriter &old = heap.segment(G::gen2);
    std::vector<Address> objects;
    for (int i = 0; i < 3; ++i) {
      const Address target = old.string("pear");
      objects.push_back(old.object(weak));
      old.store(objects.back() + p, heap.native.words({i == 2 ? 0 : target}), p);
    }
    heap.target();
    Snapshot snapshot(heap.target(), {});
    EXPECT_NE(answer_of(snapshot, verb_named("show"), hex(objects[1])).find("\"weak_target\":\"0x"), std::string::npos);
    EXPECT_NE(answer_of(snapshot, verb_named("show"), hex(objects[2])).find("\"weak_target\":null"), std::string::npos);
    expect_same_answers([&] { return heap.target(); }, objects);
  }
}

TEST(Extract, OfAnExtractedCoreIsTheSameAgain) {
  HeapBuilder heap({});
  add_shop(heap);
  TemporaryFolder folder;
  extract(heap.target(), folder.path("first"), true);
  extract(open_dump(folder.path("first")), folder.path("again"), true);
  EXPECT_EQ(read_file(folder.path("first")), read_file(folder.path("again")));
}

TEST(Extract, NothingIsLeftOfAFileThatCannotBeWritten) {
  HeapBuilder heap({});
  add_shop(heap);
  TemporaryFolder folder;
  EXPECT_THROW(extract(heap.target(), folder.path("no/such/folder"), false), Error);
  std::filesystem::create_directory(folder.path("folder"));
  EXPECT_THROW(extract(heap.target(), folder.path("folder"), false), Error);
  Progress progress;
  progress.cancel = true;
  SnapshotOptions options;
  options.record_reads = true;
  options.watch.progress = &progress;
  Snapshot snapshot(heap.target(), options);
  Question question;
  question.output = folder.path("core");
  EXPECT_THROW(ask(verb_named("extract"), snapshot, question), Interrupted);
  u64 files = 0;
  for (const auto &entry : std::filesystem::directory_iterator(folder.path()))
    files += entry.is_regular_file();
  EXPECT_EQ(files, 0u);
}

} // namespace
} // namespace dnheap::test
