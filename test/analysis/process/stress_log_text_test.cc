// Messages of the stress log as text: what printf() would make of them, and what hostile ones become.
#include "analysis/process/stress_log_text.h"
#include "support/block.h"

#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

struct Message {
  std::string text(std::string_view format, std::vector<u64> arguments = {}) {
    Block block({}, 0x10000);
    const Address words = block.reserve(0x100);
    for (u64 i = 0; const char c : std::string_view("stopped"))
      block.put(words + i++, static_cast<u8>(c), 1);
    for (u64 i = 0; const char c : std::string_view("wide"))
      block.put(words + 0x20 + 2 * i++, static_cast<u8>(c), 2);
    const Address at = block.reserve(format.size() + 1);
    for (u64 i = 0; i < format.size(); ++i)
      block.put(at + i, static_cast<u8>(format[i]), 1);
    const Memory memory({}, {block.range()});
    StressMessage message;
    message.format = at;
    message.arguments = std::move(arguments);
    const StressLogNames names{[](Address type) { return type == 0x4000 ? "Shop.Order" : std::string(); },
                               [](Address method) { return method == 0x5001 ? "Shop.Order.Pay()" : std::string(); }};
    return stress_message_text(memory, message, names).value();
  }
};

TEST(StressLogText, AsPrintfHasIt) {
  Message m;
  EXPECT_EQ(m.text("GC: done\n"), "GC: done");
  EXPECT_EQ(m.text("100%% of %d, %u, %i", {~u64{0}, ~u64{0}, 5}), "100% of -1, 4294967295, 5");
  EXPECT_EQ(m.text("%zd %lld %I64u", {~u64{0}, ~u64{1}, ~u64{0}}), "-1 -2 18446744073709551615");
  EXPECT_EQ(m.text("[%4d|%-4d|%04x|%#x|%X]", {7, 7, 0xab, 0xab, 0xab}), "[   7|7   |00ab|0xab|AB]");
  EXPECT_EQ(m.text("%p %p", {0x1234, 0}), "0x1234 0x0");
  EXPECT_EQ(m.text("0x%p, 0x%x, 0x%pT", {0x1234, 0x12, 0x4001}), "0x1234, 0x12, 0x4001 (Shop.Order)");
  EXPECT_EQ(m.text("%s, %.3s, %S", {0x10000, 0x10000, 0x10020}), "stopped, sto, wide");
  EXPECT_EQ(m.text("%c%f", {'x', 0x4000000000000000}), "x2");
}

TEST(StressLogText, NamesOfTheRuntimes) {
  Message m;
  EXPECT_EQ(m.text("%pT is %pT", {0x4001, 0x6000}), "0x4001 (Shop.Order) is 0x6000");
  EXPECT_EQ(m.text("%pM at %pK of %pV", {0x5001, 1, 2}), "0x5001 (Shop.Order.Pay()) at 0x1 of 0x2");
}

// A format takes no more than there is, leads nowhere, and is no longer than a line.
TEST(StressLogText, HostileOnes) {
  Message m;
  EXPECT_EQ(m.text("%d %s %p"), "? ? ?");
  EXPECT_EQ(m.text("%s", {0xdead0000}), "<text 0xdead0000>");
  EXPECT_EQ(m.text("%"), "");
  EXPECT_EQ(m.text("%99999999999999999999d", {1}).size(), 64u);
  EXPECT_EQ(m.text("%*d", {~u64{0}, 1}).size(), 64u);
  EXPECT_EQ(m.text("%y", {16}), "0x10");
  EXPECT_EQ(m.text("a\x1b[1m"), "a?[1m");
  std::string many;
  for (int i = 0; i < 500; ++i)
    many += "%d";
  EXPECT_EQ(m.text(many).size(), 500u);
  EXPECT_FALSE(stress_message_text(Memory({}, {}), StressMessage(), StressLogNames()));
}

TEST(StressLogText, FacilitiesAndTimes) {
  EXPECT_EQ(stress_facility_text(1), "GC");
  EXPECT_EQ(stress_facility_text(0x4001), "GC EH");
  EXPECT_EQ(stress_facility_text(0x80000001), "GC 0x80000000");
  EXPECT_EQ(stress_facility_text(0), "0x0");
  EXPECT_EQ(stress_time_text(133'000'000'000'000'000), "2022-06-18T04:26:40.000000Z");
  EXPECT_EQ(stress_time_text(133'000'000'012'345'678), "2022-06-18T04:26:41.234567Z");
  EXPECT_EQ(stress_time_text(0), "");
  EXPECT_EQ(stress_time_text(~u64{0}), "");
}

} // namespace
} // namespace dnheap::test
