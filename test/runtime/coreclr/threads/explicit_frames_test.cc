// Frames of native functions on arm64 and x64 by their first instructions; Frames of arm64 that targets do not
// describe.
#include "runtime/coreclr/code/native_entry.h"
#include "runtime/coreclr/threads/explicit_frames.h"

#include <cstring>
#include <gtest/gtest.h>
#include <map>

namespace dnheap::test {
namespace {

constexpr Address code_at = 0x6f00000, stack_at = 0x7f0000, managed = 0x500000;
constexpr unsigned fp = 29, sp = 31;

struct Scene64 {
  std::vector<u64> stack = std::vector<u64>(0x400);
  std::vector<u32> code;
  Target target;
  ContractDescriptor descriptor;

  u64 &word(Address at) { return stack[(at - stack_at) / 8]; }
  void open(Architecture architecture) {
    target.architecture = architecture;
    target.os = OperatingSystem::linux_os;
    target.memory =
        Memory(Format{}, {{stack_at, std::as_bytes(std::span(stack))}, {code_at, std::as_bytes(std::span(code))}});
  }
  // The Frame there, whose kind is told by the number 1.
  FrameCaller caller(Address frame, const char *kind, ReadOutcome &outcome) {
    word(frame) = 1;
    word(frame + 8) = ~u64{0};
    open(Architecture::arm64);
    descriptor.set_field("Thread", "Frame", 8, Origin::table);
    descriptor.set_number(std::string(kind) + "Identifier", 1, false, Origin::table);
    const ExplicitFrames frames(target, descriptor);
    EXPECT_EQ(frames.why_not(), "");
    FrameCaller out;
    const std::optional<ExplicitFrame> at = frames.at(frame);
    EXPECT_TRUE(at);
    auto is_managed = [](Address ip) { return ip >= managed && ip < managed + 0x1000; };
    if (at)
      outcome = frames.caller(*at, stack_at + 8 * stack.size(),
                              {is_managed, is_managed, [](const Registers &) { return Address{0}; }}, out);
    return out;
  }
};

std::optional<NativeEntry> entry_of(Architecture architecture, std::vector<u32> code) {
  Scene64 s;
  s.code = std::move(code);
  s.open(architecture);
  return read_native_entry(s.target.memory, *calling_convention(architecture, OperatingSystem::linux_os), code_at);
}

std::map<unsigned, i64> saved(const NativeEntry &entry) {
  std::map<unsigned, i64> out;
  for (const NativeEntry::Saved &one : entry.saved)
    out[one.reg] = one.at;
  return out;
}

using Saved = std::map<unsigned, i64>;

TEST(NativeEntry, OfArm64) {
  // stp x29, x30, [sp, #-48]!; stp x20, x19, [sp, #32]; mov x29, sp
  std::optional<NativeEntry> found = entry_of(Architecture::arm64, {0xa9bd7bfd, 0xa9024ff4, 0x910003fd});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->end, 48);
  EXPECT_EQ(saved(*found), (Saved{{19, 40}, {20, 32}}));
  // paciasp; sub sp, sp, #0x150; stp d9, d8, [sp, #224]; stp x29, x30, [sp, #240]; mov x21, x0; stp x28, x27, [sp,
  // #256]; str x21, [sp, #272]; add x29, sp, #240
  found = entry_of(Architecture::arm64,
                   {0xd503233f, 0xd10543ff, 0x6d0e23e9, 0xa90f7bfd, 0xaa0003f5, 0xa9106ffc, 0xf9008bf5, 0x9103c3fd});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->end, 96);
  EXPECT_EQ(saved(*found), (Saved{{21, 32}, {27, 24}, {28, 16}}));
  // stp d9, d8, [sp, #-64]!; str x28, [sp, #-16]!; stp x29, x30, [sp, #16]; add x29, sp, #16
  found = entry_of(Architecture::arm64, {0x6dbc23e9, 0xf81f0ffc, 0xa9017bfd, 0x910043fd});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->end, 64);
  EXPECT_EQ(saved(*found), (Saved{{28, -16}}));
}

TEST(NativeEntry, OfArm64ThatSaysNothing) {
  const std::vector<std::vector<u32>> entries{
      {0xa9bd7bfd},                         // cut off
      {0xa9bd7bfd, 0x94000010, 0x910003fd}, // calls before it has a frame
      {0xa9bd7bfd, 0xcb2063ff, 0x910003fd}, // a frame of a size that is worked out
      {0xd65f03c0, 0x910003fd},             // returns
      std::vector<u32>(100, 0xd503201f),    // goes on and on
  };
  for (const std::vector<u32> &code : entries)
    EXPECT_FALSE(entry_of(Architecture::arm64, code));
}

TEST(NativeEntry, OfX64) {
  auto words = [](std::vector<u8> bytes) {
    bytes.resize((bytes.size() + 3) / 4 * 4, 0x90);
    std::vector<u32> out(bytes.size() / 4);
    std::memcpy(out.data(), bytes.data(), bytes.size());
    return out;
  };
  const std::optional<NativeEntry> found =
      entry_of(Architecture::x64, words({0x55, 0x48, 0x89, 0xe5, 0x41, 0x57, 0x41, 0x54, 0x53, 0x50, 0x90}));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->end, 16);
  EXPECT_EQ(saved(*found), (Saved{{3, -24}, {12, -16}, {15, -8}}));
  EXPECT_FALSE(entry_of(Architecture::x64, words({0x48, 0x89, 0xe5, 0x55})));
}

// .NET 9.0 on arm64: which function of the runtime was called, and its registers when it made the Frame.
TEST(ExplicitFrames, HelperMethodOfArm64) {
  const Address frame = stack_at + 0x100, native = stack_at + 0x400;
  for (const bool has_code : {true, false}) {
    SCOPED_TRACE(has_code);
    Scene64 s;
    if (has_code)
      s.code = {0xa9bd7bfd, 0xa9024ff4, 0x910003fd};
    s.word(frame + 40) = code_at;
    for (unsigned i = 0; i < 10; ++i)
      s.word(frame + 48 + 8 * i) = 0x1900 + i; // x19 to x28
    s.word(frame + 48 + 80) = native;
    s.word(frame + 240) = 0xffffffff00000000; // its upper half is something else
    s.word(frame + 248) = frame - 16;
    s.word(native) = stack_at + 0x600;
    s.word(native + 8) = managed + 0x20;
    s.word(native + 32) = 0xaaa0; // x20
    s.word(native + 40) = 0xbbb0; // x19
    ReadOutcome outcome;
    const FrameCaller found = s.caller(frame, "HelperMethodFrame", outcome);
    ASSERT_TRUE(outcome);
    EXPECT_TRUE(found.is_told);
    EXPECT_EQ(found.registers.ip, managed + 0x20);
    EXPECT_EQ(found.registers.get(fp), stack_at + 0x600);
    EXPECT_EQ(found.registers.get(sp), native + (has_code ? 48 : 16));
    if (has_code) {
      EXPECT_EQ(found.registers.get(19), 0xbbb0u);
      EXPECT_EQ(found.registers.saved_at[19], native + 40);
      EXPECT_EQ(found.registers.get(20), 0xaaa0u);
      EXPECT_EQ(found.registers.get(21), 0x1902u);
      EXPECT_TRUE(found.candidates.empty());
    } else {
      EXPECT_EQ(found.candidates.size(), 11u);
      EXPECT_EQ(found.candidates_from, frame - 16);
      EXPECT_EQ(found.candidates_to, native + 16);
    }
  }
}

// Once the runtime has left its own functions the Frame says whatever is to be known.
TEST(ExplicitFrames, HelperMethodOfArm64ThatIsKnown) {
  const Address frame = stack_at + 0x100;
  Scene64 s;
  for (unsigned i = 0; i < 11; ++i) {
    s.word(frame + 136 + 8 * i) = stack_at + 0x800 + 8 * i;
    s.word(stack_at + 0x800 + 8 * i) = 0x1900 + i;
  }
  s.word(frame + 224) = managed + 0x30;
  s.word(frame + 232) = stack_at + 0x900;
  s.word(frame + 240) = 1;
  ReadOutcome outcome;
  const FrameCaller found = s.caller(frame, "HelperMethodFrame", outcome);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(found.registers.ip, managed + 0x30);
  EXPECT_EQ(found.registers.get(sp), stack_at + 0x900);
  EXPECT_EQ(found.registers.get(fp), 0x190au);
  EXPECT_EQ(found.registers.saved_at[19], stack_at + 0x800);
}

// Its CONTEXT lies behind fewer pointers to registers than on x64, where those lead in which the GC writes.
TEST(ExplicitFrames, SoftwareExceptionOfArm64) {
  const Address frame = stack_at + 0x100, context = frame + 192;
  Scene64 s;
  for (unsigned i = 0; i < 32; ++i)
    s.word(context + 8 + 8 * i) = 0x1000 + i;
  s.word(context + 0x108) = managed + 0x40;
  s.word(frame + 24 + 8) = stack_at + 0xa00; // x20
  s.word(stack_at + 0xa00) = 0xccc0;
  ReadOutcome outcome;
  const FrameCaller found = s.caller(frame, "SoftwareExceptionFrame", outcome);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(found.registers.ip, managed + 0x40);
  EXPECT_EQ(found.registers.get(sp), 0x101fu);
  EXPECT_EQ(found.registers.get(19), 0x1013u);
  EXPECT_EQ(found.registers.get(20), 0xccc0u);
}

} // namespace
} // namespace dnheap::test
