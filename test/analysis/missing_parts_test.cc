// Whatever is missing that an answer would have used is a note of that answer: every value of every description is left
// out, and every verb asked. Its tables are then as before, or a note, or the error, names the value.
#include "analysis/missing_parts.h"
#include "base/text.h"
#include "report/write.h"
#include "snapshot/snapshot.h"
#include "support/aot_shop.h"
#include "support/opened.h"
#include "support/statics_heap.h"

namespace dnheap::test {
namespace {

using G = GCSegmentGeneration;

SnapshotOptions one_thread() {
  SnapshotOptions out;
  out.threads = 1;
  return out;
}

struct Subject {
  std::unique_ptr<Target> target;
  Address object = 0;
};

// Statics, thread statics, handles of several kinds, stacks, a context, sync blocks, a lock, finalizers that are due,
// generic types, and, where that is published, a type whose LoaderAllocator lives as long as its objects.
Subject process(const HeapShape &shape) {
  StaticsHeap heap(shape);
  const u64 p = heap.p;
  SegmentWriter &young = heap.segment(G::gen0);
  u32 rid = heap.app().metadata.type("Shop", "Pair`2");
  heap.app().metadata.generic(token(Table::TypeDef, rid), {"K", "V"});
  Address pair = heap.method_table({.rid = rid, .arguments = {heap.string_type, heap.object_type}});
  young.object(pair);
  Address text = young.string("text"), due = young.object(heap.object_type);
  if (shape.net == Net::net11) {
    const i64 at = 0x800;
    heap.native.pointer(heap.app().module + at,
                        heap.native.words({0, 0, heap.native.words({young.object(heap.object_type)})}));
    Address type = heap.method_table({.flags = 0x00200000});
    heap.native.pointer(type + 16 + 2 * p, heap.native.words({0, heap.app().module, 0, 0}));
    heap.gc.handles.push_back({.type = HandleType::strong, .object = young.object(type)});
    heap.more_fields = {{"Module", {{"LoaderAllocator", at}}},
                        {"LoaderAllocator", {{"ObjectHandle", static_cast<i64>(2 * p)}}},
                        {"MethodTableAuxiliaryData", {{"LoaderModule", static_cast<i64>(p)}}}};
  }
  for (int i = 0; i < 20; ++i)
    heap.sync_block(young.object(heap.object_type));
  ThreadWriter &thread = heap.threads[0];
  thread.stack_limit = align_up(heap.native.reserve(0x4000), 0x1000);
  thread.stack_base = thread.stack_limit + 0x2000;
  thread.stack_pointer = thread.stack_limit + 0x1000;
  heap.native.pointer(thread.stack_pointer + 16, text);
  thread.context = young.context(64);
  heap.gc.handles.push_back({.type = HandleType::pinned, .object = text});
  heap.gc.handles.push_back({.type = HandleType::dependent, .object = text, .secondary = due});
  heap.gc.heaps[0].finalize_counts = {0, 0, 1, 0, 1, 1, 1};
  heap.gc.heaps[0].compact = {0, 1};
  return {heap.target(), text};
}

Subject process(const AotShape &shape) {
  Shop shop(shape);
  shop.heap.handles = {{HandleType::strong, shop.heap.objects[0].address}};
  return {shop.heap.target(), shop.heap.objects[0].address};
}

// Each cell as its writer would show it; what is odd or missing, in words.
struct Told {
  std::string tables, words;
};

Told ask_of(Snapshot &snapshot, const Verb &verb, Question question) {
  Told out;
  try {
    report::Answer answer = ask(verb, snapshot, question);
    if (answer.completeness && !answer.completeness->complete()) {
      EXPECT_NE(headline_text(answer).find("INCOMPLETE"), headline_text(answer).npos) << headline_text(answer);
    }
    EXPECT_EQ(headline_text(answer).find("complete; INCOMPLETE"), headline_text(answer).npos) << headline_text(answer);
    if (answer.completeness)
      for (const std::string &note : answer.completeness->notes.sentences())
        out.words += note + "\n";
    for (report::Table &table : answer.tables)
      if (table.name == "problems")
        for (report::Row row(table.columns.size()); table.rows(row); row = report::Row(table.columns.size()))
          for (const report::Cell &cell : row)
            out.words += std::string(cell.text().value_or("")) + "\n";
    std::erase_if(answer.tables, [](const report::Table &table) { return table.name == "problems"; });
    answer.completeness.reset();
    answer.headline = {};
    report::Sink sink(out.tables);
    report::write_json(answer, {}, sink);
  } catch (const Error &e) {
    out.tables = out.words = e.what();
  }
  return out;
}

std::vector<std::string> values_of(const ContractDescriptor &d) {
  std::vector<std::string> out;
  for (const auto &[type, body] : d.types)
    for (const auto &[field, value] : body.fields)
      out.push_back(type + "." + field);
  for (const auto &[name, global] : d.globals)
    out.push_back(name);
  return out;
}

// Verbs with the ways of asking that need more.
std::vector<std::pair<const Verb *, Question>> questions(Address object) {
  std::vector<std::pair<const Verb *, Question>> out;
  for (const Verb &verb : verbs()) {
    if (!verb.answer || verb.makes_file || verb.name == std::string_view("contract"))
      continue;
    Question question;
    question.target = "synthetic.core";
    question.subject = verb.subject ? hex(object) : "";
    question.values = true;
    out.emplace_back(&verb, question);
    if (verb.name == std::string_view("stat")) {
      question.life = Life::dead;
      out.emplace_back(&verb, question);
    }
  }
  return out;
}

template <class Make> u64 leave_each_out(Make make) {
  const Subject first = make();
  u64 differ = 0;
  SnapshotOptions options = one_thread();
  Subject undisturbed = make();
  Snapshot whole(std::move(undisturbed.target), options);
  const auto asked = questions(first.object);
  std::vector<Told> usual;
  for (const auto &[verb, question] : asked)
    usual.push_back(ask_of(whole, *verb, question));
  for (const std::string &value : values_of(whole.runtime().descriptor())) {
    SCOPED_TRACE(value);
    options.hints.left_out = {value};
    Snapshot without(make().target, options);
    for (u64 i = 0; i < asked.size(); ++i) {
      const Told told = ask_of(without, *asked[i].first, asked[i].second);
      if (told.tables == usual[i].tables)
        continue;
      ++differ;
      EXPECT_NE(told.words.find(value), std::string::npos)
          << asked[i].first->name << (asked[i].second.life == Life::dead ? " --dead" : "")
          << " is silent about it: " << told.words;
    }
  }
  return differ;
}

TEST(MissingParts, NothingIsSilentInCoreClr) {
  for (const HeapShape &shape : {HeapShape{.net = Net::net8, .published = false}, HeapShape{.net = Net::net9},
                                 HeapShape{.net = Net::net10, .server = true, .heaps = 1}, HeapShape{},
                                 HeapShape{.format = {4, ByteOrder::big}}}) {
    SCOPED_TRACE(name_of(shape));
    EXPECT_GT(leave_each_out([&] { return process(shape); }), 100u);
  }
}

TEST(MissingParts, NothingIsSilentInNativeAot) {
  for (const AotShape &shape : {AotShape{}, AotShape{.server = true, .header = false, .descriptor = true}}) {
    SCOPED_TRACE(name_of(shape));
    EXPECT_GT(leave_each_out([&] { return process(shape); }), 50u);
  }
}

// "No locks" would be believed.
TEST(MissingParts, WithoutSyncBlocksNoLocksAreNoAnswer) {
  for (const bool has_table : {true, false}) {
    SnapshotOptions options = one_thread();
    if (!has_table)
      options.hints.left_out = {"SyncTableEntries"};
    Snapshot snapshot(process(HeapShape{}).target, options);
    Question question;
    question.target = "core";
    const Verb &locks = *std::find_if(verbs().begin(), verbs().end(),
                                      [](const Verb &one) { return one.name == std::string_view("locks"); });
    const report::Completeness answered = *ask(locks, snapshot, question).completeness;
    const bool is_said = std::any_of(answered.notes.begin(), answered.notes.end(), [](const Note &note) {
      return note.text.find("SyncTableEntries") != note.text.npos;
    });
    EXPECT_EQ(is_said, !has_table);
    EXPECT_FALSE(answered.complete()); // its stacks are not known either
  }
}

// By the verb's row.
Notes missing_of(std::string_view name, const ContractDescriptor &descriptor, const Question &question = {},
                 const Notes &said = {}) {
  Question asked = question;
  asked.subject = "Shop.Order";
  for (const Verb &verb : verbs())
    if (verb.name == name) {
      Notes notes = said;
      add_missing_parts(descriptor, parts_of(verb, verb.plan(asked)), notes);
      return notes;
    }
  throw std::logic_error("no such verb");
}

TEST(MissingParts, NotesAreShortAndSaidOnce) {
  ContractDescriptor d;
  for (const char *name : {"HandleTable.SegmentList", "TableSegment.RgTail", "TableSegment.RgValue", "HandlesPerBlock",
                           "HandleBlocksPerSegment", "InitialHandleTableArraySize", "HandleMaxInternalTypes"})
    d.missing[name] = "left out";
  const Notes parts = missing_of("roots", d);
  ASSERT_EQ(parts.size(), 1u);
  EXPECT_NE(parts[0].text.find(" and 1 more"), std::string::npos) << parts[0].text;
  EXPECT_TRUE(parts.have_effect());
  EXPECT_TRUE(missing_of("segments", d).empty());
  Question live;
  live.life = Life::live;
  EXPECT_EQ(missing_of("stat", d, live).size(), 1u);
  EXPECT_TRUE(missing_of("stat", d).empty());
  d.missing = {{"ThreadStore", "no list with ids of the target's threads"}};
  EXPECT_EQ(missing_of("roots", d).size(), 1u);
  d.set_number("ThreadStore", 0x7000, true, Origin::published); // is used all the same
  EXPECT_TRUE(missing_of("roots", d).empty());
  d.missing = {{"TableSegment.RgTail", "left out"}};
  Notes of_reader;
  of_reader.add(Note{.text = "TableSegment.RgTail is not known", .key = "TableSegment.RgTail"});
  const Notes both = missing_of("roots", d, {}, of_reader);
  EXPECT_EQ(both.size(), 1u);
  EXPECT_TRUE(both.have_effect()) << "as the value's own note would have";
}

// Without COM there are no reference counts, so nothing is lost; and a count that is not known kills nobody.
TEST(MissingParts, ReferenceCounts) {
  ContractDescriptor d;
  d.missing["SyncTableEntries"] = "of no variable";
  EXPECT_TRUE(missing_of("handles", d).empty());
  EXPECT_EQ(missing_of("verify", d).size(), 1u);
  EXPECT_FALSE(missing_of("verify", d).have_effect());
  d.set_number("FeatureCOMInterop", 1, false, Origin::published);
  EXPECT_EQ(missing_of("handles", d).size(), 1u);
  EXPECT_FALSE(missing_of("roots", d).have_effect());
}

// The value that a program with AssemblyBuilder RunAndCollect lost: path, --dead and retained called a live
// LoaderAllocator garbage, and `contract --table missing` alone knew.
TEST(MissingParts, CollectibleTypes) {
  ContractDescriptor d;
  d.missing["Module.LoaderAllocator"] = "discovered 248, 272";
  Question dead;
  dead.life = Life::dead;
  for (auto [verb, question] : {std::pair{"path", Question()},
                                {"retained", Question()},
                                {"show", Question()},
                                {"verify", Question()},
                                {"info", Question()},
                                {"stat", dead},
                                {"objects", dead}}) {
    const Notes parts = missing_of(verb, d, question);
    ASSERT_EQ(parts.size(), 1u) << verb;
    EXPECT_NE(parts[0].text.find("Module.LoaderAllocator"), std::string::npos);
    EXPECT_TRUE(parts.have_effect());
  }
}

} // namespace
} // namespace dnheap::test
