#include "runtime/compiled/unwind_x64.h"

#include "runtime/compiled/epilog_x64.h"

namespace dnheap {

namespace {

constexpr unsigned rsp = 4;
constexpr u8 chained_flag = 4;
constexpr unsigned most_chained = 32;
constexpr u64 frame_unit = 16;

enum Operation : u8 {
  push_register = 0,
  alloc_large = 1,
  alloc_small = 2,
  set_frame = 3,
  save_register = 4,
  save_register_far = 5,
  epilog_place = 6,
  spare = 7,
  save_xmm = 8,
  save_xmm_far = 9,
  push_machine_frame = 10,
  set_frame_large = 11, // not on Windows
};

// Returns how many 16-bit slots an operation takes; 0: there is no such operation.
unsigned slots_of(u8 operation, u8 info) {
  switch (operation) {
  case push_register:
  case alloc_small:
  case set_frame:
  case epilog_place:
  case push_machine_frame: return 1;
  case alloc_large: return info ? 3 : 2;
  case save_register:
  case save_xmm:
  case spare: return 2;
  case save_register_far:
  case save_xmm_far:
  case set_frame_large: return 3;
  }
  return 0;
}

class Unwinder {
public:
  Unwinder(const Memory &memory, const Registers &registers) : r(registers), memory_(memory) {}

  Registers r;
  ReadOutcome outcome;
  bool ended_by_machine_frame = false;

  Address sp() const { return r.value[rsp]; }
  void set_sp(Address to) { r.set(rsp, to); }

  u64 load(Address at) {
    std::optional<u64> word = memory_.try_load<u64>(at);
    if (!word && outcome)
      outcome = ReadOutcome::missing(at);
    return word.value_or(0);
  }
  u64 load_small(Address at, unsigned size) {
    std::optional<u64> value;
    if (size == 1)
      value = memory_.try_load<u8>(at);
    else if (size == 2)
      value = memory_.try_load<u16>(at);
    else
      value = memory_.try_load<u32>(at);
    if (!value && outcome)
      outcome = ReadOutcome::missing(at);
    return value.value_or(0);
  }
  void fail(const char *what) {
    if (outcome)
      outcome = ReadOutcome::malformed(what);
  }
  void restore(unsigned reg, Address at) {
    const u64 value = load(at);
    if (outcome)
      r.set(reg, value, at);
  }

  // Executes the codes of one UNWIND_INFO up to those at offset `done` of its function's prolog. Returns the place of
  // the RUNTIME_FUNCTION that it continues with; 0: it ends.
  Address run(Address info, u64 done);

private:
  struct Info {
    u8 flags = 0, prolog = 0, count = 0, frame_register = 0;
    u64 frame_offset = 0;
  };
  struct Code {
    u8 prolog_offset = 0, operation = 0, info = 0;
    unsigned slots = 0;
  };
  Info read_info(Address at);
  Code read_code(Address at, unsigned left);
  void find_frame_offset(Address codes, Info &info, u64 done, bool &is_set);
  void apply(const Code &code, Address at, const Info &info);

  const Memory &memory_;
  std::optional<Address> establisher_;
};

Unwinder::Info Unwinder::read_info(Address at) {
  Info out;
  const u64 first = load_small(at, 1);
  if (outcome && (first & 7) != 1 && (first & 7) != 2)
    fail("unwind data of an unknown version");
  out.flags = static_cast<u8>(first >> 3);
  out.prolog = static_cast<u8>(load_small(at + 1, 1));
  out.count = static_cast<u8>(load_small(at + 2, 1));
  const u64 frame = load_small(at + 3, 1);
  out.frame_register = frame & 15;
  out.frame_offset = (frame >> 4) * frame_unit;
  return out;
}

Unwinder::Code Unwinder::read_code(Address at, unsigned left) {
  Code out;
  const u64 word = load_small(at, 2);
  out.prolog_offset = static_cast<u8>(word);
  out.operation = word >> 8 & 15;
  out.info = static_cast<u8>(word >> 12);
  out.slots = slots_of(out.operation, out.info);
  if (outcome && (out.slots == 0 || out.slots > left))
    fail("an unwind operation that does not exist");
  return out;
}

// Inside a prolog, the frame register counts only after it was set.
void Unwinder::find_frame_offset(Address codes, Info &info, u64 done, bool &is_set) {
  for (unsigned i = 0; i < info.count && outcome;) {
    const Code code = read_code(codes + 2 * i, info.count - i);
    if (!outcome)
      return;
    if (code.operation == set_frame_large)
      info.frame_offset = load_small(codes + 2 * i + 2, 4) * frame_unit;
    if ((code.operation == set_frame || code.operation == set_frame_large) && code.prolog_offset <= done)
      is_set = true;
    i += code.slots;
  }
}

void Unwinder::apply(const Code &code, Address at, const Info &info) {
  switch (code.operation) {
  case push_register:
    restore(code.info, sp());
    if (code.info != rsp)
      set_sp(sp() + 8);
    break;
  case alloc_small: set_sp(sp() + 8 * u64{code.info} + 8); break;
  case alloc_large: set_sp(sp() + (code.info ? load_small(at + 2, 4) : 8 * load_small(at + 2, 2))); break;
  case set_frame:
  case set_frame_large:
    if (!info.frame_register)
      fail("unwind data sets a frame register that it does not name");
    else if (!r.knows(info.frame_register))
      fail("the frame register is unknown");
    else
      set_sp(r.value[info.frame_register] - info.frame_offset);
    break;
  case save_register:
  case save_register_far: {
    const u64 offset = code.operation == save_register ? 8 * load_small(at + 2, 2) : load_small(at + 2, 4);
    restore(code.info, establisher_.value_or(sp()) + offset);
    break;
  }
  case push_machine_frame: {
    const Address frame = sp() + (code.info ? 8 : 0);
    r.ip = load(frame);
    set_sp(load(frame + 24));
    ended_by_machine_frame = true;
    break;
  }
  default: break; // registers that hold no references, and later Windows versions' data on epilogs
  }
}

Address Unwinder::run(Address at, u64 done) {
  Info info = read_info(at);
  const Address codes = at + 4;
  bool is_set = done >= info.prolog;
  find_frame_offset(codes, info, done, is_set);
  if (!outcome)
    return 0;
  establisher_.reset();
  if (info.frame_register && is_set) {
    if (!r.knows(info.frame_register)) {
      fail("the frame register is unknown");
      return 0;
    }
    establisher_ = r.value[info.frame_register] - info.frame_offset;
  }
  for (unsigned i = 0; i < info.count && outcome && !ended_by_machine_frame;) {
    const Code code = read_code(codes + 2 * i, info.count - i);
    if (outcome && code.prolog_offset <= done)
      apply(code, codes + 2 * i, info);
    i += code.slots;
  }
  return outcome && (info.flags & chained_flag) ? codes + 2 * align_up(info.count, 2) : 0;
}

} // namespace

ReadOutcome unwind_x64(const Memory &memory, const FunctionUnwind &function, const CallingConvention &convention,
                       bool interrupted, Registers &registers) {
  if (!registers.knows(rsp))
    return ReadOutcome::malformed("the stack pointer is unknown");
  const u64 offset = registers.ip - function.start;
  if (interrupted)
    if (std::optional<Registers> caller = leave_epilog_x64(memory, function.start, function.end, registers)) {
      caller->keep_only(convention.preserved | u32{1} << rsp);
      registers = *caller;
      return {};
    }
  Unwinder unwinder(memory, registers);
  Address next = unwinder.run(function.unwind_info, offset);
  for (unsigned i = 0; next && unwinder.outcome && !unwinder.ended_by_machine_frame; ++i) {
    const u64 info = unwinder.load_small(next + 8, 4); // {begin, end, unwind data}
    if (i == most_chained)
      unwinder.fail("unwind data that goes on without end");
    if (unwinder.outcome)
      next = unwinder.run(function.image_base + info, ~u64{0});
  }
  if (!unwinder.ended_by_machine_frame && unwinder.outcome) {
    unwinder.r.ip = unwinder.load(unwinder.sp());
    unwinder.set_sp(unwinder.sp() + 8);
  }
  if (!unwinder.outcome)
    return unwinder.outcome;
  // The other registers of an interrupted function's caller are known only behind a machine frame.
  unwinder.r.keep_only(convention.preserved | u32{1} << rsp);
  registers = unwinder.r;
  return {};
}

} // namespace dnheap
