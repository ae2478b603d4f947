// Whose a name is: of namespaces like .NET's, types of the program's are told apart.
#include "analysis/names/framework_names.h"
#include "analysis/owners/ranked_owners.h"
#include "support/opened.h"
#include "support/statics_heap.h"

#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

TEST(FrameworkNames, ByNamespaceButForTheProgramsTypes) {
  std::vector<LoadedAssembly> assemblies(2);
  assemblies[0].types_like_framework = {"Microsoft.Shop.Cart", "System.Cache"};
  const FrameworkNames framework(assemblies);
  for (const char *name :
       {"System.Threading.TimerQueue", "System.Threading.TimerQueue.Instances", "System.Cached._items",
        "Microsoft.Shop.Carts", "System.Collections.Generic.List<Shop.Cart>", "Interop+Sys.Read()",
        "System.Collections.Generic.List<Microsoft.Shop.Cart>.s_empty", "Microsoft.Shop"})
    EXPECT_TRUE(framework.contain(name)) << name;
  for (const char *name : {"Shop.Cart", "SystemShop.Cart", "Microsoft.Shop.Cart", "Microsoft.Shop.Cart._items",
                           "System.Cache<System.Int32>", "System.Cache<System.Int32>.s_all",
                           "Microsoft.Shop.Cart+<Run>d__1.MoveNext()", "System.Cache[]", "Main", ""})
    EXPECT_FALSE(framework.contain(name)) << name;
  EXPECT_TRUE(FrameworkNames({}).contain("System.Cache._items"));
}

// In every layout: what the runtime lists, and why it is thought to be whose.
TEST(FrameworkNames, AssembliesByKeyAndName) {
  for (const HeapShape &shape : type_layouts()) {
    SCOPED_TRACE(name_of(shape));
    StaticsHeap heap(shape, "Microsoft.Shop.Cache");
    Blob ecma_key(16, 0), other_key(160, 7);
    ecma_key[8] = 4;
    heap.module("Signed.dll").metadata.assembly("Signed", {}, ecma_key);
    heap.module("Other.dll").metadata.assembly("Other", {}, other_key);
    heap.type("Shop.Till", 1);
    SnapshotOptions options;
    options.threads = 1;
    Snapshot snapshot(heap.target(), options);
    std::string found;
    for (const LoadedAssembly &one : snapshot.assemblies())
      found += one.name + (one.is_framework ? ": framework, " : ": program, ") + one.why + "\n";
    EXPECT_EQ(found, "System.Private.CoreLib.dll: framework, by its name\n"
                     "app.dll: program, not signed\n"
                     "Signed.dll: framework, signed with a key of .NET's\n"
                     "Other.dll: program, signed with a key that is not .NET's\n");
    EXPECT_EQ(snapshot.assemblies().at(1).types_like_framework, std::vector<std::string>{"Microsoft.Shop.Cache"});
    // A static field of that type is the program's own.
    const RootSet &roots = snapshot.roots();
    const std::vector<OwnerRank> ranks = ranks_of_owners(snapshot);
    u64 seen = 0;
    for (u64 i = 0; i < roots.roots.size(); ++i)
      if (roots.roots[i].kind == RootKind::static_field && roots.name(roots.roots[i]).starts_with("Microsoft.Shop")) {
        EXPECT_EQ(ranks[snapshot.owners().owner_of[i]], OwnerRank::own);
        ++seen;
      }
    EXPECT_GT(seen, 0u);
  }
}

} // namespace
} // namespace dnheap::test
