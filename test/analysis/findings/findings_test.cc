// What `report` finds of leaks that few bytes make: open handles, emitted assemblies and interned strings, in numbers
// that just are a finding, and in numbers that just are none.
#include "support/library_heap.h"
#include "support/opened.h"

#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

// A process with so many open handles of a type in an array, and others that are closed, garbage or of another type.
std::string found_of_handles(const HeapShape &shape, const char *name, u64 open) {
  LibraryHeap s(shape);
  const Address base = s.type("System.Runtime.InteropServices", "SafeHandle", 0, 4, {"#handle", "!_state"}),
                file = s.type("Microsoft.Win32.SafeHandles", name, base, 5, {"_path"}, 2);
  std::vector<Address> held;
  for (u64 i = 0; i < open; ++i)
    held.push_back(s.with(file, {17 + i, 4}));
  for (u64 i = 0; i < 9; ++i) {
    held.push_back(s.with(file, {17, 3})); // closed
    s.with(file, {17, 4});                 // garbage
  }
  s.heap.gc.handles = {{.type = HandleType::strong, .object = s.array(held)}};
  return findings_of_kind(s.heap, "open_handles");
}

TEST(Findings, OpenHandles) {
  for (const HeapShape &shape : type_layouts()) {
    SCOPED_TRACE(name_of(shape));
    EXPECT_EQ(found_of_handles(shape, "SafeFileHandle", 500),
              "probable 500: 500 files (SafeFileHandle) are open, held by handle:strong System.Object[]. Dispose of "
              "each when it is no longer needed: the system allows a process a limited number.\n");
    EXPECT_EQ(found_of_handles(shape, "SafeFileHandle", 499), "");
    EXPECT_EQ(found_of_handles(shape, "SafeSocketHandle", 900), ""); // a server has one for each connection
  }
  const std::string found = found_of_handles({}, "SafeFileHandle", 100'001); // more than are looked at
  EXPECT_NE(found.find(": At least "), found.npos) << found;
}

// An assembly without an image, whose metadata the runtime keeps for debuggers, and its managed objects.
struct EmittedHeap : LibraryHeap {
  EmittedHeap() : LibraryHeap({}) {
    module = type("System.Reflection", "RuntimeModule", 0, 4, {"m_runtimeAssembly", "#m_pData"});
    assembly = type("System.Reflection", "RuntimeAssembly", 0, 3, {"m_syncRoot"});
    key = type("System.Xml.Serialization", "TempAssemblyCacheKey", 0, 4, {"_ns", "_type"});
  }
  void emit(const std::string &name) {
    ModuleWriter &written = heap.module("<emitted>");
    written.has_image = false;
    written.metadata.assembly(name, {});
    written.metadata.type("Made", "Rule");
    const std::vector<std::byte> metadata = written.metadata.write();
    const Address place = written.module + 61 * p;
    if (heap.shape.net == Net::net8) {
      const Address bytes = heap.native.append(metadata), buffer = heap.native.words({0, 0, bytes});
      heap.native.word(buffer, metadata.size());
      heap.native.pointer(place, buffer);
    } else {
      const Address at = heap.native.reserve(4);
      heap.native.word(at, metadata.size());
      heap.native.append(metadata, 1);
      heap.native.pointer(place, at);
    }
    with(module, {with(assembly, {0}), written.module});
  }
  Address module = 0, assembly = 0, key = 0;
};

std::string found_of_emitted(const std::string &name, int count, int cached = 0) {
  EmittedHeap s;
  for (int i = 0; i < count; ++i)
    s.emit(name);
  for (int i = 0; i < cached; ++i)
    s.with(s.key, {0, 0});
  s.heap.gc.handles = {{.type = HandleType::strong, .object = s.old.object(s.heap.object_type)}};
  return findings_of_kind(s.heap, "made_assemblies");
}

TEST(Findings, EmittedAssemblies) {
  EXPECT_EQ(found_of_emitted("Microsoft.GeneratedCode", 99), "");
  EXPECT_EQ(found_of_emitted("Microsoft.GeneratedCode", 100),
            "probable 100: 100 assemblies called Microsoft.GeneratedCode (by XmlSerializer) were made at run time, and "
            "stay until the program ends: each XmlSerializer that is created with more arguments than a type and a "
            "namespace makes one. Keep these serializers, and use them again.\n");
  EXPECT_EQ(found_of_emitted("Microsoft.GeneratedCode", 100, 1), ""); // one of them is found again
  EXPECT_EQ(found_of_emitted("Rules", 100, 1),
            "probable 100: 100 assemblies called Rules were made at run time, and stay until the program ends: the "
            "program makes one again and again. Make it once, or with AssemblyBuilderAccess.RunAndCollect.\n");
}

// A process with an array of the runtime's that refers to interned strings. `place`: the generation of the array;
// `also_held`: so many of the strings are in an array of the program's, too.
std::string found_of_interned(const HeapShape &shape, u64 count, GCSegmentGeneration place, u64 also_held = 0) {
  LibraryHeap s(shape);
  SegmentWriter &segment = place == GCSegmentGeneration::gen2 ? s.old : s.heap.segment(place);
  const Address table = segment.object(s.heap.object_array_type, count + 2);
  std::vector<Address> held;
  for (u64 i = 0; i < count; ++i) {
    const Address one = s.old.string("name");
    segment.store(table + (2 + i) * s.p, one, s.p);
    if (i < also_held)
      held.push_back(one);
  }
  segment.store(table + (2 + count) * s.p, s.old.object(s.heap.object_type), s.p); // no string
  s.heap.gc.handles = {{.type = HandleType::strong, .object = table},
                       {.type = HandleType::pinned, .object = s.array(held)}};
  return findings_of_kind(s.heap, "interned_strings");
}

TEST(Findings, InternedStrings) {
  using enum GCSegmentGeneration;
  for (const HeapShape &shape : type_layouts()) {
    SCOPED_TRACE(name_of(shape));
    const std::string found = found_of_interned(shape, 10'000, poh);
    EXPECT_TRUE(found.starts_with("probable 10000: 10,000 strings (")) << found;
    EXPECT_NE(
        found.find(") are interned, and nothing else holds them: string.Intern keeps each until the process ends."),
        found.npos)
        << found;
  }
  EXPECT_EQ(found_of_interned({}, 9'999, poh), "");
  EXPECT_EQ(found_of_interned({}, 10'000, poh, 1), ""); // one of them is used
  EXPECT_EQ(found_of_interned({}, 10'000, gen2), "");   // an array of the program's
}

// HttpClients with a connection each; `held`: by an array; `shared`: all have one handler.
std::string found_of_clients(const HeapShape &shape, u64 count, bool held, bool shared) {
  LibraryHeap s(shape);
  const Address client = s.type("System.Net.Http", "HttpClient", 0, 4, {"_handler", "?_disposed"}),
                handler = s.type("System.Net.Http", "HttpClientHandler", 0, 3, {}),
                connection = s.type("System.Net.Http", "HttpConnection", 0, 3, {"?_disposed"});
  const Address first = s.with(handler, {});
  std::vector<Address> all;
  for (u64 i = 0; i < count; ++i) {
    all.push_back(s.with(client, {shared ? first : s.with(handler, {}), 0}));
    s.with(client, {s.with(handler, {}), 1}); // disposed
    s.with(connection, {0});
  }
  s.heap.gc.handles = {{.type = HandleType::strong, .object = held ? s.array(all) : s.array({})}};
  return findings_of_kind(s.heap, "http_clients");
}

TEST(Findings, HttpClientsThatWereDropped) {
  for (const HeapShape &shape : type_layouts()) {
    SCOPED_TRACE(name_of(shape));
    const std::string found = found_of_clients(shape, 100, false, false);
    EXPECT_TRUE(found.starts_with("probable 100: 100 HttpClients were made, used and dropped, each with a handler of "
                                  "its own, and left 100 connections open, "))
        << found;
  }
  EXPECT_EQ(found_of_clients({}, 99, false, false), "");
  EXPECT_EQ(found_of_clients({}, 200, false, true), "");
  EXPECT_NE(found_of_clients({}, 100, true, false).find("held by"), std::string::npos);
}

} // namespace
} // namespace dnheap::test
