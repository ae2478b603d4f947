// Processes of every machine that the runtime is built for, as the files that are written of them: what is read from
// the file is what the builder put into the process.
#include "objects/roots.h"
#include "snapshot/snapshot.h"
#include "support/core_file.h"
#include "support/macho_core_writer.h"
#include "support/minidump_writer.h"
#include "support/random_heap.h"
#include "support/run.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <tuple>

namespace dnheap::test {
namespace {

constexpr ByteOrder little = ByteOrder::little, big = ByteOrder::big;
const std::vector<Net> every_net = {Net::net8, Net::net9, Net::net10, Net::net11};

// Two threads: the second has an object at the top of its stack, another in a register; below its stack pointer is what
// a frame that has returned left behind.
class Process {
public:
  Process(Format format, Net net) : heap({.format = format, .net = net}) {
    std::mt19937_64 random(17);
    add_random_heap(heap, 4000, random);
    SegmentWriter &large = heap.segment(GCSegmentGeneration::loh); // of 32 bits, too, its objects are at multiples of 8
    large.object(heap.array(heap.object_type, 1), 13);
    large.object(heap.array(heap.object_type, 1), 5);
    SegmentWriter &old = heap.segment(GCSegmentGeneration::gen2);
    on_stack = old.object(heap.object_type);
    in_register = old.object(heap.object_type);
    Address left_behind = old.object(heap.object_type);
    ThreadWriter &thread = heap.threads[1];
    thread.stack_limit = align_up(heap.native.reserve(0x4000), 0x1000);
    thread.stack_base = thread.stack_limit + 0x2000;
    thread.stack_pointer = thread.stack_limit + 0x1000;
    heap.native.pointer(thread.stack_pointer, on_stack);
    heap.native.pointer(thread.stack_pointer - 512, left_behind);
  }

  HeapBuilder heap;
  Address on_stack = 0, in_register = 0;
};

using Counts = std::vector<std::tuple<Address, u64, u64>>;
Counts counts(Snapshot &snapshot) {
  Counts out;
  for (const TypeTally &type : snapshot.tally().types)
    out.emplace_back(type.method_table, type.total().count, type.total().bytes);
  return out;
}

Counts counts(const HeapBuilder &heap) {
  std::map<Address, std::pair<u64, u64>> sums;
  for (const WrittenObject &object : heap.objects) {
    ++sums[object.method_table].first;
    sums[object.method_table].second += object.size;
  }
  Counts out;
  for (const auto &[method_table, sum] : sums)
    out.emplace_back(method_table, sum.first, sum.second);
  return out;
}

std::vector<Address> on_stacks(Snapshot &snapshot) {
  std::vector<Address> out;
  for (const Root &root : snapshot.roots().roots)
    if (root.kind == RootKind::stack_conservative)
      out.push_back(root.object);
  std::sort(out.begin(), out.end());
  return out;
}

void expect_all(Process &process, Snapshot &snapshot) {
  const HeapBuilder &heap = process.heap;
  Counts found = counts(snapshot);
  std::sort(found.begin(), found.end());
  EXPECT_EQ(found, counts(heap));
  EXPECT_TRUE(snapshot.tally().walk.gaps.empty());
  EXPECT_EQ(snapshot.tally().walk.bad_objects, 0u);
  std::vector<Address> starts, built;
  for (const HeapSegment &segment : snapshot.heap().segments())
    starts.push_back(segment.start);
  for (const SegmentWriter &segment : heap.segments)
    built.push_back(segment.start);
  std::sort(starts.begin(), starts.end());
  std::sort(built.begin(), built.end());
  EXPECT_EQ(starts, built);
  EXPECT_EQ(on_stacks(snapshot), (std::vector<Address>{process.on_stack, process.in_register}));
  Notes problems;
  std::vector<u64> threads;
  for (const ThreadData &thread : snapshot.runtime().threads(problems))
    threads.push_back(thread.os_id.value_or(0));
  EXPECT_EQ(threads, (std::vector<u64>{heap.threads[0].os_id, heap.threads[1].os_id}));
  EXPECT_TRUE(problems.empty()) << problems[0].text;
}

// By Thread::registers: how many, which one points at the stack, which one is free to hold an object.
struct Machine {
  u16 number;
  Architecture architecture;
  Format format;
  u64 registers, stack_pointer, any;
  u64 page = 4096;
};
const std::vector<Machine> machines = {
    {62, Architecture::x64, {8, little}, 27, 19, 5},
    {183, Architecture::arm64, {8, little}, 34, 31, 19},
    {183, Architecture::arm64, {8, little}, 34, 31, 28, 65536},
    {3, Architecture::x86, {4, little}, 17, 15, 0},
    {40, Architecture::arm, {4, little}, 18, 13, 4},
    {22, Architecture::s390x, {8, big}, 27, 17, 8},
    {243, Architecture::riscv64, {8, little}, 32, 2, 9},
    {258, Architecture::loongarch64, {8, little}, 45, 3, 23},
    {21, Architecture::ppc64, {8, little}, 48, 1, 14, 65536},
};

ElfCoreWriter core_of(Process &process, const Machine &machine) {
  ElfCoreWriter writer = core_writer(process.heap);
  writer.machine = machine.number;
  writer.page_size = machine.page;
  writer.auxv = {{6, machine.page}};
  for (ElfCoreWriter::Thread &thread : writer.threads) {
    thread.registers.assign(machine.registers, 0);
    if (thread.id != process.heap.threads[1].os_id)
      continue;
    thread.registers[machine.stack_pointer] = process.heap.threads[1].stack_pointer;
    thread.registers[machine.any] = process.in_register;
  }
  return writer;
}

std::string as_string(const std::vector<std::byte> &bytes) { return std::string(as_text(bytes)); }

TEST(Architectures, ElfCores) {
  TemporaryFolder folder;
  for (const Machine &machine : machines)
    for (Net net : every_net) {
      SCOPED_TRACE(std::string(name_of(machine.architecture)) + " " + std::to_string(static_cast<int>(net)));
      Process process(machine.format, net);
      auto snapshot = Snapshot::open(folder.write("core", as_string(core_of(process, machine).write())));
      EXPECT_EQ(snapshot->target().architecture, machine.architecture);
      expect_all(process, *snapshot);
    }
}

// Where memory allocators put tags into the top byte of pointers, as bionic does and glibc on request. The heap and the
// runtime's types are not theirs. Cores hold the tags of memory in segments of a kind of their own.
TEST(Architectures, TaggedPointers) {
  TemporaryFolder folder;
  for (Net net : every_net) {
    SCOPED_TRACE(static_cast<int>(net));
    Process process({8, little}, net);
    HeapBuilder &heap = process.heap;
    Address store = 0;
    {
      std::unique_ptr<Target> target = heap.target();
      store = *target->memory.try_pointer(heap.variables.at("ThreadStore"));
    }
    heap.poke(heap.variables.at("ThreadStore"), store | u64{0xb4} << 56, 8);
    ElfCoreWriter writer = core_of(process, machines[1]);
    auto snapshot = Snapshot::open(folder.write("core", as_string(writer.write())));
    expect_all(process, *snapshot);
    writer.machine = machines[0].number; // elsewhere such a pointer leads nowhere
    for (ElfCoreWriter::Thread &thread : writer.threads)
      thread.registers.resize(machines[0].registers);
    Notes problems;
    std::size_t threads = 0;
    try {
      auto other = Snapshot::open(folder.write("other", as_string(writer.write())));
      threads = other->runtime().threads(problems).size();
    } catch (const Error &error) {
      problems.add(error.what());
    }
    EXPECT_EQ(threads, 0u);
    EXPECT_FALSE(problems.empty());
  }
}

struct Context {
  u16 processor;
  Architecture architecture;
  Format format;
  u64 size, stack_pointer, any; // bytes
};

TEST(Architectures, Minidumps) {
  TemporaryFolder folder;
  for (Context context : {Context{9, Architecture::x64, {8, little}, 0x4d0, 0x98, 0x90},
                          Context{12, Architecture::arm64, {8, little}, 0x390, 0x100, 0x08 + 19 * 8},
                          Context{0, Architecture::x86, {4, little}, 0x2cc, 0xc4, 0x9c},
                          Context{5, Architecture::arm, {4, little}, 0x1a0, 0x38, 0x14}})
    for (Net net : every_net) {
      SCOPED_TRACE(std::string(name_of(context.architecture)) + " " + std::to_string(static_cast<int>(net)));
      Process process(context.format, net);
      MinidumpWriter writer = minidump_writer(process.heap);
      writer.processor = context.processor;
      const u64 word = context.format.pointer_size;
      for (MinidumpWriter::Thread &thread : writer.threads) {
        bool second = thread.id == process.heap.threads[1].os_id;
        thread.context = context_bytes(context.size, word,
                                       {{context.stack_pointer, second ? process.heap.threads[1].stack_pointer : 0},
                                        {context.any, second ? process.in_register : 0}});
      }
      auto snapshot = Snapshot::open(folder.write("a.dmp", as_string(writer.write())));
      EXPECT_EQ(snapshot->target().architecture, context.architecture);
      EXPECT_EQ(snapshot->target().os, OperatingSystem::windows);
      expect_all(process, *snapshot);
    }
}

TEST(Architectures, MachoCores) {
  TemporaryFolder folder;
  struct Machine {
    u32 cpu;
    Architecture architecture;
    u64 stack_pointer, any; // places in the record
  };
  for (Machine machine :
       {Machine{macho::cpu_x64, Architecture::x64, 7, 1}, Machine{macho::cpu_arm64, Architecture::arm64, 31, 19}})
    for (Net net : every_net) {
      SCOPED_TRACE(std::string(name_of(machine.architecture)) + " " + std::to_string(static_cast<int>(net)));
      Process process({8, little}, net);
      MachoCoreWriter writer = macho_core_writer(process.heap, machine.cpu);
      for (MachoCoreWriter::Thread &thread : writer.threads) {
        const bool second = thread.id == process.heap.threads[1].os_id;
        thread.state =
            macho_state(machine.cpu, {{machine.stack_pointer, second ? process.heap.threads[1].stack_pointer : 0},
                                      {machine.any, second ? process.in_register : 0}});
      }
      auto snapshot = Snapshot::open(folder.write("a.core", as_string(writer.write())));
      EXPECT_EQ(snapshot->target().architecture, machine.architecture);
      EXPECT_EQ(snapshot->target().os, OperatingSystem::macos);
      expect_all(process, *snapshot);
    }
}

} // namespace
} // namespace dnheap::test
