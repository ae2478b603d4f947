// Snapshot: what is built when, which runtime is chosen, and what errors say.
#include "snapshot/snapshot.h"
#include "support/heap_builder.h"
#include "support/run.h"

#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

template <class Call> std::string error_of(Call call) {
  try {
    call();
  } catch (const Error &e) {
    return e.what();
  }
  return "";
}

void add_heap(HeapBuilder &heap) {
  SegmentWriter &young = heap.segment(GCSegmentGeneration::gen0);
  for (int i = 0; i < 100; ++i)
    young.string("text");
}

TEST(Snapshot, TalliesOnceAndOnDemand) {
  for (Format format : all_formats) {
    SCOPED_TRACE(name_of(format));
    HeapBuilder heap({.format = format});
    add_heap(heap);
    std::vector<PassTime> times;
    SnapshotOptions options;
    options.watch.times = &times;
    options.threads = 2;
    Snapshot snapshot(heap.target(), options);
    EXPECT_EQ(snapshot.tally().walk.objects, 100u);
    u64 passes = times.size();
    EXPECT_EQ(&snapshot.tally(), &snapshot.tally());
    snapshot.heap();
    EXPECT_EQ(times.size(), passes) << "nothing is built twice";
    Address first = heap.objects[0].address, fifth = heap.objects[5].address;
    HeapTally part = snapshot.tally({.range = {{first, fifth}}});
    EXPECT_EQ(part.types.at(0).total().count, 5u);
    EXPECT_EQ(part.walk.objects, 100u);
    EXPECT_EQ(times.size(), passes + 1);
  }
}

TEST(Snapshot, SizesThatWereForgottenAreReadAgain) {
  HeapBuilder heap({});
  add_heap(heap);
  std::vector<PassTime> times;
  SnapshotOptions options;
  options.watch.times = &times;
  Snapshot snapshot(heap.target(), options);
  EXPECT_FALSE(snapshot.has_sizes());
  for (int i = 0; i < 3; ++i) {
    const ObjectSizes sizes = snapshot.sizes();
    ASSERT_EQ(sizes.bytes.size(), 100u);
    for (u32 object = 0; object < 100; ++object)
      EXPECT_EQ(sizes.of(ObjectId{object}), heap.objects[object].aligned_size);
    EXPECT_TRUE(snapshot.has_sizes());
    EXPECT_EQ(std::ranges::count(times, "sizes", &PassTime::name), i) << "at first with the graph";
    snapshot.forget_sizes();
    EXPECT_FALSE(snapshot.has_sizes());
  }
}

TEST(Snapshot, ThreadsDefaultToProcessors) {
  HeapBuilder heap({});
  EXPECT_GE(Snapshot(heap.target(), {}).threads(), 1u);
}

TEST(Snapshot, NoRuntime) {
  HeapBuilder heap({});
  std::unique_ptr<Target> target = heap.target();
  target->modules[0].path = "/lib/libc.so";
  Snapshot snapshot(std::move(target), {});
  std::string error = error_of([&] { snapshot.runtime(); });
  EXPECT_NE(error.find("synthetic.core: no .NET runtime found"), std::string::npos) << error;
  EXPECT_NE(error.find("in 3 modules"), std::string::npos) << error;
}

TEST(Snapshot, SeveralRuntimes) {
  HeapBuilder heap({});
  add_heap(heap);
  auto with_two = [&](std::optional<u32> choice) {
    std::unique_ptr<Target> target = heap.target();
    target->modules.insert(target->modules.begin(), Module{"/other/libcoreclr.so", 0x1000, {{0x1000, 0x2000, 0}}});
    SnapshotOptions options;
    options.runtime = choice;
    return std::make_unique<Snapshot>(std::move(target), options);
  };
  // The one that has a heap, and a note that tells of the other.
  auto snapshot = with_two(std::nullopt);
  EXPECT_EQ(snapshot->runtime().module().path, "/dotnet/libcoreclr.so");
  ASSERT_FALSE(snapshot->target().notes.empty());
  const std::string &note = snapshot->target().notes.back().text;
  EXPECT_TRUE(note.starts_with("the process has 2 .NET runtimes: 1 = /other/libcoreclr.so (version unknown, no heap "
                               "found: "))
      << note;
  EXPECT_NE(note.find("), 2 = /dotnet/libcoreclr.so (11.0.1, with a GC heap); dnheap uses the one with a heap"),
            note.npos)
      << note;
  EXPECT_EQ(with_two(2)->runtime().module().path, "/dotnet/libcoreclr.so");
  for (u32 none : {0u, 3u})
    EXPECT_NE(error_of([&] { with_two(none)->runtime(); }).find("the process has 2"), std::string::npos);
  EXPECT_NE(error_of([&] { with_two(1)->runtime(); }).find("/other/libcoreclr.so"), std::string::npos);
}

TEST(Snapshot, SeveralRuntimesWithAHeap) {
  HeapBuilder heap({});
  add_heap(heap);
  auto with_two = [&](std::optional<u32> choice) {
    std::unique_ptr<Target> target = heap.target();
    target->modules.push_back(target->modules[0]); // the same memory under another name
    target->modules[0].path = "/other/libcoreclr.so";
    SnapshotOptions options;
    options.runtime = choice;
    return std::make_unique<Snapshot>(std::move(target), options);
  };
  try {
    with_two(std::nullopt)->heap();
    FAIL() << "chosen without a reason";
  } catch (const UsageError &error) {
    std::string text = error.what();
    EXPECT_NE(
        text.find(": choose a runtime with --runtime N: the process has 2 .NET runtimes: 1 = /other/libcoreclr.so "
                  "(11.0.1, with a GC heap), 2 = /dotnet/libcoreclr.so (11.0.1, with a GC heap)"),
        text.npos)
        << text;
  }
  EXPECT_EQ(with_two(1)->runtime().module().path, "/other/libcoreclr.so");
  EXPECT_EQ(with_two(2)->tally().walk.objects, 100u);
}

TEST(Snapshot, NoRuntimeHasAHeap) {
  HeapBuilder heap({.net = Net::net8});
  add_heap(heap);
  std::unique_ptr<Target> target = heap.target();
  target->modules[0] = {"/a/8.0.1/libcoreclr.so", 0x1000, {{0x1000, 0x2000, 0}}};
  target->modules.push_back({"/b/libcoreclr.so", 0x3000, {{0x3000, 0x4000, 0}}});
  Snapshot snapshot(std::move(target), {});
  std::string error = error_of([&] { snapshot.heap(); });
  EXPECT_TRUE(error.starts_with("synthetic.core: no heap was found in any of the process's .NET runtimes: 1 = "
                                "/a/8.0.1/libcoreclr.so (8.0.1, no heap found: "))
      << error;
}

// All of the runtime's variables are there, and all are zero.
TEST(Snapshot, ARuntimeThatWasNotStarted) {
  const std::vector<std::byte> zeros(1 << 20);
  for (Net net : {Net::net8, Net::net10}) {
    HeapBuilder heap({.net = net, .published = false});
    add_heap(heap);
    heap.target();
    for (Address at = heap.data.address(); at < heap.data.end(); at += 8)
      heap.poke(at, 0, 8);
    auto error = [&](bool has_bss) {
      std::unique_ptr<Target> target = heap.target();
      if (has_bss)
        target->memory.lay_under({{heap.data.address(), zeros}});
      Snapshot snapshot(std::move(target), {});
      return error_of([&] { snapshot.heap(); });
    };
    EXPECT_TRUE(
        error(true).starts_with("synthetic.core: it seems that the runtime was loaded but had not started, or "
                                "had only begun to start: all its variables are in this dump, and yet GcDacVars"))
        << error(true);
    // With a part of them missing nothing can be said.
    EXPECT_TRUE(error(false).starts_with("synthetic.core: GcDacVars")) << error(false);
  }
}

TEST(Snapshot, ErrorsNameTheFileAndWhatIsOddAboutIt) {
  HeapBuilder heap({.net = Net::net8});
  add_heap(heap);
  heap.hole(heap.data.address(), heap.data.address() + (1 << 20));
  std::unique_ptr<Target> target = heap.target();
  target->notes.add("truncated: 3 of 40 segments end beyond the file");
  Snapshot snapshot(std::move(target), {});
  std::string error = error_of([&] { snapshot.heap(); });
  EXPECT_EQ(error.find("synthetic.core: truncated: 3 of 40"), 0u) << error;
  EXPECT_NE(error.find("; the variables of "), std::string::npos) << error;
}

TEST(Snapshot, Cancelled) {
  HeapBuilder heap({});
  add_heap(heap);
  Progress progress;
  SnapshotOptions options;
  options.watch.progress = &progress;
  Snapshot snapshot(heap.target(), options);
  progress.cancel = true;
  EXPECT_THROW(snapshot.tally(), Interrupted);
  progress.cancel = false;
  EXPECT_EQ(snapshot.tally().walk.objects, 100u);
}

TEST(Snapshot, OpensFiles) {
  TemporaryFolder folder;
  EXPECT_NE(error_of([&] { Snapshot::open(folder.path("absent.core")); }).find("absent.core"), std::string::npos);
  std::string text = folder.write("text.core", "no dump");
  EXPECT_NE(error_of([&] { Snapshot::open(text); }).find("not a dump: text"), std::string::npos);
}

} // namespace
} // namespace dnheap::test
