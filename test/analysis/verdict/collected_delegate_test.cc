// The runtime's message about a callback on a delegate that was collected. test/real/crashes.py shows real ones.
#include "analysis/verdict/collected_delegate.h"

#include <cstring>
#include <gtest/gtest.h>
#include <vector>

namespace dnheap {
namespace {

constexpr Address stack = 0x10000, heap = 0x20000;
constexpr u64 size = 0x1000;

struct Process {
  Process() : bytes(2 * size) {}
  void put_text(u64 at, std::string_view text) {
    for (const char c : text) {
      bytes[at] = static_cast<std::byte>(c);
      at += 2;
    }
  }
  void put_pointer(u64 at, u64 value) { std::memcpy(bytes.data() + at, &value, sizeof value); }
  std::string found() const {
    const Bytes all(bytes);
    const Memory memory(Format{}, {Range{stack, all.first(size)}, Range{heap, all.subspan(size)}});
    return collected_delegate(memory, stack + 0x100, stack + 0x800);
  }
  std::vector<std::byte> bytes;
};

constexpr std::string_view message =
    "A callback was made on a garbage collected delegate of type 'acme!Acme.More.Reading::Invoke'.";

TEST(CollectedDelegate, AWordOnTheStackLeadsToTheMessage) {
  Process process;
  EXPECT_EQ(process.found(), "");
  process.put_text(size + 0x10, message);
  EXPECT_EQ(process.found(), "");
  process.put_pointer(0x208, heap + 0x10);
  EXPECT_EQ(process.found(), "Acme.More.Reading");
}

TEST(CollectedDelegate, TheMessageLiesOnTheStack) {
  Process process;
  process.put_text(0x302, message);
  EXPECT_EQ(process.found(), "Acme.More.Reading");
}

TEST(CollectedDelegate, OutsideOfTheCallsItSaysNothing) {
  Process process;
  process.put_text(size + 0x10, message);
  process.put_pointer(0x808, heap + 0x10);
  process.put_pointer(0xf8, heap + 0x10);
  EXPECT_EQ(process.found(), "");
}

TEST(CollectedDelegate, TextsThatAreCutOrHostile) {
  Process process;
  process.put_pointer(0x208, heap + 0x10);
  process.put_text(size + 0x10, message.substr(0, 40));
  EXPECT_EQ(process.found(), "");
  process.put_text(size + 0x10, "A callback was made on a garbage collected delegate of type 'a!B\x1b[0mC::D'.");
  EXPECT_EQ(process.found(), "B?[0mC");
}

} // namespace
} // namespace dnheap
