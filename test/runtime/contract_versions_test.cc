// Contracts of versions that nothing here reads: an error where all numbers rest on them, else a note or nothing from
// that reader; never the reader of another version without a word.
#include "objects/header_check.h"
#include "runtime/contract_versions.h"
#include "runtime/gc/gc_1.h"
#include "support/aot_shop.h"
#include "support/opened.h"

namespace dnheap::test {
namespace {

using G = GCSegmentGeneration;

bool has(const std::string &text, const std::string &part) { return text.find(part) != text.npos; }

void fill(HeapBuilder &heap) {
  for (u32 h = 0; h < heap.shape.heaps; ++h) {
    SegmentWriter &young = heap.shape.regions ? heap.segment(G::gen0, h) : heap.ephemeral(h);
    if (!heap.shape.regions)
      young.begin_gen0();
    heap.sync_block(young.object(heap.object_type));
    if (h == 0)
      heap.threads[0].context = young.context(64);
  }
}

// Every shape that publishes a descriptor, and version 9 as its JSON writes it.
void each_published(const std::function<void(HeapBuilder &heap, const std::string &nine)> &visit) {
  for (const HeapShape &shape : all_shapes()) {
    if (!shape.published)
      continue;
    SCOPED_TRACE(name_of(shape));
    HeapBuilder heap(shape);
    fill(heap);
    visit(heap, shape.net == Net::net11 ? "\"c9\"" : "9");
  }
}

std::string error_of(HeapBuilder &heap) {
  try {
    Opened opened(heap);
  } catch (const Error &e) {
    return e.what();
  }
  return "";
}

TEST(ContractVersions, WhatAllNumbersRestOnIsRefused) {
  for (const char *contract : {"GC", "RuntimeTypeSystem", "Object"})
    each_published([&](HeapBuilder &heap, const std::string &nine) {
      if (std::string(contract) == "GC" && heap.shape.net != Net::net11)
        return; // not published
      heap.contract_versions[contract] = nine;
      std::string error = error_of(heap);
      EXPECT_TRUE(has(error, std::string("the contract ") + contract + " is of version c9")) << error;
      EXPECT_TRUE(has(error, "reads only c1")) << error;
      EXPECT_FALSE(has(error, "not started")) << error;
    });
}

// A version that somebody else reads: its reader is one class and one row; nothing else knows of it.
struct Gc2 : Gc1 {
  using Gc1::Gc1;
  u32 get_max_generation() const override { return 7; }
  std::vector<Address> get_gc_heaps() const override {
    std::vector<Address> heaps = Gc1::get_gc_heaps();
    heaps.resize(1);
    return heaps;
  }
};

TEST(ContractVersions, AReaderOfANewVersion) {
  RuntimeHints hints;
  hints.gc_readers = {{"c2", [](const Memory &memory, const ContractDescriptor &descriptor) -> std::unique_ptr<Gc> {
                         return std::make_unique<Gc2>(memory, descriptor);
                       }}};
  for (Format format : all_formats)
    for (bool is_new : {false, true}) {
      HeapBuilder heap({.format = format, .server = true, .heaps = 2});
      for (u32 h = 0; h < 2; ++h)
        heap.segment(G::gen2, h).object(heap.object_type);
      heap.contract_versions["GC"] = is_new ? "\"c2\"" : "\"c1\"";
      std::unique_ptr<Target> target = heap.target();
      const Module &module = target->modules.at(0);
      if (is_new) {
        EXPECT_THROW(open_core_clr(*target, module, tables_for_all_formats()), Error);
      }
      CoreClr runtime = open_core_clr(*target, module, tables_for_all_formats(), hints);
      EXPECT_EQ(runtime.gc().get_max_generation(), is_new ? 7u : 2u);
      const Heap read(runtime); // made from what the reader says
      EXPECT_EQ(read.segments().size(), heap.segments.size() / (is_new ? 2 : 1));
    }
}

// As the second look found it: GC c2, and RuntimeTypeSystem c9, read as version 1.
TEST(ContractVersions, AnyOtherVersionIsUnknown) {
  for (const char *version : {"\"c2\"", "\"c10\"", "\"n1\"", "\"c\"", "\"\"", "\"c1 \"", "\"c1001\"", "0", "2"})
    for (const char *contract : {"GC", "RuntimeTypeSystem"}) {
      HeapBuilder heap({});
      fill(heap);
      heap.contract_versions[contract] = version;
      EXPECT_TRUE(has(error_of(heap), contract)) << contract << " " << version;
    }
}

TEST(ContractVersions, ThreadsAreNotReadAndThatIsSaid) {
  each_published([](HeapBuilder &heap, const std::string &nine) {
    heap.contract_versions["Thread"] = nine;
    Opened opened(heap);
    Notes problems;
    EXPECT_THROW(opened.runtime.threads(problems), Error);
    ASSERT_FALSE(opened.heap.notes().empty());
    EXPECT_TRUE(has(opened.heap.notes().texts()[0], "the contract Thread is of version c9"))
        << opened.heap.notes().texts()[0];
    EXPECT_TRUE(has(opened.heap.notes().texts()[0], "reads only c1"));
  });
}

TEST(ContractVersions, SyncBlocksAreNotChecked) {
  each_published([](HeapBuilder &heap, const std::string &nine) {
    EXPECT_TRUE(HeaderCheck(Opened(heap).runtime).not_checked().empty());
    HeapBuilder newer(heap.shape);
    fill(newer);
    newer.contract_versions["SyncBlock"] = nine;
    Opened opened(newer);
    EXPECT_FALSE(HeaderCheck(opened.runtime).not_checked().empty());
    EXPECT_TRUE(has(opened.runtime.descriptor().missing.at("contract SyncBlock"), "c9"));
  });
}

// Another form of the word in front of objects is not taken for the one that is known.
TEST(ContractVersions, AnotherHeaderIsNotRead) {
  for (auto [global, known] : {std::pair{"SyncBlockIndexMask", 0x03ffffffu},
                               {"SyncBlockMaskLockThreadId", 0xffffu},
                               {"SyncBlockIsHashCode", 0x04000000u}}) {
    for (u64 value : {u64{known}, u64{known} >> 1}) {
      ContractDescriptor d;
      d.contracts["SyncBlock"] = "c1";
      d.set_number(global, value, false, Origin::published);
      choose_readers(d, ReaderFamily::core_clr, {});
      const std::string *why = why_not_read(d, "SyncBlock");
      ASSERT_EQ(why == nullptr, value == known);
      if (why) {
        EXPECT_TRUE(has(*why, global) && has(*why, "dnheap reads only") && has(*why, ": it is not read")) << *why;
      }
    }
  }
}

// Whatever these read has to pass a test of its own; that it is read by an older reader is known, and said.
TEST(ContractVersions, OthersAreReadOnKnowingly) {
  for (const char *contract : {"Loader", "EcmaMetadata", "PrecodeStubs", "PlatformMetadata"})
    each_published([&](HeapBuilder &heap, const std::string &nine) {
      heap.contract_versions[contract] = nine;
      Opened opened(heap);
      const std::string &why = opened.runtime.descriptor().missing.at(std::string("contract ") + contract);
      EXPECT_TRUE(has(why, "of version c9") && has(why, "it is read as c")) << why;
      EXPECT_EQ(opened.runtime.types().name(heap.string_type), "System.String");
    });
  for (const char *stubs : {"1", "2", "3"}) {
    HeapBuilder heap({.net = Net::net10});
    fill(heap);
    heap.contract_versions["PrecodeStubs"] = stubs;
    EXPECT_FALSE(Opened(heap).runtime.descriptor().missing.contains("contract PrecodeStubs"));
  }
}

// Contracts that nobody here reads may be of any version.
TEST(ContractVersions, WhatIsNotReadDoesNotMatter) {
  each_published([](HeapBuilder &heap, const std::string &nine) {
    for (const char *contract : {"StressLog", "ExecutionManager", "CodeVersions", "Exception", "Unheard"})
      heap.contract_versions[contract] = nine;
    EXPECT_EQ(error_of(heap), "");
  });
}

TEST(ContractVersions, OfNativeAot) {
  for (const AotShape &shape : all_n1_shapes())
    for (auto [contract, version, known] : {std::tuple{"GC", "\"c2\"", "c1"},
                                            {"RuntimeTypeSystem", "\"n2\"", "n1 c1001"},
                                            {"RuntimeTypeSystem", "1002", "n1 c1001"},
                                            {"RuntimeTypeSystem", "\"c9\"", "n1 c1001"}}) {
      SCOPED_TRACE(name_of(shape) + " " + contract + " " + version);
      Shop shop(shape);
      shop.heap.contract_versions[contract] = version;
      const std::string number = std::string(version) == "1002" ? "c1002" : std::string(version + 1, 2);
      auto is_told = [&](const std::string &why) {
        EXPECT_TRUE(has(why, std::string("the contract ") + contract + " is of version " + number)) << why;
        EXPECT_TRUE(has(why, std::string("reads only ") + known)) << why;
      };
      if (shape.header) { // which is read in its place
        OpenedAot opened(shop.heap.target());
        EXPECT_EQ(opened.walk(), shop.heap.objects);
        is_told(opened.runtime->descriptor().missing.at("DotNetRuntimeContractDescriptor"));
        continue;
      }
      try {
        OpenedAot opened(shop.heap.target());
        ADD_FAILURE() << "read as if it were known";
      } catch (const Error &e) {
        is_told(e.what());
      }
    }
}

TEST(ContractVersions, ThreadsOfNativeAot) {
  for (const AotShape &shape : all_n1_shapes())
    for (const char *version : {"\"n9\"", "\"c1\""}) {
      SCOPED_TRACE(name_of(shape));
      Shop shop(shape);
      shop.heap.contract_versions["Thread"] = version;
      OpenedAot opened(shop.heap.target());
      Notes problems;
      EXPECT_THROW(opened.runtime->threads(problems), Error);
      EXPECT_FALSE(opened.heap->notes().empty());
      EXPECT_EQ(opened.runtime->descriptor().contracts.at("Thread"), std::string(version + 1, 2));
    }
}

} // namespace
} // namespace dnheap::test
