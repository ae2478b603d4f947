// GC info of x86: frames with and without frame pointer, calls and code that can be stopped anywhere, written byte by
// byte as the format has it; damage of it is an outcome, and costs no more than the bytes.
#include "runtime/compiled/x86/gc_info_x86.h"
#include "runtime/compiled/x86/unwind_x86.h"

#include <gtest/gtest.h>
#include <random>

namespace dnheap {
namespace {

constexpr Address info_at = 0x1000, stack_at = 0x8000;
constexpr Format x86{4, ByteOrder::little};
constexpr u8 eax = 0, esp = 4, ebp = 5, esi = 6, edi = 7;

// Memory with GC info and a stack of words.
class WrittenInfo {
public:
  WrittenInfo(std::vector<u8> info, std::vector<u32> stack = {}) : info_(std::move(info)), stack_(std::move(stack)) {
    memory_ = Memory(x86, {{info_at, std::as_bytes(std::span(info_))}, {stack_at, std::as_bytes(std::span(stack_))}});
  }
  const Memory &memory() const { return memory_; }
  GcInfoX86 info(u32 version = 4) const { return {memory_, info_at, version}; }

private:
  std::vector<u8> info_;
  std::vector<u32> stack_;
  Memory memory_{x86, {}};
};

std::vector<GcSlot> slots_of(const GcInfoX86 &info, const CodePoint &point, bool is_funclet = false) {
  std::vector<GcSlot> out;
  const ReadOutcome outcome = info.live_slots(point, is_funclet, out);
  EXPECT_TRUE(outcome) << outcome.text();
  return out;
}
CodePoint returns_to(u64 offset) { return {.offset = offset}; }

GcSlot in_register(u8 reg, bool interior = false) { return {.reg = reg, .interior = interior}; }
GcSlot at(GcSlot::Base base, i32 offset, bool interior = false, bool pinned = false, bool tracked = true) {
  return {.base = base, .interior = interior, .pinned = pinned, .tracked = tracked, .offset = offset};
}
using enum GcSlot::Base;

// 30 bytes; pushes esi; one argument is pushed at 5, and ten bytes on a call returns that leaves it there.
const std::vector<u8> without_frame = {30, 0x12, 0x05, 0x80, 0xff};

TEST(GcInfoX86, FrameWithoutFramePointer) {
  WrittenInfo target(without_frame, {0xa1, 0x51, 0x4711});
  const GcInfoX86 info = target.info();
  ASSERT_TRUE(info.outcome()) << info.outcome().text();
  EXPECT_EQ(info.code_length(), 30u);
  EXPECT_EQ(info.saved(), std::vector<X86Register>{X86Register::esi});
  EXPECT_FALSE(info.has_frame_pointer());
  EXPECT_EQ(slots_of(info, returns_to(15)), std::vector<GcSlot>{in_register(esi)});
  EXPECT_TRUE(slots_of(info, returns_to(20)).empty());
  EXPECT_TRUE(slots_of(info, returns_to(29)).empty()) << "an epilog";
  u64 pushed = 0;
  EXPECT_TRUE(info.pushed_bytes(15, pushed));
  EXPECT_EQ(pushed, 4u);
  EXPECT_TRUE(info.pushed_bytes(4, pushed));
  EXPECT_EQ(pushed, 0u);

  Registers registers;
  registers.set(esp, stack_at);
  registers.set(ebp, 7);
  registers.set(eax, 1);
  ASSERT_TRUE(unwind_x86(target.memory(), info, 15, false, registers));
  EXPECT_EQ(registers.ip, 0x4711u);
  EXPECT_EQ(registers.get(esp), stack_at + 12);
  EXPECT_EQ(registers.get(esi), 0x51u);
  EXPECT_EQ(registers.saved_at[esi], stack_at + 4);
  EXPECT_EQ(registers.get(ebp), 7u);
  EXPECT_FALSE(registers.knows(eax)) << "a call changes it";
  // Before its first instruction there is the return address alone; in the prolog nobody says.
  registers.set(esp, stack_at + 8);
  ASSERT_TRUE(unwind_x86(target.memory(), info, 0, false, registers));
  EXPECT_EQ(registers.get(esp), stack_at + 12);
  EXPECT_FALSE(unwind_x86(target.memory(), info, 29, false, registers));
  registers.set(esp, stack_at + 8);
  EXPECT_EQ(unwind_x86(target.memory(), info, 15, false, registers).kind, ReadOutcome::Kind::missing);
}

// 40 bytes, a frame pointer, edi and esi, one local; two arguments that it takes away itself; two places that always
// hold something, one that does from 5 to 24; a call that returns to 10.
const std::vector<u8> with_frame = {
    40,   0xd4, 0x8a, 0xb9, 0x46, 1,    5, // header; one tracked place; where calls stand
    0x07, 0x07, 0x0c, 0x05, 0x14, 0x8a, 0x45, 0xff};

TEST(GcInfoX86, FrameWithFramePointer) {
  WrittenInfo target(with_frame, {0, 0x51, 0xd1, 0xb9, 0x4711, 1, 2});
  const GcInfoX86 info = target.info();
  ASSERT_TRUE(info.outcome()) << info.outcome().text();
  EXPECT_TRUE(info.has_frame_pointer());
  EXPECT_EQ(info.argument_bytes(), 8u);
  EXPECT_EQ(info.local_bytes(), 4u);
  const GcSlot untracked[] = {at(frame_register, -8, true, false, false), at(frame_register, -16, false, true, false)};
  EXPECT_EQ(slots_of(info, returns_to(10)), (std::vector<GcSlot>{in_register(esi), at(sp, 0), at(sp, 8), untracked[0],
                                                                 untracked[1], at(frame_register, -12)}));
  EXPECT_EQ(slots_of(info, returns_to(26)), (std::vector<GcSlot>{untracked[0], untracked[1]}));
  EXPECT_EQ(slots_of(info, returns_to(25)).size(), 3u) << "inside of the call it lives";
  EXPECT_EQ(slots_of(info, {.offset = 25, .active = true}).size(), 2u);
  EXPECT_EQ(slots_of(info, {.offset = 10, .aborted = true}).size(), 3u) << "what it goes on with, it does not";
  EXPECT_EQ(slots_of(info, {.offset = 26, .filter = true}).size(), 0u);

  Registers registers;
  registers.set(esp, stack_at);
  registers.set(ebp, stack_at + 12);
  ASSERT_TRUE(unwind_x86(target.memory(), info, 10, false, registers));
  EXPECT_EQ(registers.ip, 0x4711u);
  EXPECT_EQ(registers.get(esp), stack_at + 28);
  EXPECT_EQ(registers.get(ebp), 0xb9u);
  EXPECT_EQ(registers.get(edi), 0xd1u);
  EXPECT_EQ(registers.get(esi), 0x51u);
}

// A handler has no frame of its own: where it stands on the stack counts, and ebp is that of its method.
TEST(GcInfoX86, Handlers) {
  std::vector<u8> bytes = with_frame;
  bytes.insert(bytes.begin() + 4, 0xc3); // has handlers
  WrittenInfo target(bytes, {0x4711});
  const GcInfoX86 info = target.info();
  ASSERT_TRUE(info.outcome()) << info.outcome().text();
  Registers registers;
  registers.set(esp, stack_at);
  registers.set(ebp, 0x77);
  ASSERT_TRUE(unwind_x86(target.memory(), info, 10, true, registers));
  EXPECT_EQ(registers.ip, 0x4711u);
  EXPECT_EQ(registers.get(ebp), 0x77u);
}

// Registers begin and cease to hold references, arguments are pushed and taken away.
TEST(GcInfoX86, CodeThatCanBeStoppedAnywhere) {
  WrittenInfo target({60, 0xd4, 0x40,         // as above, but for the arguments and places; interruptible
                      0x42, 0xbf, 0x73,       // eax at 2; at 5 esi leads into an object
                      0x81, 0xbf, 0x88, 0xb1, // pushed at 6: two references; at 7: none
                      0xca, 0x00, 0xf0, 0xfd, 2,
                      0xff}); // at 9 one is taken away, eax is dead; at 17 what is left holds nothing
  const GcInfoX86 info = target.info();
  ASSERT_TRUE(info.outcome()) << info.outcome().text();
  auto now = [](u64 offset) { return CodePoint{.offset = offset, .active = true}; };
  // Arguments lie below the local and the three registers that it saves.
  const std::vector<GcSlot> pushed = {at(frame_register, -16), at(frame_register, -20, true)};
  EXPECT_TRUE(slots_of(info, now(6)).size() == 4);
  EXPECT_EQ(slots_of(info, now(8)),
            (std::vector<GcSlot>{in_register(eax), in_register(esi, true), pushed[0], pushed[1]}));
  EXPECT_EQ(slots_of(info, now(9)), (std::vector<GcSlot>{in_register(esi, true), pushed[0], pushed[1]}));
  EXPECT_EQ(slots_of(info, returns_to(9)).size(), 4u) << "inside of the call eax lives";
  EXPECT_EQ(slots_of(info, now(30)), std::vector<GcSlot>{in_register(esi, true)});
  // In a handler they lie by the stack pointer.
  EXPECT_EQ(slots_of(info, now(9), true), (std::vector<GcSlot>{in_register(esi, true), at(sp, 4), at(sp, 0, true)}));
}

TEST(GcInfoX86, OtherVersions) {
  WrittenInfo target(without_frame);
  EXPECT_EQ(target.info(3).outcome().kind, ReadOutcome::Kind::malformed);
  // What is behind 0x4f: the kind of return up to 3, and since version 5 up to 7; then regions without collections.
  WrittenInfo second({30, 0x92, 0xcf, 5, 0, 2, 3, 1, 0xff});
  EXPECT_TRUE(second.info(5).outcome());
  EXPECT_TRUE(second.info(4).outcome());
  WrittenInfo third({30, 0x92, 0xcf, 0x7f, 0xff});
  EXPECT_EQ(third.info(4).outcome().kind, ReadOutcome::Kind::malformed);
}

TEST(GcInfoX86, DamageIsAnOutcome) {
  std::mt19937 random(1);
  for (int round = 0; round < 20000; ++round) {
    std::vector<u8> bytes = round % 2 ? with_frame : without_frame;
    bytes.resize(40 + random() % 40);
    for (int i = 0; i < 6; ++i)
      bytes[random() % bytes.size()] = static_cast<u8>(random());
    WrittenInfo target(std::move(bytes), {1, 2, 3, 4, 5, 6, 7, 8});
    const GcInfoX86 info = target.info(4 + round % 3 / 2);
    if (!info.outcome())
      continue;
    for (u64 offset : {u64{0}, u64{1}, u64{15}, u64{info.code_length()}, ~u64{0}})
      for (bool is_funclet : {false, true}) {
        std::vector<GcSlot> slots;
        info.live_slots({.offset = offset, .active = round % 3 == 0}, is_funclet, slots);
        EXPECT_LT(slots.size(), 200'000u);
        Registers registers;
        registers.set(esp, stack_at);
        registers.set(ebp, stack_at + 16);
        unwind_x86(target.memory(), info, offset, is_funclet, registers);
      }
  }
}

} // namespace
} // namespace dnheap
