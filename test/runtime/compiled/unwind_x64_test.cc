// Unwinding of x64 functions: random prologs are carried out on a stack step by step, and from each of these places,
// from the body, and from each instruction of the epilog the caller's registers must be found again.
#include "runtime/compiled/unwind_x64.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <random>

namespace dnheap::test {
namespace {

constexpr unsigned rsp = 4, rbp = 5;
constexpr Address code_base = 0x400000, unwind_base = 0x500000, stack_end = 0x700000, return_address = 0x123456;

struct Step {
  enum Kind { push, alloc, set_frame, save } kind;
  unsigned reg = 0;
  u64 size = 0; // of alloc: bytes; of set_frame and save: the offset
  u8 end = 0;   // where in the prolog the instruction ends
};

// A function of which some instructions were carried out.
class Function {
public:
  Function(const CallingConvention &convention, std::mt19937_64 &random) : convention_(convention), random_(random) {
    for (unsigned reg = 0; reg < 16; ++reg)
      caller.set(reg, random());
    caller.ip = return_address;
    caller.set(rsp, stack_end - 0x100);
    make_steps();
  }

  // The registers behind so many instructions of the prolog; `in_body`: and the function has done something since.
  Registers after(u64 count, bool in_body) {
    words.clear();
    Registers now = caller;
    now.set(rsp, caller.value[rsp] - 8);
    words[now.value[rsp]] = return_address;
    for (u64 i = 0; i < count; ++i)
      carry_out(steps[i], now);
    now.ip = code_base + (count ? steps[count - 1].end : 0);
    if (in_body) {
      now.ip = code_base + prolog_size() + 5;
      for (const Step &step : steps)
        if (step.kind == Step::push || step.kind == Step::save)
          if (!frame_reg || step.reg != *frame_reg)
            now.set(step.reg, random_());
      if (frame_reg)
        now.set(rsp, now.value[rsp] - 64); // stackalloc
    }
    return now;
  }
  u8 prolog_size() const { return steps.empty() ? 0 : steps.back().end; }

  // Codes of the steps [from, to), the last one first.
  std::vector<u8> unwind_info(u64 from, u64 to, u8 flags) const {
    std::vector<u16> codes;
    for (u64 i = to; i-- > from;)
      add_codes(steps[i], codes);
    std::vector<u8> out{static_cast<u8>(1 | flags << 3), prolog_size(), static_cast<u8>(codes.size()), frame_byte()};
    if (codes.size() % 2)
      codes.push_back(0);
    for (u16 code : codes) {
      out.push_back(static_cast<u8>(code));
      out.push_back(static_cast<u8>(code >> 8));
    }
    return out;
  }
  std::vector<u8> unwind_info() const { return unwind_info(0, steps.size(), 0); }

  std::vector<Step> steps;
  std::optional<unsigned> frame_reg;
  u64 frame_offset = 0;
  Registers caller;
  std::map<Address, u64> words; // of the stack

private:
  void make_steps() {
    std::vector<unsigned> saved;
    for (unsigned reg = 0; reg < 16; ++reg)
      if (convention_.preserved >> reg & 1 && random_() & 1)
        saved.push_back(reg);
    std::shuffle(saved.begin(), saved.end(), random_);
    const u64 pushes = saved.empty() ? 0 : random_() % (saved.size() + 1);
    u8 at = 0;
    auto add = [&](Step step) {
      step.end = at = static_cast<u8>(at + 1 + random_() % 7);
      steps.push_back(step);
    };
    for (u64 i = 0; i < pushes; ++i)
      add({Step::push, saved[i]});
    u64 size = 0;
    if (random_() % 4) {
      size = 8 * (1 + random_() % (random_() & 1 ? 16 : 70000));
      add({Step::alloc, 0, size});
    }
    const bool has_frame = std::find(saved.begin(), saved.begin() + static_cast<i64>(pushes), rbp) !=
                           saved.begin() + static_cast<i64>(pushes);
    if (has_frame && random_() & 1) {
      frame_reg = rbp;
      const bool is_windows = convention_.os == OperatingSystem::windows;
      frame_offset = 16 * (random_() % (is_windows ? 16 : size / 16 + 1));
      add({Step::set_frame, rbp, frame_offset});
    }
    for (u64 i = pushes; i < saved.size() && size >= 8 * saved.size(); ++i)
      add({Step::save, saved[i], 8 * (i - pushes)});
  }
  void carry_out(const Step &step, Registers &now) {
    switch (step.kind) {
    case Step::push:
      now.set(rsp, now.value[rsp] - 8);
      words[now.value[rsp]] = now.value[step.reg];
      break;
    case Step::alloc: now.set(rsp, now.value[rsp] - step.size); break;
    case Step::set_frame: now.set(step.reg, now.value[rsp] + step.size); break;
    case Step::save: words[now.value[rsp] + step.size] = now.value[step.reg]; break;
    }
  }
  bool is_large_frame() const { return convention_.os != OperatingSystem::windows && frame_offset > 240; }
  u8 frame_byte() const {
    return static_cast<u8>(frame_reg ? *frame_reg | (is_large_frame() ? 0 : frame_offset / 16) << 4 : 0);
  }
  void add_codes(const Step &step, std::vector<u16> &to) const {
    auto code = [&](unsigned operation, u64 info) {
      to.push_back(static_cast<u16>(step.end | operation << 8 | info << 12));
    };
    auto wide = [&](u64 value) {
      to.push_back(static_cast<u16>(value));
      to.push_back(static_cast<u16>(value >> 16));
    };
    switch (step.kind) {
    case Step::push: code(0, step.reg); break;
    case Step::alloc:
      if (step.size <= 128) {
        code(2, step.size / 8 - 1);
      } else if (step.size / 8 < 65536) {
        code(1, 0);
        to.push_back(static_cast<u16>(step.size / 8));
      } else {
        code(1, 1);
        wide(step.size);
      }
      break;
    case Step::set_frame:
      code(is_large_frame() ? 11 : 3, 0);
      if (is_large_frame())
        wide(step.size / 16);
      break;
    case Step::save:
      code(step.size / 8 % 2 ? 5 : 4, step.reg);
      if (step.size / 8 % 2)
        wide(step.size);
      else
        to.push_back(static_cast<u16>(step.size / 8));
    }
  }

  const CallingConvention &convention_;
  std::mt19937_64 &random_;
};

// The stack, unwind data and, if there is any, code.
class Process {
public:
  void add(Address at, const std::vector<u8> &bytes) {
    std::vector<std::byte> &to = pieces_.emplace_back(at, std::vector<std::byte>(bytes.size())).second;
    std::transform(bytes.begin(), bytes.end(), to.begin(), [](u8 byte) { return std::byte{byte}; });
  }
  Memory memory(const std::map<Address, u64> &words) {
    for (auto [at, value] : words) {
      std::vector<u8> bytes(8);
      std::memcpy(bytes.data(), &value, 8);
      add(at, bytes);
    }
    std::vector<Range> ranges;
    for (const auto &[at, bytes] : pieces_)
      ranges.push_back({at, bytes});
    return Memory(Format{}, std::move(ranges));
  }

private:
  std::vector<std::pair<Address, std::vector<std::byte>>> pieces_;
};

void expect_caller(const Registers &found, const Function &function, const CallingConvention &convention) {
  ASSERT_EQ(found.ip, return_address);
  ASSERT_EQ(found.value[rsp], function.caller.value[rsp]);
  for (unsigned reg = 0; reg < 16; ++reg) {
    if (reg == rsp)
      continue;
    ASSERT_EQ(found.knows(reg), convention.preserved >> reg & 1) << reg;
    if (!found.knows(reg))
      continue;
    ASSERT_EQ(found.value[reg], function.caller.value[reg]) << "register " << reg;
    if (found.saved_at[reg]) {
      ASSERT_TRUE(function.words.contains(found.saved_at[reg]));
      ASSERT_EQ(function.words.at(found.saved_at[reg]), found.value[reg]);
    }
  }
}

template <class Test> void for_each_function(u64 count, Test test) {
  for (OperatingSystem os : {OperatingSystem::linux_os, OperatingSystem::windows})
    for (u64 seed = 0; seed < count; ++seed) {
      SCOPED_TRACE(std::string(name_of(os)) + " seed " + std::to_string(seed));
      std::mt19937_64 random(seed);
      const CallingConvention &convention = *calling_convention(Architecture::x64, os);
      Function function(convention, random);
      test(function, convention);
      if (testing::Test::HasFailure())
        return;
    }
}

const FunctionUnwind whole{code_base, code_base + 0x1000, 0, unwind_base};

TEST(UnwindX64, FromEveryInstructionOfPrologsAndFromBodies) {
  for_each_function(300, [](Function &function, const CallingConvention &convention) {
    for (u64 done = 0; done <= function.steps.size() + 1; ++done) {
      const bool in_body = done > function.steps.size();
      Registers r = function.after(std::min<u64>(done, function.steps.size()), in_body);
      Process process;
      process.add(unwind_base, function.unwind_info());
      const Memory memory = process.memory(function.words);
      const ReadOutcome outcome = unwind_x64(memory, whole, convention, true, r);
      ASSERT_TRUE(outcome) << outcome.text();
      ASSERT_NO_FATAL_FAILURE(expect_caller(r, function, convention)) << done;
    }
  });
}

// A piece of a function that goes on in another one's unwind data.
TEST(UnwindX64, ChainedUnwindData) {
  for_each_function(100, [](Function &function, const CallingConvention &convention) {
    if (function.frame_reg)
      return; // told in every piece
    Registers r = function.after(function.steps.size(), true);
    const u64 half = function.steps.size() / 2;
    std::vector<u8> piece = function.unwind_info(half, function.steps.size(), 4);
    for (u32 value : {0x400000u, 0x401000u, 0x500800u})
      for (unsigned i = 0; i < 4; ++i)
        piece.push_back(static_cast<u8>(value >> 8 * i));
    Process process;
    process.add(unwind_base, piece);
    process.add(unwind_base + 0x800, function.unwind_info(0, half, 0));
    const Memory memory = process.memory(function.words);
    ASSERT_TRUE(unwind_x64(memory, whole, convention, false, r));
    ASSERT_NO_FATAL_FAILURE(expect_caller(r, function, convention));
  });
}

// What an epilog is made of, and the registers in front of each of its instructions.
TEST(UnwindX64, FromEveryInstructionOfEpilogs) {
  const std::vector<std::vector<u8>> ends{
      {0xc3}, {0xf3, 0xc3}, {0xe9, 0, 0x20, 0, 0}, {0xff, 0x25, 1, 2, 3, 4}, {0x48, 0xff, 0xe0}};
  for_each_function(200, [&](Function &function, const CallingConvention &convention) {
    const std::vector<u8> &end = ends[function.caller.value[0] % ends.size()];
    const bool restores = std::any_of(function.steps.begin(), function.steps.end(),
                                      [](const Step &step) { return step.kind == Step::save; });
    if (restores || function.frame_reg)
      return; // with other instructions in front
    Registers now = function.after(function.steps.size(), false);
    const Address start = code_base + 0x100;
    std::vector<u8> code;
    std::vector<std::pair<u64, Registers>> places;
    for (u64 i = function.steps.size(); i-- > 0;) {
      const Step &step = function.steps[i];
      now.ip = start + code.size();
      places.emplace_back(code.size(), now);
      if (step.kind == Step::alloc) {
        code.insert(code.end(), {0x48, 0x81, 0xc4});
        for (unsigned byte = 0; byte < 4; ++byte)
          code.push_back(static_cast<u8>(step.size >> 8 * byte));
        now.set(rsp, now.value[rsp] + step.size);
      } else {
        if (step.reg >= 8)
          code.push_back(0x41);
        code.push_back(static_cast<u8>(0x58 | (step.reg & 7)));
        now.set(step.reg, function.words[now.value[rsp]]);
        now.set(rsp, now.value[rsp] + 8);
      }
    }
    now.ip = start + code.size();
    places.emplace_back(code.size(), now);
    code.insert(code.end(), end.begin(), end.end());
    Process process;
    process.add(unwind_base, function.unwind_info());
    process.add(start, code);
    const Memory memory = process.memory(function.words);
    for (auto &[at, registers] : places) {
      Registers r = registers;
      ASSERT_TRUE(unwind_x64(memory, whole, convention, true, r));
      ASSERT_NO_FATAL_FAILURE(expect_caller(r, function, convention)) << "at " << at;
    }
  });
}

TEST(UnwindX64, LeaInEpilogs) {
  const CallingConvention &convention = *calling_convention(Architecture::x64, OperatingSystem::linux_os);
  Process process;
  process.add(unwind_base, {1, 0, 0, 0});
  process.add(code_base, {0x48, 0x8d, 0x65, 0xf8, 0x5b, 0x5d, 0xc3}); // lea rsp, [rbp-8]; pop rbx; pop rbp; ret
  const Memory memory = process.memory({{0x6ff0, 11}, {0x6ff8, 12}, {0x7000, return_address}});
  Registers r;
  r.ip = code_base;
  r.set(rsp, 0x1000);
  r.set(rbp, 0x6ff8);
  ASSERT_TRUE(unwind_x64(memory, whole, convention, true, r));
  EXPECT_EQ(r.ip, return_address);
  EXPECT_EQ(r.value[rsp], 0x7008u);
  EXPECT_EQ(r.value[3], 11u);
  EXPECT_EQ(r.saved_at[3], 0x6ff0u);
  EXPECT_EQ(r.value[rbp], 12u);
}

// A jump within the function is no epilog: a loop's, in a function without a frame.
TEST(UnwindX64, JumpsWithinAFunctionAreNoEpilogs) {
  const CallingConvention &convention = *calling_convention(Architecture::x64, OperatingSystem::linux_os);
  Process process;
  process.add(unwind_base, {1, 4, 1, 0, 4, 0x42}); // sub rsp, 40
  process.add(code_base + 0x10, {0xeb, 0xf0});
  const Memory memory = process.memory({{0x6000, 77}, {0x6028, return_address}});
  Registers r;
  r.ip = code_base + 0x10;
  r.set(rsp, 0x6000);
  ASSERT_TRUE(unwind_x64(memory, whole, convention, true, r));
  EXPECT_EQ(r.ip, return_address);
}

TEST(UnwindX64, MachineFrames) {
  const CallingConvention &convention = *calling_convention(Architecture::x64, OperatingSystem::windows);
  for (bool has_code : {false, true}) {
    Process process;
    process.add(unwind_base, {1, 0, 1, 0, 0, static_cast<u8>(10 | (has_code ? 0x10 : 0))});
    const Address frame = 0x6000 + (has_code ? 8 : 0);
    const Memory memory = process.memory({{frame, 0x999}, {frame + 24, 0x6800}});
    Registers r;
    r.ip = code_base + 1;
    r.set(rsp, 0x6000);
    ASSERT_TRUE(unwind_x64(memory, whole, convention, false, r));
    EXPECT_EQ(r.ip, 0x999u);
    EXPECT_EQ(r.value[rsp], 0x6800u);
  }
}

TEST(UnwindX64, WhatIsMissingIsSaidAndChangesNothing) {
  for_each_function(60, [](Function &function, const CallingConvention &convention) {
    const Registers before = function.after(function.steps.size(), true);
    for (auto [missing, value] : function.words) {
      std::map<Address, u64> words = function.words;
      words.erase(missing);
      Process process;
      process.add(unwind_base, function.unwind_info());
      const Memory memory = process.memory(words);
      Registers r = before;
      const ReadOutcome outcome = unwind_x64(memory, whole, convention, false, r);
      ASSERT_EQ(outcome.kind, ReadOutcome::Kind::missing);
      ASSERT_EQ(outcome.at, missing);
      ASSERT_EQ(r.value, before.value);
      ASSERT_EQ(r.ip, before.ip);
    }
  });
}

TEST(UnwindX64, AnyBytesDoNoHarm) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 20000; ++round) {
    std::vector<u8> info(random() % 60), stack(512);
    for (std::vector<u8> *bytes : {&info, &stack})
      for (u8 &byte : *bytes)
        byte = static_cast<u8>(random());
    if (!info.empty() && random() & 3)
      info[0] = static_cast<u8>((random() & 0x20) | 1);
    Process process;
    process.add(unwind_base, info);
    process.add(code_base, stack);
    process.add(stack_end - 512, stack);
    const Memory memory = process.memory({});
    const CallingConvention &convention =
        *calling_convention(Architecture::x64, random() & 1 ? OperatingSystem::linux_os : OperatingSystem::windows);
    Registers r;
    r.ip = code_base + random() % 300;
    r.set(rsp, stack_end - random() % 600);
    r.set(rbp, stack_end - random() % 600);
    const Registers before = r;
    const FunctionUnwind function{code_base, code_base + 256, unwind_base, unwind_base};
    if (!unwind_x64(memory, function, convention, random() & 1, r)) {
      ASSERT_EQ(r.value, before.value);
    }
  }
}

// A chain that leads to itself ends.
TEST(UnwindX64, ChainsInACircleEnd) {
  std::vector<u8> info{1 | 4 << 3, 0, 0, 0};
  for (u32 value : {0u, 0u, static_cast<u32>(unwind_base)})
    for (unsigned i = 0; i < 4; ++i)
      info.push_back(static_cast<u8>(value >> 8 * i));
  Process process;
  process.add(unwind_base, info);
  const Memory memory = process.memory({});
  Registers r;
  r.ip = code_base;
  r.set(rsp, stack_end);
  EXPECT_EQ(unwind_x64(memory, whole, *calling_convention(Architecture::x64, OperatingSystem::linux_os), false, r).kind,
            ReadOutcome::Kind::malformed);
}

} // namespace
} // namespace dnheap::test
