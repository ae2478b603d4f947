#include "runtime/compiled/unwind_arm64.h"

#include <algorithm>

namespace dnheap {

namespace {

constexpr unsigned fp = 29, lr = 30, sp = 31;
constexpr u64 instruction_size = 4;

// By an operation's first byte: its size in bytes, and the number of instructions that it stands for.
struct OperationSize {
  unsigned bytes, instructions;
};
OperationSize size_of_operation(u8 first) {
  constexpr OperationSize from_e0[32] = {{4, 1}, {1, 1}, {2, 1}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, {3, 1},
                                         {1, 0}, {1, 0}, {1, 0}, {1, 0}, {1, 0}, {1, 0}, {1, 0}, {1, 0},
                                         {1, 0}, {1, 0}, {1, 0}, {1, 0}, {1, 0}, {1, 0}, {1, 0}, {1, 0},
                                         {2, 1}, {3, 1}, {4, 1}, {5, 1}, {1, 1}, {1, 1}, {1, 1}, {1, 1}};
  return first < 0xc0 ? OperationSize{1, 1} : first < 0xe0 ? OperationSize{2, 1} : from_e0[first - 0xe0];
}

bool is_end(u8 first) { return (first & 0xfe) == 0xe4; }

class Unwinder {
public:
  Unwinder(const Memory &memory, const Registers &registers) : r(registers), memory_(memory) {}

  Registers r;
  ReadOutcome outcome;

  void run(Address info, u64 offset_in_function);

private:
  // The place of the operations to undo, and how many instructions of them are to be skipped: not executed yet, or
  // already undone.
  struct Start {
    Address at;
    u64 skipped;
  };
  u64 load(Address at, unsigned size) {
    std::optional<u64> value;
    if (size == 1)
      value = memory_.try_load<u8>(at);
    else if (size == 4)
      value = memory_.try_load<u32>(at);
    else
      value = memory_.try_load<u64>(at);
    if (!value && outcome)
      outcome = ReadOutcome::missing(at);
    return value.value_or(0);
  }
  void fail(const char *what) {
    if (outcome)
      outcome = ReadOutcome::malformed(what);
  }
  u64 scope_size(Address codes, Address end, bool is_epilog);
  Start find_start(u32 header, Address scopes, u64 scope_count, u64 words, u64 offset);
  void restore(i64 offset, unsigned first, unsigned count, bool is_integer, unsigned width = 8);
  void apply(u8 first, Address operands);
  void apply_save(u8 first, Address operands);
  void save_any(Address operands);
  void no_pairs_before() {
    if (pairs_)
      fail("the next pair of registers is saved, but no pair of registers precedes it");
  }

  const Memory &memory_;
  unsigned pairs_ = 0; // saved in front of the next registers
  bool ip_is_set_ = false;
};

u64 Unwinder::scope_size(Address codes, Address end, bool is_epilog) {
  u64 instructions = is_epilog ? 1 : 0;
  while (codes < end && outcome) {
    const u8 first = static_cast<u8>(load(codes, 1));
    if (!outcome || is_end(first))
      break;
    codes += size_of_operation(first).bytes;
    instructions += size_of_operation(first).instructions;
  }
  return instructions;
}

Unwinder::Start Unwinder::find_start(u32 header, Address scopes, u64 scope_count, u64 words, u64 offset) {
  const bool one_epilog = header >> 21 & 1; // at the function's end; then the count is the index of its operations
  const u64 length = header & 0x3ffff;
  const Address codes = scopes + (one_epilog ? 0 : 4 * scope_count), end = codes + 4 * words;
  if (offset < 4 * words)
    if (const u64 prolog = scope_size(codes, end, false); offset < prolog)
      return {codes, prolog - offset};
  if (one_epilog) {
    if (offset + (4 * words - std::min(scope_count, 4 * words)) < length)
      return {codes, 0};
    const u64 size = scope_size(codes + scope_count, end, true), start = length - std::min(size, length);
    return offset >= start ? Start{codes + scope_count, offset - start} : Start{codes, 0};
  }
  for (u64 i = 0; i < scope_count && outcome; ++i) {
    const u64 scope = load(scopes + 4 * i, 4), start = scope & 0x3ffff, index = scope >> 22;
    if (offset < start)
      break;
    if (offset < start + 4 * words && offset < start + scope_size(codes + index, end, true))
      return {codes + index, offset - start};
  }
  return {codes, 0};
}

void Unwinder::run(Address info, u64 offset) {
  const u32 header = static_cast<u32>(load(info, 4));
  if (outcome && (header >> 18 & 3) != 0)
    return fail("unwind data of an unknown version");
  u64 words = header >> 27, scope_count = header >> 22 & 31;
  Address scopes = info + 4;
  if (!words && !scope_count) {
    const u64 more = load(scopes, 4);
    words = more >> 16 & 0xff;
    scope_count = more & 0xffff;
    scopes += 4;
  }
  const bool one_epilog = header >> 21 & 1;
  const Address end = scopes + (one_epilog ? 0 : 4 * scope_count) + 4 * words;
  auto [at, skipped] = find_start(header, scopes, scope_count, words, offset / instruction_size);
  for (; at < end && skipped && outcome; --skipped) {
    const u8 first = static_cast<u8>(load(at, 1));
    if (is_end(first))
      break;
    at += size_of_operation(first).bytes;
  }
  while (at < end && outcome) {
    const u8 first = static_cast<u8>(load(at, 1));
    if (first == 0xe4)
      break;
    if (outcome)
      apply(first, at + 1);
    at += size_of_operation(first).bytes;
  }
  if (outcome && pairs_)
    fail("the next pair of registers is saved, but no pair of registers precedes it");
  if (!ip_is_set_)
    r.ip = r.value[lr];
}

// A negative offset means a pre-indexed store: the registers lie at the stack pointer, which is then increased by that
// amount.
void Unwinder::restore(i64 offset, unsigned first, unsigned count, bool is_integer, unsigned width) {
  count += 2 * pairs_;
  pairs_ = 0;
  if (first + count > (is_integer ? sp : 32))
    return fail("a register that does not exist");
  const Address from = r.value[sp] + (offset > 0 ? static_cast<u64>(offset) : 0);
  for (unsigned i = 0; i < count && is_integer && outcome; ++i) {
    const u64 value = load(from + width * i, 8);
    if (outcome)
      r.set(first + i, value, from + width * i);
  }
  if (offset < 0)
    r.set(sp, r.value[sp] + static_cast<u64>(-offset));
}

void Unwinder::apply_save(u8 first, Address operands) {
  const u64 second = load(operands, 1);
  const i64 up = static_cast<i64>(8 * (second & 0x3f)), down = -static_cast<i64>(8 * ((second & 0x3f) + 1)),
            short_down = -static_cast<i64>(8 * ((second & 0x1f) + 1));
  const unsigned six = static_cast<unsigned>(second >> 6), five = static_cast<unsigned>(second >> 5);
  const unsigned low2 = first & 3u, low1 = first & 1u;
  if (first <= 0xcb)
    return restore(up, 19 + (low2 << 2) + six, 2, true);
  if (first <= 0xcf)
    return restore(down, 19 + (low2 << 2) + six, 2, true);
  if (first >= 0xd8 && first <= 0xdb)
    return restore(first <= 0xd9 ? up : down, 8 + (low1 << 2) + six, 2, false);
  no_pairs_before();
  if (first <= 0xd3)
    restore(up, 19 + (low2 << 2) + six, 1, true);
  else if (first <= 0xd5)
    restore(short_down, 19 + (low1 << 3) + five, 1, true);
  else if (first <= 0xd7) {
    restore(up, 19 + 2 * ((low1 << 2) + six), 1, true);
    restore(up + 8, lr, 1, true);
  } else if (first <= 0xdd)
    restore(up, 8 + (low1 << 2) + six, 1, false);
  else if (first == 0xde)
    restore(short_down, 8 + five, 1, false);
  else
    fail("an unwind operation that does not exist");
}

// 0pxrrrrr ffoooooo: pair or single, offset with write-back or not, register, kind of register, offset.
void Unwinder::save_any(Address operands) {
  const u64 a = load(operands, 1), b = load(operands + 1, 1);
  const unsigned pair = a >> 6 & 1, kind = static_cast<unsigned>(b >> 6), reg = a & 31;
  const bool down = a >> 5 & 1;
  if (a >> 7 || kind == 3 || (!pair && pairs_))
    return fail("an unwind operation that does not exist");
  const i64 unit = down || pair || kind == 2 ? 16 : 8;
  const i64 offset = (static_cast<i64>(b & 0x3f) + (down ? 1 : 0)) * unit;
  restore(down ? -offset : offset, reg, 1 + pair, kind == 0);
}

void Unwinder::apply(u8 first, Address operands) {
  auto set_sp = [&](u64 to) {
    no_pairs_before();
    r.set(sp, to);
  };
  if (first <= 0x1f) // alloc_s
    set_sp(r.value[sp] + 16 * u64{first});
  else if (first <= 0x3f) // save_r19r20_x
    restore(-8 * (first & 0x1f), 19, 2, true);
  else if (first <= 0x7f) // save_fplr
    no_pairs_before(), restore(8 * (first & 0x3f), fp, 2, true);
  else if (first <= 0xbf) // save_fplr_x
    no_pairs_before(), restore(-8 * ((first & 0x3f) + 1), fp, 2, true);
  else if (first <= 0xc7) // alloc_m
    set_sp(r.value[sp] + 16 * ((u64{first} & 7) << 8 | load(operands, 1)));
  else if (first <= 0xdf)
    apply_save(first, operands);
  else if (first == 0xe0) // alloc_l
    set_sp(r.value[sp] + 16 * (load(operands, 1) << 16 | load(operands + 1, 1) << 8 | load(operands + 2, 1)));
  else if (first == 0xe1 || first == 0xe2) { // set_fp, add_fp
    if (!r.knows(fp))
      return fail("the frame pointer is unknown");
    set_sp(r.value[fp] - (first == 0xe2 ? 8 * load(operands, 1) : 0));
  } else if (first == 0xe3 || first >= 0xf8) // nop, pointer authentication, and codes reserved for hints
    no_pairs_before();
  else if (first == 0xe6) // save_next_pair
    ++pairs_;
  else if (first == 0xe7)
    save_any(operands);
  else if (first == 0xe9) { // machine frame
    no_pairs_before();
    r.ip = load(r.value[sp] + 8, 8);
    set_sp(load(r.value[sp], 8));
    ip_is_set_ = true;
  } else if (first != 0xe5) // the end of a part that continues in its parent
    fail("an unwind operation that managed code does not use");
}

} // namespace

ReadOutcome unwind_arm64(const Memory &memory, const FunctionUnwind &function, const CallingConvention &convention,
                         Registers &registers) {
  if (!registers.knows(sp))
    return ReadOutcome::malformed("the stack pointer is unknown");
  Unwinder unwinder(memory, registers);
  unwinder.run(function.unwind_info, registers.ip - function.start);
  if (unwinder.outcome && !unwinder.r.knows(lr))
    unwinder.outcome = ReadOutcome::malformed("the return address is unknown");
  if (!unwinder.outcome)
    return unwinder.outcome;
  unwinder.r.keep_only(convention.preserved | u32{1} << sp);
  registers = unwinder.r;
  return {};
}

} // namespace dnheap
