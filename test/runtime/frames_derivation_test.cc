// Where threads keep their Frames, and how kinds of Frames are told, found in memory alone: for every version and
// system; and nothing where two answers would do.
#include "runtime/coreclr/threads/thread_1.h"
#include "runtime/layout/coreclr/frames.h"
#include "runtime/vm/frame_kinds.h"
#include "runtime/vm/helper_method_layout.h"

#include <gtest/gtest.h>
#include <map>

namespace dnheap::test {
namespace {

constexpr Address data_at = 0x100000, gc_variable = 0x200000, threads_at = 0x300000, stacks_at = 0x1000000,
                  vtables_at = 0x500000;
constexpr u64 thread_size = 256, stack_size = 0x2000, gc_entry = 20, first_vtable_entry = 60;
constexpr i64 link = 64;

struct Version {
  const char *name;
  bool is_8, has_vtables, is_windows;
  i64 head() const { return is_8 ? 16 : 8; }
  i64 call() const { return is_8 ? 32 : 24; }
};
constexpr Version versions[] = {{"8.0", true, true, false},    {"8.0 Windows", true, true, true},
                                {"9.0", false, true, false},   {"9.0 Windows", false, true, true},
                                {"10.0", false, false, false}, {"10.0 Windows", false, false, true}};

class Process {
public:
  explicit Process(const Version &version, u64 threads) : version_(version) {
    words[data_at + 8 * gc_entry] = gc_variable;
    u64 entry = first_vtable_entry;
    for (const char *name : frame_vtable_order()) {
      const std::string_view kind = name;
      const bool is_com = kind == "ComMethodFrame" || kind == "CLRToCOMMethodFrame" || kind == "ComPrestubMethodFrame";
      if ((is_com && !version.is_windows) || (kind == "MulticastFrame" && !version.is_8))
        continue;
      vtables_[name] = vtables_at + 64 * entry;
      words[data_at + 8 * entry++] = vtables_[name];
    }
    // The list of threads: store {first link}, threads {head…, link…}.
    words[data_at] = threads_at - 0x100;
    words[threads_at - 0x100] = thread(0) + link;
    for (u64 i = 0; i < threads; ++i) {
      for (u64 offset = 0; offset < thread_size; offset += 8)
        words[thread(i) + offset] = 0;
      words[thread(i) + link] = i + 1 < threads ? thread(i + 1) + link : 0;
      words[thread(i) + 80] = 1000 + i;
      words[thread(i) + 96] = stacks_at + stack_size * (i + 1);
      words[thread(i) + 104] = stacks_at + stack_size * i;
      words[thread(i) + static_cast<u64>(version.head())] = ~u64{0};
      place_.push_back(stacks_at + stack_size * (i + 1) - 0x100);
    }
  }

  Address thread(u64 i) const { return threads_at + thread_size * i; }

  // A Frame of a thread, inside those that it has.
  Address add(u64 i, const char *kind) {
    place_[i] -= 0x180;
    const Address frame = place_[i];
    const u64 head = thread(i) + static_cast<u64>(version_.head());
    const FrameKind &of = *find_frame_kind(kind);
    for (u64 offset = 0; offset < 0x180; offset += 8)
      words[frame + offset] = 0;
    words[frame] = version_.has_vtables ? vtables_.at(kind) : version_.is_windows ? of.number_with_com : of.number;
    words[frame + 8] = words[head];
    words[head] = frame;
    if (of.shape == FrameShape::inlined_call) {
      words[frame + static_cast<u64>(version_.call())] = frame - 16;
      words[frame + static_cast<u64>(version_.call()) + 8] = 0x7000000;
    }
    if (of.shape == FrameShape::helper_method) {
      words[frame + 32] = thread(i);
      const u64 end = HelperMethodLayout(Architecture::x64,
                                         version_.is_windows ? OperatingSystem::windows : OperatingSystem::linux_os)
                          .end;
      for (u64 k = 0; k < of.protected_places; ++k)
        words[frame + end + 8 * k] = frame - 64;
    }
    return frame;
  }

  ContractDescriptor derive() {
    Target target;
    target.architecture = Architecture::x64;
    target.os = version_.is_windows ? OperatingSystem::windows : OperatingSystem::linux_os;
    std::vector<u64> values;
    values.reserve(words.size());
    std::vector<Range> ranges;
    for (auto [at, value] : words) {
      values.push_back(value);
      ranges.push_back({at, std::as_bytes(std::span(&values.back(), 1))});
    }
    target.memory = Memory(Format{}, std::move(ranges));
    Module module;
    module.base = data_at;
    module.extents = {{data_at, data_at + 0x1000, 0}};
    ContractDescriptor d;
    d.contracts["Thread"] = "c1";
    d.set_number("ThreadStore", data_at, true, Origin::published);
    d.set_field("ThreadStore", "FirstThreadLink", 0, Origin::published);
    d.set_field("Thread", "LinkNext", link, Origin::published);
    d.set_field("Thread", "OSId", 80, Origin::published);
    d.set_field("Thread", "CachedStackBase", 96, Origin::published);
    d.set_field("Thread", "CachedStackLimit", 104, Origin::published);
    if (version_.is_8)
      d.set_field("MethodTable", "Token", 10, Origin::published);
    Derivation derivation(target, module, d, {});
    Notes problems;
    derive_frames(derivation, Thread1(target.memory, d).get_threads(problems), gc_variable);
    return d;
  }

  u64 identifier(const char *kind) const {
    const FrameKind &of = *find_frame_kind(kind);
    return version_.has_vtables ? vtables_.at(kind) : version_.is_windows ? of.number_with_com : of.number;
  }
  std::map<Address, u64> words;

private:
  const Version &version_;
  std::map<std::string, Address> vtables_;
  std::vector<Address> place_; // of each thread's innermost Frame
};

template <class Test> void for_each_version(Test test) {
  for (const Version &version : versions) {
    SCOPED_TRACE(version.name);
    test(version);
  }
}

TEST(FramesDerivation, KindsAndPlaces) {
  for_each_version([](const Version &version) {
    Process process(version, 4);
    process.add(0, "InlinedCallFrame");
    for (u64 i = 1; i < 4; ++i)
      process.add(i, "DebuggerU2MCatchHandlerFrame");
    process.add(2, "InlinedCallFrame");
    if (version.has_vtables)
      process.add(3, "HelperMethodFrame_1OBJ");
    const ContractDescriptor d = process.derive();
    EXPECT_EQ(d.try_offset("Thread", "Frame"), version.head());
    EXPECT_EQ(d.try_offset("InlinedCallFrame", "CallSiteSP"), version.call());
    for (const char *kind : {"InlinedCallFrame", "PrestubMethodFrame", "RedirectedThreadFrame", "ExceptionFilterFrame",
                             "FaultingExceptionFrame"})
      EXPECT_EQ(d.try_number(std::string(kind) + "Identifier"), process.identifier(kind)) << kind;
    EXPECT_EQ(d.try_number("ComMethodFrameIdentifier").has_value(), version.is_windows);
    EXPECT_EQ(d.try_number("MulticastFrameIdentifier").has_value(), version.is_8);
    EXPECT_FALSE(d.try_offset("Thread", "GCFrame")) << "no thread has one";
  });
}

// Without a native call: by what threads start under, and what helper methods hold.
TEST(FramesDerivation, HelperMethodsAlone) {
  for_each_version([](const Version &version) {
    if (!version.has_vtables)
      return;
    Process process(version, 3);
    for (u64 i = 0; i < 3; ++i) {
      process.add(i, "DebuggerU2MCatchHandlerFrame");
      process.add(i, "HelperMethodFrame");
    }
    EXPECT_EQ(process.derive().try_number("HelperMethodFrameIdentifier"), process.identifier("HelperMethodFrame"));
  });
}

// One kind that may be any of several is none.
TEST(FramesDerivation, TwoAnswersAreNone) {
  for_each_version([](const Version &version) {
    if (!version.has_vtables)
      return;
    Process process(version, 2);
    for (u64 i = 0; i < 2; ++i)
      process.add(i, "HelperMethodFrame_3OBJ");
    const ContractDescriptor d = process.derive();
    EXPECT_EQ(d.try_number("HelperMethodFrameIdentifier"), std::nullopt);
    EXPECT_TRUE(d.missing.contains("DacTable.FirstFrameVtable"));
  });
}

// Numbers that are not those of 10.0.
TEST(FramesDerivation, NumbersOfAnotherVersion) {
  Process process(versions[4], 2);
  const Address frame = process.add(0, "InlinedCallFrame");
  process.words[frame + 24] = 5;
  const ContractDescriptor d = process.derive();
  EXPECT_EQ(d.try_number("InlinedCallFrameIdentifier"), std::nullopt);
  EXPECT_TRUE(d.missing.contains("InlinedCallFrameIdentifier"));
}

TEST(FramesDerivation, WhatTheRuntimeProtects) {
  for_each_version([](const Version &version) {
    Process process(version, 3);
    process.add(0, "InlinedCallFrame");
    const Address record = stacks_at + 0x800;
    const u64 words[] = {~u64{0}, process.thread(0), record, 1};
    for (u64 i = 0; i < 4; ++i)
      process.words[record + 8 * i] = words[i];
    process.words[process.thread(0) + 200] = record;
    for (u64 i = 1; i < 3; ++i)
      process.words[process.thread(i) + 200] = ~u64{0};
    EXPECT_EQ(process.derive().try_offset("Thread", "GCFrame"), 200);
  });
}

// Of a thread whose stack has overflowed the runtime goes on on another one: its list begins there, and ends as any
// does.
TEST(FramesDerivation, AListThatBeginsOnAnotherStack) {
  for_each_version([](const Version &version) {
    for (bool ends : {true, false}) {
      Process process(version, 3);
      for (u64 i = 0; i < 3; ++i)
        process.add(i, "InlinedCallFrame");
      constexpr Address elsewhere = 0x9000000;
      const u64 head = process.thread(0) + static_cast<u64>(version.head());
      process.words[elsewhere] = process.identifier("FaultingExceptionFrame");
      process.words[elsewhere + 8] = ends ? process.words[head] : 0x12345678;
      process.words[head] = elsewhere;
      EXPECT_EQ(process.derive().try_offset("Thread", "Frame").has_value(), ends);
    }
  });
}

// The main thread overflows its stack, and no other thread has called anything: the record that says so is enough, by
// where the thread stood.
TEST(FramesDerivation, AnOverflowAlone) {
  for_each_version([](const Version &version) {
    if (!version.has_vtables)
      return;
    constexpr u64 context = 32;
    for (u64 stood_at : {stacks_at, stacks_at - 32, stacks_at + 0x1000000}) {
      SCOPED_TRACE(stood_at);
      Process process(version, 2);
      process.add(1, "DebuggerU2MCatchHandlerFrame");
      constexpr Address elsewhere = 0x9000000;
      const u64 head = process.thread(0) + static_cast<u64>(version.head());
      process.words[elsewhere] = process.identifier("FaultingExceptionFrame");
      process.words[elsewhere + 8] = process.words[head];
      process.words[elsewhere + context + 0x98] = stood_at;
      process.words[head] = elsewhere;
      const ContractDescriptor d = process.derive();
      for (const char *kind : {"FaultingExceptionFrame", "InlinedCallFrame"})
        EXPECT_EQ(d.try_number(std::string(kind) + "Identifier"),
                  stood_at > stacks_at ? std::nullopt : std::optional(process.identifier(kind)))
            << kind;
    }
  });
}

// The main thread reads what it may not, and no other one has called anything: the record has its registers.
TEST(FramesDerivation, AFaultAlone) {
  for_each_version([](const Version &version) {
    if (!version.has_vtables)
      return;
    constexpr u64 context = 32, flags = 0x10001f;
    for (u64 segment : {0x33, 0x2b}) {
      Process process(version, 2);
      process.add(1, "DebuggerU2MCatchHandlerFrame");
      const Address fault = process.add(0, "FaultingExceptionFrame");
      process.words[fault + context + 0x30] = flags;
      process.words[fault + context + 0x38] = segment;
      process.words[fault + context + 0x98] = fault + 0x178;
      const ContractDescriptor d = process.derive();
      for (const char *kind : {"FaultingExceptionFrame", "InlinedCallFrame"})
        EXPECT_EQ(d.try_number(std::string(kind) + "Identifier"),
                  segment == 0x33 ? std::optional(process.identifier(kind)) : std::nullopt)
            << kind;
    }
  });
}

// A list that leads out of the stack is none.
TEST(FramesDerivation, UnsoundLists) {
  Process process(versions[2], 2);
  for (u64 i = 0; i < 2; ++i) {
    const Address frame = process.add(i, "InlinedCallFrame");
    process.words[frame + 8] = 0x12345678;
  }
  EXPECT_EQ(process.derive().try_offset("Thread", "Frame"), std::nullopt);
}

} // namespace
} // namespace dnheap::test
