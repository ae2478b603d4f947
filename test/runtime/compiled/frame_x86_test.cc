// Native functions of x86, left by the frame pointer: what counts as a return address, how a function without frame is
// left, and where a stack ends.
#include "runtime/compiled/frame_x86.h"

#include <cstring>
#include <gtest/gtest.h>
#include <map>

namespace dnheap::test {
namespace {

constexpr unsigned in_esp = 4, in_ebp = 5;
constexpr Address x86_code_at = 0x10000, x86_stack_at = 0x80000;
constexpr Address after_call = x86_code_at + 0x20, after_other = x86_code_at + 0x40, in_zeros = x86_code_at + 0x80,
                  in_missing = 0x20000, in_data = 0x30000;
const CallingConvention &x86 = *calling_convention(Architecture::x86, OperatingSystem::windows);

bool is_call(std::vector<u8> code) { return ends_with_call_x86(std::as_bytes(std::span(code))); }

TEST(FrameX86, CallInstructions) {
  EXPECT_TRUE(is_call({0xe8, 1, 2, 3, 4}));
  EXPECT_TRUE(is_call({0x90, 0x90, 0xe8, 1, 2, 3, 4}));
  EXPECT_TRUE(is_call({0xff, 0xd0}));                   // call eax
  EXPECT_TRUE(is_call({0xff, 0x10}));                   // call [eax]
  EXPECT_TRUE(is_call({0xff, 0x50, 0x0c}));             // call [eax+12]
  EXPECT_TRUE(is_call({0xff, 0x15, 1, 2, 3, 4}));       // call [address]
  EXPECT_TRUE(is_call({0xff, 0x90, 1, 2, 3, 4}));       // call [eax+offset]
  EXPECT_TRUE(is_call({0xff, 0x14, 0x88}));             // call [eax+4*ecx]
  EXPECT_TRUE(is_call({0xff, 0x54, 0x88, 4}));          // call [eax+4*ecx+4]
  EXPECT_TRUE(is_call({0xff, 0x14, 0x8d, 1, 2, 3, 4})); // call [4*ecx+address]
  EXPECT_TRUE(is_call({0xff, 0x94, 0x88, 1, 2, 3, 4})); // call [eax+4*ecx+offset]
  EXPECT_FALSE(is_call({}));
  EXPECT_FALSE(is_call({0xff}));
  EXPECT_FALSE(is_call({0xe8, 1, 2, 3}));
  EXPECT_FALSE(is_call({0xe9, 1, 2, 3, 4}));    // jmp
  EXPECT_FALSE(is_call({0xff, 0xe0}));          // jmp eax
  EXPECT_FALSE(is_call({0xff, 0x15, 1, 2, 3})); // cut off
  EXPECT_FALSE(is_call({0xff, 0x50}));          // cut off
  EXPECT_FALSE(is_call({0xcc, 0xcc, 0xcc, 0xcc}));
}

class FramesX86 : public testing::Test {
protected:
  FramesX86() {
    now.ip = x86_code_at;
    now.set(in_esp, x86_stack_at);
    now.set(in_ebp, x86_stack_at + 0x20);
    put(after_call - 5, {0xe8, 1, 2, 3, 4});
    put(after_other - 7, {1, 2, 3, 4, 5, 6, 7});
  }
  void put(Address at, std::vector<u8> bytes) {
    std::memcpy(code.data() + (at - x86_code_at), bytes.data(), bytes.size());
  }
  void frame(Address at, u32 next, u32 back) {
    words[at] = next;
    words[at + 4] = back;
  }
  bool leave(bool is_exact) {
    std::vector<std::byte> stack(0x100);
    for (auto [at, word] : words)
      std::memcpy(stack.data() + (at - x86_stack_at), &word, 4);
    Format format;
    format.pointer_size = 4;
    const Memory memory(format, {{x86_code_at, Bytes(code)}, {x86_stack_at, Bytes(stack)}});
    return leave_frame_x86(
        memory, x86, is_exact, [](Address at) { return at == in_missing - 1 || at == in_zeros - 1; }, now);
  }

  std::vector<std::byte> code = std::vector<std::byte>(0x1000);
  std::map<Address, u32> words;
  Registers now;
};

TEST_F(FramesX86, TheFramePointerLeadsToTheCaller) {
  frame(x86_stack_at + 0x20, x86_stack_at + 0x40, after_call);
  ASSERT_TRUE(leave(false));
  EXPECT_EQ(now.ip, after_call);
  EXPECT_EQ(now.get(in_esp), x86_stack_at + 0x28);
  EXPECT_EQ(now.get(in_ebp), x86_stack_at + 0x40);
}

// As one that makes a system call; the caller's frame pointer is still in its register.
TEST_F(FramesX86, AFunctionWithoutFrame) {
  words[x86_stack_at] = after_call;
  frame(x86_stack_at + 0x20, x86_stack_at + 0x40, after_call);
  ASSERT_TRUE(leave(true));
  EXPECT_EQ(now.ip, after_call);
  EXPECT_EQ(now.get(in_esp), x86_stack_at + 4);
  EXPECT_EQ(now.get(in_ebp), x86_stack_at + 0x20);
}

TEST_F(FramesX86, AFunctionThatTheThreadExecutesMayHaveAFrame) {
  words[x86_stack_at] = after_other;
  frame(x86_stack_at + 0x20, x86_stack_at + 0x40, after_call);
  ASSERT_TRUE(leave(true));
  EXPECT_EQ(now.get(in_esp), x86_stack_at + 0x28);
}

// The first word of the stack says nothing of a function that made a call.
TEST_F(FramesX86, OnlyTheInnermostFunctionMayHaveNoFrame) {
  words[x86_stack_at] = after_call;
  frame(x86_stack_at + 0x20, x86_stack_at + 0x40, after_call);
  ASSERT_TRUE(leave(false));
  EXPECT_EQ(now.get(in_esp), x86_stack_at + 0x28);
}

TEST_F(FramesX86, ReturnAddresses) {
  for (auto [back, expected] : {std::pair(after_call, true),
                                {after_other, false},
                                {in_zeros, true},
                                {in_missing, true},
                                {in_data, false},
                                {Address{3}, false}}) {
    SCOPED_TRACE(back);
    frame(x86_stack_at + 0x20, x86_stack_at + 0x40, static_cast<u32>(back));
    const Registers before = now;
    EXPECT_EQ(leave(false), expected);
    EXPECT_EQ(now.ip, expected ? back : x86_code_at);
    now = before;
  }
}

TEST_F(FramesX86, WhereTheStackEnds) {
  frame(x86_stack_at + 0x20, 0, after_call);
  ASSERT_TRUE(leave(false));
  EXPECT_EQ(now.ip, after_call);
  ASSERT_TRUE(leave(false));
  EXPECT_EQ(now.ip, 0u);
}

TEST_F(FramesX86, AFrameOfZerosIsTheEnd) {
  frame(x86_stack_at + 0x20, 0, 0);
  ASSERT_TRUE(leave(false));
  EXPECT_EQ(now.ip, 0u);
}

TEST_F(FramesX86, ChainsThatLeadNowhere) {
  for (u64 fp : {u64{0x1234}, x86_stack_at - 0x10, x86_stack_at + 0x21, x86_stack_at + 0xfc, x86_stack_at + 0x200000}) {
    SCOPED_TRACE(fp);
    now.set(in_ebp, fp);
    EXPECT_FALSE(leave(false));
  }
  now.set(in_ebp, x86_stack_at + 0x20);
  frame(x86_stack_at + 0x20, x86_stack_at + 0x20, after_call); // a circle
  EXPECT_FALSE(leave(false));
  now.set(in_ebp, 0);
  EXPECT_FALSE(leave(true)) << "a thread that executes a function has begun somewhere";
  now.keep_only(0);
  EXPECT_FALSE(leave(false));
}

} // namespace
} // namespace dnheap::test
