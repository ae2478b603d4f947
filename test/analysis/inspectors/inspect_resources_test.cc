// `inspect` of resources (contexts, http, db, sockets, safehandles), of pools and of finalizers: random objects in
// random states are written, and counted while they are; types of another shape are said to be unknown.
#include "base/text.h"
#include "runtime/gc.h"
#include "snapshot/snapshot.h"
#include "support/library_heap.h"
#include "support/opened.h"

#include <gtest/gtest.h>
#include <random>

namespace dnheap::test {
namespace {

struct Counted {
  u64 count = 0, bytes = 0;
  bool operator==(const Counted &) const = default;
};
using CountedGroups = std::map<std::string, Counted>; // "state | type | held by"

std::ostream &operator<<(std::ostream &out, const Counted &one) { return out << one.count << ", " << one.bytes; }

CountedGroups groups_said(report::Answer &answer, const char *name) {
  CountedGroups out;
  for (TextRow &row : text_rows_of(answer, name)) {
    const std::string key = row["state"] + " | " + row["type"] + " | " + row["held_by"];
    EXPECT_FALSE(out.contains(key)) << key;
    out[key] = {std::stoull(row["count"]), std::stoull(row["bytes"])};
  }
  return out;
}

// Writes objects of one type in given states, some held by Shop.Owner._it, and counts them.
struct States : LibraryHeap {
  explicit States(const HeapShape &shape) : LibraryHeap(shape) { owner = type("Shop", "Owner", 0, 3, {"_it"}); }

  // `words`: the object's fields; of `size` words.
  void add(Address type, const std::string &name, u64 size, const std::vector<u64> &words, const std::string &state) {
    const u64 number = random() % 5 + 1;
    for (u64 i = 0; i < number; ++i) {
      const Address at = with(type, words);
      const bool is_held = random() % 2;
      if (is_held)
        with(owner, {at});
      Counted &to = written[state + " | " + name + " | " + (is_held ? "Shop.Owner._it" : "(nobody)")];
      ++to.count;
      to.bytes += size * p;
    }
  }
  void check(const char *name) {
    report::Answer answer = inspected(heap, name);
    EXPECT_EQ(groups_said(answer, name), written) << notes_of(answer);
    notes = unknown_notes_of(answer);
  }

  Address owner = 0;
  std::mt19937_64 random{7};
  CountedGroups written;
  std::string notes;
};

std::string unknown_state(const std::string &type, u64 count) {
  return type + " does not have the fields for the state of such an object: the state of " + count_text(count) +
         (count == 1 ? " object is unknown\n" : " objects is unknown\n");
}

TEST(InspectResources, SafeHandles) {
  for (const HeapShape &shape : type_layouts()) {
    SCOPED_TRACE(name_of(shape));
    States s(shape);
    const Address base = s.type("System.Runtime.InteropServices", "SafeHandle", 0, 4, {"#handle", "!_state"}),
                  file = s.type("Shop", "FileHandle", base, 5, {"_path"}, 2);
    const u64 all_ones = s.p == 8 ? ~u64{0} : 0xffffffff;
    s.add(file, "Shop.FileHandle", 5, {17, 4}, "open");
    s.add(file, "Shop.FileHandle", 5, {17, 3}, "closed");
    s.add(file, "Shop.FileHandle", 5, {0, 4}, "none");
    s.add(file, "Shop.FileHandle", 5, {all_ones, 8}, "none");
    s.check("safehandles");
    EXPECT_EQ(s.notes, "");
  }
}

TEST(InspectResources, SafeHandlesOfAnotherShape) {
  States s({});
  const Address base = s.type("System.Runtime.InteropServices", "SafeHandle", 0, 4, {"#handle", "!_bits"});
  s.add(base, "System.Runtime.InteropServices.SafeHandle", 4, {17, 4}, "");
  s.with(s.type("Shop", "SafeHandle", 0, 4, {"#handle", "!_state"}), {17, 4}); // another one
  s.check("safehandles");
  u64 count = 0;
  for (const auto &[key, group] : s.written)
    count += group.count;
  EXPECT_EQ(s.notes, unknown_state("System.Runtime.InteropServices.SafeHandle", count));
}

TEST(InspectResources, Sockets) {
  for (const HeapShape &shape : type_layouts()) {
    SCOPED_TRACE(name_of(shape));
    States s(shape);
    const Address socket =
        s.type("System.Net.Sockets", "Socket", 0, 5, {"!_disposed", "?_isConnected", "?_isListening"});
    const std::string name = "System.Net.Sockets.Socket";
    s.add(socket, name, 5, {0, 1, 0}, "connected");
    s.add(socket, name, 5, {0, 0, 1}, "listening");
    s.add(socket, name, 5, {0, 0, 0}, "open");
    s.add(socket, name, 5, {1, 1, 0}, "disposed");
    s.check("sockets");
    EXPECT_EQ(s.notes, "");
  }
}

TEST(InspectResources, SocketsOfAnotherShape) {
  States s({});
  s.with(s.type("System.Net.Sockets", "Socket", 0, 5, {"!_disposed", "?_connected", "?_isListening"}), {1, 1, 0});
  s.written[" | System.Net.Sockets.Socket | (nobody)"] = {1, 40};
  s.check("sockets");
  EXPECT_EQ(s.notes, unknown_state("System.Net.Sockets.Socket", 1));
}

TEST(InspectResources, Contexts) {
  for (const HeapShape &shape : type_layouts()) {
    SCOPED_TRACE(name_of(shape));
    States s(shape);
    const Address context =
                      s.type("System.Runtime.Loader", "AssemblyLoadContext", 0, 4, {"!_state", "?_isCollectible"}),
                  plugins = s.type("Shop", "Plugins", context, 5, {"_path"}, 2);
    s.add(context, "System.Runtime.Loader.AssemblyLoadContext", 4, {0, 0}, "not collectible");
    s.add(plugins, "Shop.Plugins", 5, {0, 1}, "collectible");
    s.add(plugins, "Shop.Plugins", 5, {1, 1}, "collectible, unloading");
    s.check("contexts");
    EXPECT_EQ(s.notes, "");
  }
}

// Contexts with their native parts; managed LoaderAllocators by theirs.
struct Loaders : LibraryHeap {
  explicit Loaders(const HeapShape &shape) : LibraryHeap(shape) {
    context = type("System.Runtime.Loader", "AssemblyLoadContext", 0, 5,
                   {"#_nativeAssemblyLoadContext", "!_state", "?_isCollectible"});
    allocator = type("System.Reflection", "LoaderAllocator", 0, 3, {"m_scout"});
    scout = type("System.Reflection", "LoaderAllocatorScout", 0, 3, {"#m_nativeLoaderAllocator"});
    owner = type("Shop", "Owner", 0, 3, {"_it"});
  }
  Address allocator_of(u64 native) { return with(allocator, {with(scout, {native})}); }
  // Its native part has a handle that leads back, and these words.
  Address context_of(std::vector<u64> words) {
    const Address handle = heap.native.words({0});
    words.insert(words.begin(), {0, handle});
    const Address out = with(context, {heap.native.words(words), 1, 1});
    heap.native.pointer(handle, out);
    return out;
  }

  Address context = 0, allocator = 0, scout = 0, owner = 0;
};

TEST(InspectResources, ContextsAndWhatKeepsThem) {
  for (const HeapShape &shape : type_layouts()) {
    SCOPED_TRACE(name_of(shape));
    Loaders s(shape);
    const Address kept = s.allocator_of(0x7000);
    s.allocator_of(0x7100); // which nothing keeps
    s.heap.gc.handles = {{.type = HandleType::strong, .object = s.with(s.owner, {kept})}};
    const Address first = s.context_of({1, 0, 0x7000});
    s.context_of({0x7100});
    s.with(s.context, {s.heap.native.words({1, 0, 0x7000}), 1, 1}); // another's by now
    s.with(s.context, {0x30, 1, 1});                                // its native part is not in the dump
    s.context_of({0x7200});                                         // no LoaderAllocator's
    report::Answer answer = inspected(s.heap, "contexts");
    std::map<std::string, TextRow> rows;
    for (const TextRow &row : text_rows_of(answer, "contexts"))
      EXPECT_TRUE(rows.emplace(row.at("kept_by"), row).second) << row.at("kept_by");
    ASSERT_EQ(rows.size(), 3u) << notes_of(answer);
    TextRow &held = rows["handle:strong Shop.Owner → ._it"];
    EXPECT_EQ(held["count"], "1");
    EXPECT_EQ(held["example"], hex(first));
    EXPECT_EQ(held["allocator"], hex(kept));
    EXPECT_EQ(held["objects"], "0");
    EXPECT_EQ(rows["(nobody)"]["count"], "1");
    EXPECT_EQ(rows[""]["count"], "3");
    EXPECT_EQ(rows[""]["objects"], "");
    const std::string notes = notes_of(answer);
    EXPECT_NE(notes.find("3 collectible contexts have no known LoaderAllocator"), notes.npos) << notes;
    EXPECT_NE(notes.find("no known root keeps 1 LoaderAllocator:"), notes.npos) << notes;
    EXPECT_EQ(answer.next_command, "dnheap path core " + hex(kept));
  }
}

TEST(InspectResources, ContextsOfAnotherShape) {
  States s({});
  const Address context = s.type("System.Runtime.Loader", "AssemblyLoadContext", 0, 4, {"!_state", "?_isCollectible"});
  s.with(context, {2, 1}); // no such state
  s.written[" | System.Runtime.Loader.AssemblyLoadContext | (nobody)"] = {1, 32};
  s.check("contexts");
  EXPECT_EQ(s.notes, unknown_state("System.Runtime.Loader.AssemblyLoadContext", 1));
}

TEST(InspectResources, Http) {
  for (const HeapShape &shape : type_layouts()) {
    SCOPED_TRACE(name_of(shape));
    States s(shape);
    const Address invoker = s.type("System.Net.Http", "HttpMessageInvoker", 0, 4, {"_handler", "?_disposed"}),
                  client = s.type("System.Net.Http", "HttpClient", invoker, 5, {"?_disposed"}, 2),
                  handler = s.type("System.Net.Http", "HttpMessageHandler", 0, 3, {}),
                  own = s.type("Shop", "Retry", handler, 4, {"!_tries"}, 1),
                  connection = s.type("System.Net.Http", "HttpConnectionBase", 0, 3, {}),
                  http1 = s.type("System.Net.Http", "HttpConnection", connection, 4, {"!_x"}, 1);
    s.add(invoker, "System.Net.Http.HttpMessageInvoker", 4, {0, 0}, "in use");
    s.add(client, "System.Net.Http.HttpClient", 5, {0, 0, 0}, "in use");
    s.add(client, "System.Net.Http.HttpClient", 5, {0, 0, 1}, "disposed"); // its own field counts
    s.add(own, "Shop.Retry", 4, {}, "");
    s.add(http1, "System.Net.Http.HttpConnection", 4, {}, "");
    s.check("http");
    EXPECT_EQ(s.notes, "");
  }
}

TEST(InspectResources, HttpConnectionsKnowTheirAge) {
  States s({});
  const Address connection = s.type("System.Net.Http", "HttpConnection", 0, 4, {"%_creationTickCount", "!_x"}),
                base = s.type("System.Net.Http", "HttpConnectionBase", 0, 4, {"%_creationTickCount"}),
                http2 = s.type("System.Net.Http", "Http2Connection", base, 5, {"!_x"}, 2);
  s.with(connection, {1'000'000}); // no connection, by its base types
  for (const u64 made : {4'005'000, 4'000'000, 4'003'000})
    s.with(http2, {made});
  report::Answer answer = inspected(s.heap, "http");
  std::vector<TextRow> rows = text_rows_of(answer, "http");
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0]["count"], "3");
  EXPECT_EQ(rows[0]["age_ms_most"], "5000");
  EXPECT_EQ(rows[0]["age"], "5 s");
}

TEST(InspectResources, HttpOfAnotherShape) {
  States s({});
  s.with(s.type("System.Net.Http", "HttpMessageInvoker", 0, 4, {"_handler", "_disposed"}), {0, 0});
  s.written[" | System.Net.Http.HttpMessageInvoker | (nobody)"] = {1, 32};
  s.check("http");
  EXPECT_EQ(s.notes, unknown_state("System.Net.Http.HttpMessageInvoker", 1));
}

// A ConnectionState, whatever field it lies in; in the connection or in an inner one, as SqlClient and ODBC have it.
struct Connections : States {
  explicit Connections(const HeapShape &shape) : States(shape) {
    MetadataWriter &metadata = heap.app().metadata;
    const u32 rid = metadata.type("System.Data", "ConnectionState");
    const Address mt = heap.method_table({.base_size = static_cast<u32>(3 * p), .flags = 0x40000, .rid = rid});
    heap.fields(mt, {{metadata.field("value__", field_signature(element(ElementType::I4))), ElementType::I4, 0}});
    heap.value_type(mt, ElementType::I4, 4);
    of_state = type_reference(ElementType::ValueType, token(Table::TypeDef, rid));
    base = type("System.Data.Common", "DbConnection", 0, 3, {});
  }
  // Its only field, of three words in all.
  Address with_state(const char *name_space, const char *name, Address parent, const char *field) {
    TypeShape shape{.base_size = static_cast<u32>(3 * p), .rid = heap.app().metadata.type(name_space, name)};
    if (parent)
      shape.parent = parent;
    const Address out = heap.method_table(shape);
    heap.fields(out, {{heap.app().metadata.field(field, field_signature(of_state)), ElementType::I4, 0}});
    set_widths(out, {4});
    return out;
  }
  Blob of_state;
  Address base = 0;
};

TEST(InspectResources, Db) {
  for (const HeapShape &shape : type_layouts()) {
    SCOPED_TRACE(name_of(shape));
    Connections s(shape);
    const Address own = s.with_state("Shop", "Own", s.base, "m_full"),
                  outer = s.type("Sql", "SqlConnection", s.base, 3, {"_innerConnection"}),
                  inner = s.with_state("Sql", "Inner", 0, "_state");
    const std::pair<u64, const char *> states[] = {{0, "closed"},    {1, "open"},     {2, "connecting"},
                                                   {5, "executing"}, {9, "fetching"}, {16, "broken"}};
    for (auto [state, text] : states)
      s.add(own, "Shop.Own", 3, {state}, text);
    s.add(outer, "Sql.SqlConnection", 3, {s.with(inner, {1})}, "open");
    s.add(outer, "Sql.SqlConnection", 3, {s.with(inner, {0})}, "closed");
    s.check("db");
    EXPECT_EQ(s.notes, "");
  }
}

TEST(InspectResources, DbOfAnotherShape) {
  Connections s({});
  s.with(s.type("Shop", "Plain", s.base, 3, {"!_state"}), {1});
  s.with(s.with_state("Shop", "Own", s.base, "m_full"), {77}); // no such state
  s.with(s.type("Sql", "SqlConnection", s.base, 3, {"_innerConnection"}), {0xfffffff0});
  s.written = {{" | Shop.Plain | (nobody)", {1, 24}},
               {" | Shop.Own | (nobody)", {1, 24}},
               {" | Sql.SqlConnection | (nobody)", {1, 24}}};
  s.check("db");
  EXPECT_EQ(s.notes,
            unknown_state("Shop.Own", 1) + unknown_state("Shop.Plain", 1) + unknown_state("Sql.SqlConnection", 1));
}

TEST(InspectResources, Finalizers) {
  for (const HeapShape &shape : type_layouts()) {
    SCOPED_TRACE(name_of(shape));
    LibraryHeap s(shape);
    const Address file = s.type("Shop", "File", 0, 4, {}), lease = s.type("Shop", "Lease", 0, 6, {});
    std::vector<Address> due;
    for (u64 i = 0; i < 7; ++i)
      due.push_back(s.with(i % 3 ? file : lease, {}));
    for (u64 i = 0; i < 4; ++i)
      s.with(file, {}); // live
    s.heap.gc.heaps[0].finalize_counts = {0, 0, 0, 0, 0, 2, 5};
    s.heap.gc.heaps[0].finalize_due = due;
    report::Answer answer = inspected(s.heap, "finalizers");
    std::vector<TextRow> rows = text_rows_of(answer, "finalizers");
    ASSERT_EQ(rows.size(), 2u) << notes_of(answer);
    EXPECT_EQ(rows[0]["type"], "Shop.File");
    EXPECT_EQ(rows[0]["count"], "4");
    EXPECT_EQ(rows[0]["bytes"], std::to_string(4 * 4 * s.p));
    EXPECT_EQ(rows[1]["type"], "Shop.Lease");
    EXPECT_EQ(rows[1]["count"], "3");
    EXPECT_EQ(rows[1]["bytes"], std::to_string(3 * 6 * s.p));
    EXPECT_EQ(rows[1]["example"], hex(due[0]));
  }
}

TEST(InspectResources, ObjectsThatAreRegisteredForFinalization) {
  for (const HeapShape &shape : type_layouts()) {
    SCOPED_TRACE(name_of(shape));
    LibraryHeap s(shape);
    const Address file = s.type("Shop", "File", 0, 4, {}), lease = s.type("Shop", "Lease", 0, 6, {});
    std::vector<Address> queue; // LOH, gen2, gen2, gen1, gen0, critical, ready
    for (Address type : {lease, file, file, file, lease, file, file})
      queue.push_back(s.with(type, {}));
    queue[4] = 0x10; // no object
    s.heap.gc.heaps[0].finalize_counts = {0, 1, 2, 1, 1, 1, 1};
    s.heap.gc.heaps[0].finalize_due = queue;
    report::Answer answer = inspected(s.heap, "finalizers");
    EXPECT_EQ(text_rows_of(answer, "finalizers")[0]["count"], "2") << "critical and ready alone";
    std::vector<TextRow> rows = text_rows_of(answer, "registered");
    ASSERT_EQ(rows.size(), 2u) << notes_of(answer);
    EXPECT_EQ(rows[0]["type"], "Shop.File");
    EXPECT_EQ(rows[0]["count"], "3");
    EXPECT_EQ(rows[0]["bytes"], std::to_string(3 * 4 * s.p));
    EXPECT_EQ(rows[0]["gen2"], "2");
    EXPECT_EQ(rows[0]["gen1"], "1");
    EXPECT_EQ(rows[0]["gen0"], "0");
    EXPECT_EQ(rows[0]["example"], hex(queue[1]));
    EXPECT_EQ(rows[1]["type"], "Shop.Lease");
    EXPECT_EQ(rows[1]["loh"], "1");
    EXPECT_EQ(rows[1]["bytes"], std::to_string(6 * s.p));
    EXPECT_EQ(notes_of(answer).find("queue of objects with a finalizer"), std::string::npos);

    Snapshot whole(s.heap.target(), {});
    const Gc &gc = whole.runtime().gc();
    const Address gen2 = finalize_queue_parts(gc.get_heap_data(gc.get_gc_heaps()[0]))[2].start;
    s.heap.hole(gen2, gen2 + s.p);
    answer = inspected(s.heap, "finalizers");
    EXPECT_EQ(text_rows_of(answer, "registered")[0]["count"], "2");
    EXPECT_NE(notes_of(answer).find("1 entry of the queue of objects with a finalizer is not in this dump"),
              std::string::npos);
  }
}

// As .NET 9 has it: struct SharedArrayPoolThreadLocalArray and class SharedArrayPoolPartitions+Partition.
TEST(InspectResources, Pools) {
  for (const HeapShape &shape : type_layouts()) {
    SCOPED_TRACE(name_of(shape));
    LibraryHeap s(shape);
    MetadataWriter &metadata = s.heap.app().metadata;
    const u32 slot_rid = metadata.type("System.Buffers", "SharedArrayPoolThreadLocalArray");
    const Address slot =
        s.heap.method_table({.base_size = static_cast<u32>(4 * s.p), .flags = 0x40000, .rid = slot_rid});
    s.heap.fields(slot,
                  {{metadata.field("Array", field_signature(element(ElementType::Object))), ElementType::Class, 0},
                   {metadata.field("Milliseconds", field_signature(element(ElementType::I4))), ElementType::I4,
                    static_cast<u32>(s.p)}});
    s.heap.value_type(slot, ElementType::ValueType, 2 * s.p);
    const u32 partitions = metadata.type("System.Buffers", "SharedArrayPoolPartitions");
    const Address partition = s.nested(partitions, "Partition", 4, {"_arrays", "!_count"});
    const Address slots_type = s.heap.array(slot, static_cast<u32>(2 * s.p));
    auto array = [&](u64 length) { return s.old.object(s.heap.object_array_type, length); };
    const Address twice = array(16);
    const std::vector<Address> stack = {array(16), array(16), array(64), twice};
    s.with(partition, {s.array(stack, 4), stack.size()});
    s.with(partition, {0, 0});
    const Address slots = s.old.object(slots_type, 3);
    s.old.store(slots + 2 * s.p, array(32), s.p);
    s.old.store(slots + 6 * s.p, twice, s.p); // a damaged pool: it is told once
    array(16);                                // rented
    report::Answer answer = inspected(s.heap, "pools");
    CountedGroups said, written;
    for (TextRow &row : text_rows_of(answer, "pools"))
      said[row["type"] + " " + row["length"] + " " + row["kept_for"]] = {std::stoull(row["count"]),
                                                                         std::stoull(row["bytes"])};
    auto size = [&](u64 length) { return s.heap.size_of(s.heap.object_array_type, length); };
    written["System.Object[] 16 all threads"] = {3, 3 * size(16)};
    written["System.Object[] 64 all threads"] = {1, size(64)};
    written["System.Object[] 32 one thread"] = {1, size(32)};
    EXPECT_EQ(said, written) << notes_of(answer);
    EXPECT_EQ(unknown_notes_of(answer), "");
  }
}

TEST(InspectResources, PoolsOfAnotherShape) {
  LibraryHeap s({});
  const u32 partitions = s.heap.app().metadata.type("System.Buffers", "SharedArrayPoolPartitions");
  const Address partition = s.nested(partitions, "Partition", 4, {"_stack", "!_count"});
  s.with(partition, {s.array({s.array({})}), 1});
  s.with(partition, {0, 0});
  report::Answer answer = inspected(s.heap, "pools");
  EXPECT_TRUE(text_rows_of(answer, "pools").empty());
  EXPECT_EQ(unknown_notes_of(answer),
            "2 parts do not have the fields that parts of ArrayPool<T>.Shared should have: the arrays there are left "
            "out\n");
}

} // namespace
} // namespace dnheap::test
