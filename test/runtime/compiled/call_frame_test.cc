// Leaving functions by DWARF's call frame information: random prologs are carried out on a stack step by step, and from
// each of these places the caller's registers must be found again; by hand what compilers write seldom, and what breaks
// the rules.
#include "runtime/compiled/call_frame.h"
#include "runtime/compiled/debug_frame.h"
#include "runtime/compiled/eh_frame.h"
#include "support/eh_frame_writer.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <random>

namespace dnheap::test {
namespace {

constexpr unsigned in_rax = 0, in_rbx = 3, in_rsp = 4, in_rbp = 5; // numbers of the code's
constexpr u8 dwarf_of[] = {0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15};
constexpr u8 dwarf_rsp = 7, dwarf_rip = 16;
constexpr Address stack_end = 0x700000, return_address = 0x123456, image_base = 0x40000000;
const CallingConvention &x64 = *calling_convention(Architecture::x64, OperatingSystem::linux_os);

void put_uleb(std::vector<u8> &to, u64 value) {
  do {
    to.push_back(static_cast<u8>((value & 0x7f) | (value > 0x7f ? 0x80 : 0)));
    value >>= 7;
  } while (value);
}

// Words of a stack, and whatever else.
Memory memory_of(const std::map<Address, u64> &words, std::vector<Range> more, std::vector<std::byte> &storage) {
  storage.resize(8 * words.size());
  u64 at = 0;
  for (auto [address, word] : words) {
    std::memcpy(storage.data() + at, &word, 8);
    more.push_back({address, Bytes(storage).subspan(at, 8)});
    at += 8;
  }
  return Memory(Format{}, std::move(more));
}

// A function whose prolog is carried out, with the instructions that a compiler writes for it.
class PrologFunction {
public:
  explicit PrologFunction(std::mt19937_64 &random) : random_(random) {
    for (unsigned reg = 0; reg < 16; ++reg)
      caller.set(reg, random());
    caller.ip = return_address;
    caller.set(in_rsp, stack_end - 0x100);
    now_ = caller;
    now_.ip = 0;
    now_.set(in_rsp, caller.value[in_rsp] - 8);
    words[now_.value[in_rsp]] = return_address;
    states.push_back(now_);
    run();
  }

  std::vector<u8> instructions;
  std::vector<Registers> states; // ip: in the function
  std::map<Address, u64> words;
  Registers caller;

private:
  void step() {
    const u64 size = 1 + random_() % 300;
    now_.ip += size;
    if (size < 64) {
      instructions.push_back(static_cast<u8>(0x40 | size));
    } else if (size < 256) {
      instructions.push_back(2);
      instructions.push_back(static_cast<u8>(size));
    } else {
      instructions.push_back(3);
      instructions.push_back(static_cast<u8>(size));
      instructions.push_back(static_cast<u8>(size >> 8));
    }
  }
  void say_cfa() {
    if (has_frame_)
      return;
    instructions.push_back(0x0e);
    put_uleb(instructions, caller.value[in_rsp] - now_.value[in_rsp]);
  }
  void say_saved(unsigned reg) {
    const u64 offset = (caller.value[in_rsp] - now_.value[in_rsp]) / 8;
    if (random_() & 1) {
      instructions.push_back(static_cast<u8>(0x80 | dwarf_of[reg]));
    } else {
      instructions.push_back(5);
      instructions.push_back(dwarf_of[reg]);
    }
    put_uleb(instructions, offset);
  }
  void run() {
    std::vector<unsigned> saved;
    for (unsigned reg = 0; reg < 16; ++reg)
      if (x64.preserved >> reg & 1 && random_() & 1)
        saved.push_back(reg);
    for (unsigned reg : saved) {
      step();
      now_.set(in_rsp, now_.value[in_rsp] - 8);
      words[now_.value[in_rsp]] = now_.value[reg];
      say_cfa();
      say_saved(reg);
      states.push_back(now_);
      if (reg == in_rbp && random_() & 1) {
        step();
        now_.set(in_rbp, now_.value[in_rsp]);
        instructions.push_back(0x0c);
        instructions.push_back(dwarf_of[in_rbp]);
        put_uleb(instructions, caller.value[in_rsp] - now_.value[in_rsp]);
        has_frame_ = true;
        states.push_back(now_);
      }
    }
    step();
    now_.set(in_rsp, now_.value[in_rsp] - 8 * (random_() % 70000));
    say_cfa();
    for (unsigned reg : saved) // the body has done something since
      if (reg != in_rbp || !has_frame_)
        now_.set(reg, random_());
    now_.set(in_rax, random_());
    states.push_back(now_);
  }

  std::mt19937_64 &random_;
  Registers now_;
  bool has_frame_ = false;
};

void expect_caller(const Registers &found, const PrologFunction &function) {
  ASSERT_EQ(found.ip, return_address);
  ASSERT_EQ(found.value[in_rsp], function.caller.value[in_rsp]);
  for (unsigned reg = 0; reg < 16; ++reg) {
    if (reg == in_rsp)
      continue;
    ASSERT_EQ(found.knows(reg), x64.preserved >> reg & 1) << reg;
    if (!found.knows(reg))
      continue;
    ASSERT_EQ(found.value[reg], function.caller.value[reg]) << "register " << reg;
    if (found.saved_at[reg]) {
      ASSERT_EQ(function.words.at(found.saved_at[reg]), found.value[reg]);
    }
  }
}

TEST(CallFrame, LeavesRandomPrologsFromEachPlace) {
  std::mt19937_64 random(7);
  for (int run = 0; run < 300; ++run) {
    const PrologFunction function(random);
    EhFrameWriter writer;
    u64 start = EhFrameWriter::code_at;
    for (int before = static_cast<int>(random() % 5); before > 0; --before, start += 0x200)
      writer.functions.push_back({start, 0x100, {}});
    writer.functions.push_back({start, 0x2000, function.instructions});
    for (u64 after = start + 0x2000; after < start + 0x2600; after += 0x200)
      writer.functions.push_back({after, 0x100, {}});
    const std::vector<std::byte> image = writer.image(), section = writer.debug_frame();
    std::vector<std::byte> storage;
    const Memory memory = memory_of(function.words, {{image_base, image}}, storage);
    std::optional<EhFrame> frames;
    ASSERT_TRUE(EhFrame::open(memory, image_base, frames));
    const DebugFrame debug(section, image_base, Format{}, nullptr);
    for (const Registers &state : function.states) {
      Registers registers = state;
      registers.ip += image_base + start;
      FunctionFrame found;
      ASSERT_TRUE(frames->find(registers.ip, found)) << frames->find(registers.ip, found).text();
      ASSERT_EQ(found.start, image_base + start);
      ASSERT_EQ(found.end, image_base + start + 0x2000);
      for (const FunctionFrame &one : {found, debug.find(registers.ip).value()}) {
        CallFrame rules;
        ASSERT_TRUE(read_call_frame(one, registers.ip, Format{}, rules));
        Registers left = registers;
        ASSERT_TRUE(leave_call_frame(memory, rules, x64, left));
        expect_caller(left, function);
      }
    }
    FunctionFrame none;
    EXPECT_FALSE(frames->find(image_base + 0x900, none)); // below all of them
    EXPECT_FALSE(frames->find(image_base + start + 0x2000 + 0x180, none));
    EXPECT_FALSE(debug.find(image_base + start + 0x2000 + 0x180));
  }
}

// A function that is given by its instructions alone.
struct ByHand {
  explicit ByHand(std::vector<u8> own, Architecture architecture = Architecture::x64)
      : convention(*calling_convention(architecture, OperatingSystem::linux_os)), own_(std::move(own)) {
    function.start = 0x1000;
    function.end = 0x2000;
    function.data_alignment = -8;
    function.return_register = architecture == Architecture::x64 ? dwarf_rip : 30;
    if (architecture == Architecture::x64)
      function.shared = std::as_bytes(std::span(entry_instructions));
    function.own = std::as_bytes(std::span(own_));
    registers.ip = 0x1100;
    registers.set(convention.stack_pointer, 0x8000);
  }
  ReadOutcome leave() {
    std::vector<std::byte> storage;
    const Memory memory = memory_of(words, {}, storage);
    CallFrame rules;
    const ReadOutcome outcome = read_call_frame(function, registers.ip, Format{}, rules);
    return outcome ? leave_call_frame(memory, rules, convention, registers) : outcome;
  }

  const CallingConvention &convention;
  FunctionFrame function;
  Registers registers;
  std::map<Address, u64> words = {{0x8000, return_address}};

private:
  std::vector<u8> own_;
};

TEST(CallFrame, AFunctionThatChangedNothing) {
  ByHand one({});
  one.registers.set(in_rbx, 42);
  one.registers.set(in_rax, 43);
  ASSERT_TRUE(one.leave());
  EXPECT_EQ(one.registers.ip, return_address);
  EXPECT_EQ(one.registers.get(in_rsp), 0x8008u);
  EXPECT_EQ(one.registers.get(in_rbx), 42u);
  EXPECT_FALSE(one.registers.knows(in_rax));
}

TEST(CallFrame, TheFirstFunctionOfAThreadReturnsNowhere) {
  ByHand one({0x07, dwarf_rip});
  ASSERT_TRUE(one.leave());
  EXPECT_EQ(one.registers.ip, 0u);
}

TEST(CallFrame, StatesAreRememberedAndRestored) {
  // Behind a return in the middle the function goes on as before it.
  const std::vector<u8> instructions = {0x0e, 24, 0x83, 2, 0x0a, 0x44, 0x0e, 8, 0xc3, 0x44, 0x0b};
  ByHand one(instructions);
  one.words = {{0x8008, 7}, {0x8010, return_address}, {0x8000, 9}};
  one.registers.ip = 0x1002;
  ASSERT_TRUE(one.leave());
  EXPECT_EQ(one.registers.ip, return_address);
  EXPECT_EQ(one.registers.get(in_rbx), 7u);
  ByHand middle(instructions);
  middle.registers.ip = 0x1005;
  middle.registers.set(in_rbx, 5);
  ASSERT_TRUE(middle.leave());
  EXPECT_EQ(middle.registers.ip, return_address);
  EXPECT_EQ(middle.registers.get(in_rbx), 5u);
  ByHand end(instructions);
  end.words = one.words;
  ASSERT_TRUE(end.leave());
  EXPECT_EQ(end.registers.get(in_rbx), 7u);
  EXPECT_EQ(end.registers.get(in_rsp), 0x8018u);
}

// Of the table by which a program calls libraries: eleven bytes into an entry one word more is on the stack.
TEST(CallFrame, ALinkersTableOfCalls) {
  const std::vector<u8> instructions = {0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22};
  for (u64 offset : {0, 10, 11, 15}) {
    ByHand one(instructions);
    one.registers.ip = 0x1100 + offset;
    one.words = {{0x8000, offset < 11 ? return_address : 1}, {0x8008, offset < 11 ? 2 : return_address}};
    ASSERT_TRUE(one.leave()) << one.leave().text();
    EXPECT_EQ(one.registers.ip, return_address);
    EXPECT_EQ(one.registers.get(in_rsp), offset < 11 ? 0x8008u : 0x8010u);
  }
}

// Where a handler of a signal returns to: all registers lie in the kernel's frame.
TEST(CallFrame, TheReturnPointOfASignal) {
  std::vector<u8> instructions = {0x0f, 4, 0x77, 0xa0, 0x01, 0x06}; // the CFA: what rsp + 160 leads to
  std::map<Address, u64> words = {{0x80a0, 0x600000}, {0x80a8, return_address}};
  auto at = [&](u8 reg, u64 offset) {
    for (u8 byte :
         {u8{0x10}, reg, u8{3}, u8{0x77}, static_cast<u8>(0x80 | (offset & 0x7f)), static_cast<u8>(offset >> 7)})
      instructions.push_back(byte);
  };
  at(dwarf_rip, 0xa8);
  at(0, 0x90);
  words[0x8090] = 77;
  ByHand one(instructions);
  one.words = words;
  ASSERT_TRUE(one.leave()) << one.leave().text();
  EXPECT_EQ(one.registers.ip, return_address);
  EXPECT_EQ(one.registers.get(in_rsp), 0x600000u);
  EXPECT_EQ(one.registers.get(in_rax), 77u);
  EXPECT_EQ(one.registers.saved_at[in_rax], 0x8090u);
}

TEST(CallFrame, AnArm64FunctionReturnsByItsLinkRegister) {
  ByHand leaf({0x0c, 31, 0}, Architecture::arm64);
  leaf.registers.set(30, return_address);
  leaf.registers.set(31, 0x8000);
  ASSERT_TRUE(leaf.leave());
  EXPECT_EQ(leaf.registers.ip, return_address);
  EXPECT_EQ(leaf.registers.get(31), 0x8000u);
  ByHand other({0x0c, 31, 16, 0x80 | 30, 1, 0x80 | 29, 2}, Architecture::arm64);
  other.words = {{0x8000, 0x9000}, {0x8008, return_address}};
  ASSERT_TRUE(other.leave());
  EXPECT_EQ(other.registers.ip, return_address);
  EXPECT_EQ(other.registers.get(29), 0x9000u);
  EXPECT_EQ(other.registers.get(31), 0x8010u);
}

// Debian 13's libc: between the two instructions that sign and check it, the return address has a signature above it.
TEST(CallFrame, AnArm64FunctionMaySignItsReturnAddress) {
  constexpr u64 is_signed = 0x002a000000000000 | return_address;
  for (u8 negates : {0x2d, 0x2c}) {
    const std::vector<u8> own = {0x0c,      31, 0,    0x41,      negates,   0x41, 0x0e, 16,   0x80 | 30, 1,
                                 0x80 | 29, 2,  0x41, 0xc0 | 30, 0xc0 | 29, 0x0e, 0,    0x41, negates};
    for (u64 offset : {0, 1, 2, 3, 4}) {
      ByHand one(own, Architecture::arm64);
      const bool is_saved = offset == 2;
      one.function.code_alignment = 1;
      one.registers.ip = one.function.start + offset;
      one.registers.set(30, is_saved ? 5 : offset >= 1 && offset <= 3 ? is_signed : return_address);
      one.words = {{0x8000, 0x9000}, {0x8008, is_signed}};
      ASSERT_TRUE(one.leave()) << offset;
      EXPECT_EQ(one.registers.ip, return_address) << offset;
      EXPECT_EQ(one.registers.get(31), is_saved ? 0x8010u : 0x8000u) << offset;
      if (is_saved) {
        EXPECT_EQ(one.registers.get(30), return_address);
      }
    }
  }
  EXPECT_FALSE(ByHand({0x2d}).leave()); // on x64 it means nothing
}

TEST(CallFrame, WhatBreaksTheRulesChangesNothing) {
  std::vector<std::vector<u8>> broken = {
      {0x0b},                                                                      // nothing was remembered
      {0x17},                                                                      // no such instruction
      {0x0c, 7},                                                                   // cut off
      {0x0f, 200, 0x77},                                                           // a block longer than its record
      {0x0f, 1, 0x12},                                                             // nothing to double
      {0x0f, 1, 0x96},                                                             // an operation that is not known
      {0x0f, 0},                                                                   // an expression that gives nothing
      {0x0c, 40, 8},                                                               // a register that there is not
      {0x0c, 3, 8},                                                                // one that is not known
      {0x0f, 2, 0x30, 0x06},                                                       // memory that there is not
      {0x0f, 1, 0x30, 0x0e, 8},                                                    // an offset from what is no register
      {0x08, dwarf_rip},                                                           // nobody says where it returns to
      {0x07, dwarf_rsp},                                                           // the caller's stack is nowhere
      {0x80 | dwarf_rip, 0x90, 0x4e},                                              // from memory that there is not
      {0x0c, 7, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80}, // a number without an end
  };
  broken.push_back(std::vector<u8>(100, 0x0a));
  std::vector<u8> &deep = broken.emplace_back(std::vector<u8>{0x0f, 40});
  deep.insert(deep.end(), 40, 0x31);
  for (u64 i = 0; i < broken.size(); ++i) {
    ByHand one(broken[i]);
    const Registers before = one.registers;
    EXPECT_FALSE(one.leave()) << i;
    EXPECT_EQ(one.registers.ip, before.ip) << i;
    EXPECT_EQ(one.registers.known, before.known) << i;
    EXPECT_EQ(one.registers.value, before.value) << i;
  }
}

std::vector<std::byte> some_image() {
  EhFrameWriter writer;
  for (u64 i = 0; i < 20; ++i)
    writer.functions.push_back({EhFrameWriter::code_at + 0x100 * i, 0x100, {0x44, 0x0e, 16}});
  return writer.image();
}

TEST(EhFrame, WhatIsCutOffIsSaidToBeMissing) {
  const std::vector<std::byte> whole = some_image();
  u64 found = 0;
  for (u64 size = 0; size < whole.size(); size += size < EhFrameWriter::frames_at ? 97 : 1) {
    const Memory memory(Format{}, {{image_base, Bytes(whole).first(size)}});
    std::optional<EhFrame> frames;
    const ReadOutcome outcome = EhFrame::open(memory, image_base, frames);
    EXPECT_EQ(outcome.kind == ReadOutcome::Kind::done, frames.has_value());
    if (size >= 64 + 112) {
      EXPECT_NE(outcome.kind, ReadOutcome::Kind::malformed) << outcome.text();
    }
    if (!frames)
      continue;
    FunctionFrame function;
    const ReadOutcome last = frames->find(image_base + EhFrameWriter::code_at + 0x100 * 19 + 5, function);
    EXPECT_NE(last.kind, ReadOutcome::Kind::malformed) << size << ": " << last.text();
    found += last.kind == ReadOutcome::Kind::done;
  }
  EXPECT_GE(found, 1u);
}

TEST(EhFrame, FormsThatAreNotKnownAreNoGuess) {
  struct Damage {
    u64 at;
    u8 value;
  };
  const u64 table = EhFrameWriter::frames_at, records = table + align_up(12 + 8 * 20, 8);
  for (Damage damage :
       {Damage{table, 2}, Damage{table + 2, 0xff}, Damage{table + 3, 0x1b}, Damage{table + 10, 1},
        Damage{records + 8, 2}, Damage{records + 9, 'e'}, Damage{records + 10, 'X'}, Damage{records + 15, 0x1d},
        Damage{records + 15, 0x9b}, Damage{table + 19, 0x40}, Damage{records + 3, 0xff}}) {
    std::vector<std::byte> image = some_image();
    image[damage.at] = std::byte{damage.value};
    const Memory memory(Format{}, {{image_base, image}});
    std::optional<EhFrame> frames;
    FunctionFrame function;
    ReadOutcome outcome = EhFrame::open(memory, image_base, frames);
    if (frames)
      outcome = frames->find(image_base + EhFrameWriter::code_at + 5, function);
    EXPECT_EQ(outcome.kind, ReadOutcome::Kind::malformed) << damage.at - table << ": " << outcome.text();
  }
}

TEST(EhFrame, AugmentationsOfEveryKind) {
  for (const char *letters : {"zR", "zPLR", "zRS", "zRLP"}) {
    EhFrameWriter writer;
    writer.augmentation = letters;
    writer.augmentation_data.clear();
    for (const char *letter = letters + 1; *letter; ++letter)
      if (*letter == 'P')
        for (u8 byte : {0x9b, 1, 2, 3, 4})
          writer.augmentation_data.push_back(byte);
      else if (*letter != 'S')
        writer.augmentation_data.push_back(0x1b);
    writer.functions.push_back({EhFrameWriter::code_at, 0x100, {0x44, 0x0e, 16}});
    const std::vector<std::byte> image = writer.image();
    const Memory memory(Format{}, {{image_base, image}});
    std::optional<EhFrame> frames;
    ASSERT_TRUE(EhFrame::open(memory, image_base, frames));
    FunctionFrame function;
    ASSERT_TRUE(frames->find(image_base + EhFrameWriter::code_at + 0xff, function)) << letters;
    EXPECT_EQ(function.is_signal, std::string_view(letters).ends_with('S'));
    EXPECT_EQ(function.data_alignment, -8);
  }
}

TEST(DebugFrame, WhatIsCutOffHasNoFunctions) {
  EhFrameWriter writer;
  for (u64 i = 0; i < 4; ++i)
    writer.functions.push_back({0x100 * i, 0x80, {0x44, 0x0e, 16}});
  const std::vector<std::byte> whole = writer.debug_frame();
  u64 found = 0;
  for (u64 size = 0; size <= whole.size(); ++size) {
    const DebugFrame frames(Bytes(whole).first(size), 0x5000, Format{}, nullptr);
    u64 now = 0;
    for (u64 i = 0; i < 4; ++i)
      now += frames.find(0x5000 + 0x100 * i + 0x7f).has_value();
    EXPECT_GE(now, found);
    found = now;
    EXPECT_FALSE(frames.find(0x5080));
    EXPECT_FALSE(frames.find(0));
  }
  EXPECT_EQ(found, 4u);
}

} // namespace
} // namespace dnheap::test
