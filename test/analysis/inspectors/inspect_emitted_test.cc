// `inspect contexts`, its table of assemblies that were made at run time: those that were written, in groups of names,
// and whether their managed objects lead to a LoaderAllocator.
#include "analysis/inspectors/emitted_assemblies.h"
#include "base/text.h"
#include "support/library_heap.h"
#include "support/opened.h"

#include <gtest/gtest.h>
#include <set>

namespace dnheap::test {
namespace {

// As in System.Reflection.
struct Emitting : LibraryHeap {
  explicit Emitting(const HeapShape &shape) : LibraryHeap(shape) {
    allocator = type("System.Reflection", "LoaderAllocator", 0, 3, {"m_scout"});
    scout = type("System.Reflection", "LoaderAllocatorScout", 0, 3, {"#m_nativeLoaderAllocator"});
    module = type("System.Reflection", "RuntimeModule", 0, 4, {"m_runtimeAssembly", "#m_pData"});
    assembly = type("System.Reflection", "RuntimeAssembly", 0, 3, {"m_syncRoot"});
    owner = type("Shop", "Owner", 0, 3, {"_it"});
  }
  // Writes an assembly without an image, whose metadata the runtime keeps for debuggers. Returns its Module.
  Address emitted(const std::string &name) {
    ModuleWriter &written = heap.module("<emitted>");
    written.has_image = false;
    written.metadata.assembly(name, {});
    written.metadata.type("Made", "Rule");
    const std::vector<std::byte> metadata = written.metadata.write();
    Block &native = heap.native;
    const Address place = written.module + 61 * p;
    if (heap.shape.net == Net::net8) {
      const Address bytes = native.append(metadata), buffer = native.words({0, 0, bytes});
      native.word(buffer, metadata.size());
      native.pointer(place, buffer);
    } else {
      const Address at = native.reserve(4);
      native.word(at, metadata.size());
      native.append(metadata, 1);
      native.pointer(place, at);
    }
    return written.module;
  }
  Address allocator_of(u64 native) { return with(allocator, {with(scout, {native})}); }
  void managed(Address of_module, Address of_allocator) { with(module, {with(assembly, {of_allocator}), of_module}); }
  Address allocator = 0, scout = 0, module = 0, assembly = 0, owner = 0;
};

TEST(InspectEmitted, GroupsOfNames) {
  for (const HeapShape &shape : type_layouts()) {
    SCOPED_TRACE(name_of(shape));
    Emitting s(shape);
    std::vector<Address> kept;
    for (int i = 0; i < 4; ++i) {
      kept.push_back(s.allocator_of(0x7000 + static_cast<u64>(i) * 0x100));
      s.managed(s.emitted("Rules" + std::to_string(i)), kept.back());
    }
    const Address first = kept.front();
    s.heap.gc.handles = {{.type = HandleType::strong, .object = s.array(kept)}};
    const Address dead = s.allocator_of(0x7700);
    s.managed(s.emitted("Rules77"), dead);
    for (int i = 0; i < 2; ++i)
      s.managed(s.emitted("Microsoft.GeneratedCode"), 0);
    report::Answer answer = inspected(s.heap, "contexts");
    std::set<std::string> found;
    for (TextRow &row : text_rows_of(answer, "emitted"))
      found.insert(row["count"] + " " + row["name"] + " " + row["maker"] + " " + row["collectible"] + " " +
                   row["objects"] + " " + row["kept_by"] + " " + row["allocator"]);
    const std::set<std::string> written = {"4 Rules*  true 0 handle:strong System.Object[] → [*] " + hex(first),
                                           "1 Rules*  true 0 (nobody) " + hex(dead),
                                           "2 Microsoft.GeneratedCode XmlSerializer false   "};
    EXPECT_EQ(found, written) << notes_of(answer);
  }
}

TEST(InspectEmitted, Patterns) {
  EXPECT_EQ(name_pattern("Rules12"), "Rules*");
  EXPECT_EQ(name_pattern("Rules12v3"), "Rules*v*");
  EXPECT_EQ(name_pattern("Rules_7f3a09bc-01ab"), "Rules_*");
  EXPECT_EQ(name_pattern("Shop.Facade"), "Shop.Facade");
  EXPECT_EQ(name_pattern("1"), "*");
  EXPECT_EQ(name_pattern(""), "");
}

} // namespace
} // namespace dnheap::test
