// Unwinding of arm64 functions: prologs as .NET's JIT writes them are carried out step by step, and from each of these
// places, from the body and from each instruction of the epilog the caller's registers must be found again. Synthetic
// only: no real memory of this processor was looked at.
#include "runtime/compiled/unwind_arm64.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <random>

namespace dnheap::test {
namespace {

constexpr unsigned fp = 29, lr = 30, sp = 31;
constexpr Address code_base = 0x400000, xdata = 0x500000, stack_end = 0x700000, return_address = 0x123456;

// One instruction of a prolog, and the operation that undoes it.
struct Step {
  enum Kind { save_pair_down, save_pair, save_one, alloc, set_fp, add_fp } kind;
  unsigned reg = 0;
  u64 offset = 0; // bytes

  std::vector<u8> operation() const {
    const u64 z = offset / 8;
    switch (kind) {
    case save_pair_down:
      if (reg == fp)
        return {static_cast<u8>(0x80 | (z - 1))};
      return pair(0xcc, z - 1);
    case save_pair: return reg == fp ? std::vector<u8>{static_cast<u8>(0x40 | z)} : pair(0xc8, z);
    case save_one: return pair(0xd0, z);
    case alloc: return allocation();
    case set_fp: return {0xe1};
    case add_fp: return {0xe2, static_cast<u8>(z)};
    }
    return {};
  }

private:
  std::vector<u8> pair(unsigned first, u64 z) const {
    const unsigned x = reg - 19;
    return {static_cast<u8>(first | x >> 2), static_cast<u8>((x & 3) << 6 | z)};
  }
  std::vector<u8> allocation() const {
    const u64 units = offset / 16;
    if (units < 32)
      return {static_cast<u8>(units)};
    if (units < 2048)
      return {static_cast<u8>(0xc0 | units >> 8), static_cast<u8>(units)};
    return {0xe0, static_cast<u8>(units >> 16), static_cast<u8>(units >> 8), static_cast<u8>(units)};
  }
};

struct Function {
  explicit Function(std::mt19937_64 &random) {
    for (unsigned reg = 0; reg < 32; ++reg)
      caller.set(reg, random());
    caller.ip = return_address;
    caller.set(lr, return_address); // as the call leaves it
    caller.set(sp, stack_end - 0x100);
    const u64 pairs = random() % 6;
    const u64 frame = 16 + 16 * pairs + 16 * (random() % 8);
    if (random() & 1) { // stp fp, lr, [sp, -frame]!; mov fp, sp; the rest above
      steps.push_back({Step::save_pair_down, fp, std::min<u64>(frame, 512)});
      for (u64 i = 0; i < pairs; ++i)
        steps.push_back({Step::save_pair, static_cast<unsigned>(19 + 2 * i), 16 + 16 * i});
      steps.push_back({Step::set_fp});
    } else { // sub sp; stp fp, lr, [sp, x]; add fp, sp, x
      const u64 more = 16 * (random() % 3 ? random() % 30 : 40 + random() % 4000);
      steps.push_back({Step::alloc, 0, frame});
      if (more)
        steps.push_back({Step::alloc, 0, more});
      steps.push_back({Step::save_pair, fp, 16 * pairs});
      for (u64 i = 0; i < pairs; ++i)
        if (random() & 1)
          steps.push_back({Step::save_pair, static_cast<unsigned>(19 + 2 * i), 16 * i});
        else
          steps.push_back({Step::save_one, static_cast<unsigned>(19 + i), 8 * i});
      steps.push_back({Step::add_fp, 0, 16 * pairs});
    }
  }

  Registers after(u64 count) {
    words.clear();
    Registers now = caller;
    for (u64 i = 0; i < count; ++i)
      carry_out(steps[i], now);
    now.ip = code_base + 4 * count;
    return now;
  }

  Registers caller;
  std::vector<Step> steps;
  std::map<Address, u64> words;

private:
  void carry_out(const Step &step, Registers &now) {
    const unsigned count = step.kind == Step::save_one ? 1 : 2;
    switch (step.kind) {
    case Step::save_pair_down:
    case Step::save_pair:
    case Step::save_one: {
      if (step.kind == Step::save_pair_down)
        now.set(sp, now.value[sp] - step.offset);
      const Address at = now.value[sp] + (step.kind == Step::save_pair_down ? 0 : step.offset);
      for (unsigned i = 0; i < count; ++i)
        words[at + 8 * i] = now.value[step.reg + i];
      break;
    }
    case Step::alloc: now.set(sp, now.value[sp] - step.offset); break;
    case Step::set_fp: now.set(fp, now.value[sp]); break;
    case Step::add_fp: now.set(fp, now.value[sp] + step.offset); break;
    }
  }
};

// Its length is in instructions. `epilog`: one at the end, by the same operations as the prolog.
std::vector<std::byte> xdata_of(const Function &function, u32 length, bool epilog) {
  std::vector<u8> operations;
  for (u64 i = function.steps.size(); i-- > 0;) {
    const std::vector<u8> one = function.steps[i].operation();
    operations.insert(operations.end(), one.begin(), one.end());
  }
  operations.push_back(0xe4);
  operations.resize(align_up(operations.size(), 4), 0xe3);
  u32 header = length | static_cast<u32>(operations.size() / 4) << 27 | (epilog ? 1u << 21 : 0);
  std::vector<std::byte> out(4);
  std::memcpy(out.data(), &header, 4);
  for (u8 byte : operations)
    out.push_back(std::byte{byte});
  return out;
}

Memory memory_of(const std::vector<std::byte> &unwind_data, const std::map<Address, u64> &words,
                 std::vector<std::array<std::byte, 8>> &storage) {
  std::vector<Range> ranges{{xdata, unwind_data}};
  storage.resize(words.size());
  u64 i = 0;
  for (auto [at, value] : words) {
    std::memcpy(storage[i].data(), &value, 8);
    ranges.push_back({at, storage[i++]});
  }
  return Memory(Format{}, std::move(ranges));
}

const CallingConvention &convention() { return *calling_convention(Architecture::arm64, OperatingSystem::linux_os); }

void expect_caller(Function &function, Registers r, bool epilog, u32 length) {
  const std::vector<std::byte> unwind_data = xdata_of(function, length, epilog);
  std::vector<std::array<std::byte, 8>> storage;
  const Memory memory = memory_of(unwind_data, function.words, storage);
  const ReadOutcome outcome = unwind_arm64(memory, {code_base, code_base + 4 * length, 0, xdata}, convention(), r);
  ASSERT_TRUE(outcome) << outcome.text();
  ASSERT_EQ(r.ip, return_address);
  ASSERT_EQ(r.value[sp], function.caller.value[sp]);
  for (unsigned reg = 19; reg <= fp; ++reg) {
    ASSERT_EQ(r.get(reg), function.caller.get(reg)) << "x" << reg;
    if (r.saved_at[reg]) {
      ASSERT_EQ(function.words.at(r.saved_at[reg]), r.value[reg]);
    }
  }
  ASSERT_FALSE(r.knows(0));
  ASSERT_FALSE(r.knows(lr));
}

TEST(UnwindArm64, FromEveryInstructionOfPrologsAndFromBodies) {
  for (u64 seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    Function function(random);
    for (u64 done = 0; done <= function.steps.size(); ++done)
      ASSERT_NO_FATAL_FAILURE(expect_caller(function, function.after(done), false, 1000)) << done;
    Registers body = function.after(function.steps.size());
    body.ip = code_base + 4 * 500;
    for (const Step &step : function.steps)
      if (step.kind != Step::alloc && step.kind != Step::set_fp && step.kind != Step::add_fp && step.reg != fp)
        body.set(step.reg, 1);
    body.set(lr, 2);
    body.set(sp, body.value[sp] - 160); // stackalloc: the frame pointer tells where the frame is
    if (function.steps.back().kind == Step::set_fp || function.steps.back().kind == Step::add_fp) {
      ASSERT_NO_FATAL_FAILURE(expect_caller(function, body, false, 1000));
    }
  }
}

// The epilog undoes the prolog's instructions, the last first.
TEST(UnwindArm64, FromEveryInstructionOfEpilogs) {
  for (u64 seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    Function function(random);
    const u64 size = function.steps.size();
    const u32 length = static_cast<u32>(200 + size + 1);
    for (u64 undone = 0; undone <= size; ++undone) {
      Registers r = function.after(size);
      const std::map<Address, u64> words = function.words;
      r = function.after(size - undone); // as it was there
      function.words = words;
      r.ip = code_base + 4 * (200 + undone);
      ASSERT_NO_FATAL_FAILURE(expect_caller(function, r, true, length)) << undone;
    }
  }
}

TEST(UnwindArm64, WhatIsMissingIsSaid) {
  std::mt19937_64 random(1);
  Function function(random);
  Registers r = function.after(function.steps.size());
  r.ip = code_base + 4 * 500;
  const std::vector<std::byte> unwind_data = xdata_of(function, 1000, false);
  std::vector<std::array<std::byte, 8>> storage;
  const Memory memory = memory_of(unwind_data, {}, storage);
  const Registers before = r;
  EXPECT_EQ(unwind_arm64(memory, {code_base, code_base + 4000, 0, xdata}, convention(), r).kind,
            ReadOutcome::Kind::missing);
  EXPECT_EQ(r.value, before.value);
}

TEST(UnwindArm64, AnyBytesDoNoHarm) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 20000; ++round) {
    std::vector<std::byte> info(4 + random() % 60), stack(512);
    for (std::vector<std::byte> *bytes : {&info, &stack})
      for (std::byte &byte : *bytes)
        byte = static_cast<std::byte>(random());
    if (random() & 3)
      info[2] &= std::byte{0xf3}; // a version that is known
    const Memory memory(Format{}, {Range{xdata, info}, Range{stack_end - 512, stack}});
    Registers r;
    r.ip = code_base + 4 * (random() % 300);
    r.set(sp, stack_end - random() % 600);
    r.set(fp, stack_end - random() % 600);
    r.set(lr, random());
    const Registers before = r;
    if (!unwind_arm64(memory, {code_base, code_base + 0x1000, 0, xdata}, convention(), r)) {
      ASSERT_EQ(r.value, before.value);
    }
  }
}

} // namespace
} // namespace dnheap::test
