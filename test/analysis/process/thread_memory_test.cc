// The records that C libraries keep of threads say where stacks lie, also where the kernel made one mapping of it and
// others.
#include "analysis/process/thread_memory.h"

#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

constexpr u64 page = 4096, fs_base_word = 21, registers_of_x64 = 27;

struct StackOfThread {
  static constexpr Address base = 0x7f0000;
  std::vector<u64> words = std::vector<u64>(0x8000 / 8); // guard of two pages, stack, record
  Target target;

  u64 &word(Address at) { return words[(at - base) / 8]; }
  ThreadMemory find(Address record, Address stack_pointer) {
    target.architecture = Architecture::x64;
    target.os = OperatingSystem::linux_os;
    target.memory = Memory(Format{}, {{base, std::as_bytes(std::span(words))}});
    target.mappings = {{.start = base - 0x100000, .end = base + 0x200000, .readable = true, .writable = true}};
    Thread thread;
    thread.id = 7;
    thread.stack_pointer = stack_pointer;
    thread.registers.resize(registers_of_x64);
    thread.registers[fs_base_word] = record;
    target.threads = {thread};
    const std::vector<ThreadMemory> found = find_thread_memory(target);
    return found.size() == 1 ? found[0] : ThreadMemory{};
  }
};

TEST(ThreadMemory, OfMusl) {
  for (const u64 id : {48, 56}) { // 1.2, and older
    SCOPED_TRACE(id);
    StackOfThread s;
    const Address record = s.base + 0x7b38, end = s.base + 0x7850, guard = 2 * page;
    s.word(record) = record;
    s.word(record + id) = 7;
    const u64 said[] = {s.base, 0x8000, end, end - s.base - guard, guard};
    for (u64 i = 0; i < std::size(said); ++i)
      s.word(record + id + 24 + 8 * i) = said[i];
    ThreadMemory found = s.find(record, s.base + 0x6123);
    EXPECT_TRUE(found.is_certain);
    EXPECT_EQ(found.start, s.base + guard);
    EXPECT_EQ(found.in_use, s.base + 0x6000);
    EXPECT_EQ(found.end, s.base + 0x8000);
    for (u64 i = 0; i < std::size(said); ++i) { // one that does not fit: the mapping it is
      s.word(record + id + 24 + 8 * i) = said[i] + page / 2;
      found = s.find(record, s.base + 0x6123);
      EXPECT_EQ(found.is_certain, i == 1) << i; // a larger mapping would do
      s.word(record + id + 24 + 8 * i) = said[i];
    }
  }
}

TEST(ThreadMemory, OfNoKnownRecord) {
  StackOfThread s;
  const ThreadMemory found = s.find(s.base + 0x7b38, s.base + 0x6123);
  EXPECT_FALSE(found.is_certain);
  EXPECT_EQ(found.start, s.base - 0x100000);
  EXPECT_EQ(found.end, s.base + 0x200000);
}

} // namespace
} // namespace dnheap::test
