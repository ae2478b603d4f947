#include "runtime/coreclr/threads/stack_walk.h"

#include "base/text.h"
#include "runtime/compiled/native_frames.h"
#include "runtime/compiled/unwind_arm64.h"
#include "runtime/compiled/unwind_x64.h"
#include "runtime/compiled/unwind_x86.h"
#include "runtime/library_names.h"
#include "runtime/thread_registers.h"

namespace dnheap {

namespace {

constexpr u64 max_frames = 1 << 20;
constexpr u64 max_candidate_bytes = 1 << 20;
constexpr u64 red_zone = 128;
constexpr u64 most_listed_frames = 4096; // native ones in one piece
constexpr u64 most_signals = 64;         // handled one inside the other
constexpr u64 most_native_frames = 256;  // between the thread's position and the calling method
constexpr unsigned arm64_link_register = 30;
constexpr u64 most_of_a_thread = 8192; // bytes searched in the runtime's Thread, which is smaller

} // namespace

class OneWalk {
public:
  OneWalk(const StackWalk &walk, const ThreadData &thread, NativeFrames *native)
      : walk_(walk), native_(native), memory_(walk.target_->memory), p_(memory_.format().pointer_size), thread_(thread),
        end_(thread.stack_base.value_or(0)) {
    code_.is_managed = [this](Address ip) { return find(ip) != nullptr; };
    code_.is_return_address = [this](Address ip) { return is_return_address(ip); };
    code_.frame_end = [this](Registers registers) {
      const CodeBlock *code = find(registers.ip);
      return code && leave(*code, false, registers) ? registers.value[walk_.convention_->stack_pointer] : 0;
    };
  }

  WalkedStack run();

private:
  // Data on a code address, shared by all frames there, as recursion returns to the same address.
  struct Known {
    std::optional<CodeBlock> code;
    bool has_slots = false; // `slots` is known: the slots of frames that are neither active nor aborted
    std::vector<GcSlot> slots;
    u64 scratch_area = 0;
    std::optional<u8> base;
  };
  struct Skipped { // an exception has left the frames up to this one
    Address method_start;
    u64 frame_pointer;
  };

  bool start();
  bool step_managed(const CodeBlock &code);
  bool step_explicit();
  void undo_hijack(Registers &parent);
  // Records why the stack is known only in part. Keeps the first reason. Always returns false.
  bool stop(const std::string &why, Address from);
  void doubt(const std::string &why) { stop(why, sp()); } // the walk goes on further out
  std::string text_of(const ReadOutcome &outcome) const;

  Known &known(Address ip);
  const CodeBlock *find(Address ip);
  bool is_return_address(Address ip);
  bool is_stub(Address ip);
  bool is_x86() const { return walk_.convention_->architecture == Architecture::x86; }
  Address sp() const { return registers_.get(walk_.convention_->stack_pointer).value_or(0); }
  ReadOutcome leave(const CodeBlock &code, bool is_active, Registers &registers) const;
  bool unwind(const CodeBlock &code, Registers &registers);
  bool next_explicit();
  void leave_stub();
  bool take_return_address(Registers &registers);
  bool runs_managed_code() const;
  void list_native(bool is_exact);
  void leave_native();
  void doubt_in_native(const ReadOutcome &outcome);
  void enter_caller(const Registers &caller);
  void add_words(Address from, Address to, std::vector<StackReference> &references) const;
  void add_register_candidates(std::vector<StackReference> &to) const;
  void add_possible_slots(const GcInfo &info, StackFrame &frame);
  bool report_slots(const CodeBlock &code, Address caller_sp, StackFrame &frame);
  const Known *slots_at(const CodeBlock &code, Known &scratch, ReadOutcome &outcome);
  void add_slot(const GcSlot &slot, const Known &of, Address caller_sp, StackFrame &frame);
  void add_candidates(const FrameCaller &caller, StackFrame &frame);
  u64 room_for_arguments(const CodeBlock &caller);

  const StackWalk &walk_;
  NativeFrames *const native_; // null: native frames are not listed
  const Memory &memory_;
  const u64 p_;
  const ThreadData &thread_;
  const Address end_; // of the stack
  ExplicitFrames::Code code_;
  std::unordered_map<Address, Known> at_;
  WalkedStack out_;

  Registers registers_;
  Address passed_ = 0; // end of the managed frames so far
  bool is_active_ = true, is_aborted_ = false;
  bool is_unsafe_call_ = false; // at a call that no GC can interrupt: GC info does not list the live slots there
  bool registers_are_candidates_ = false; // the unknown registers were added as candidates
  std::vector<StackReference> passed_on_; // references passed to a method that has not begun yet
  std::optional<Skipped> skipped_;
  std::optional<ExplicitFrame> frame_; // the next one
};

bool OneWalk::stop(const std::string &why, Address from) {
  if (!out_.is_complete())
    return false;
  out_.why_not = why;
  // Methods further in may have saved this method's registers below `from`; those slots may hold references, too.
  for (unsigned reg = 0; reg < walk_.convention_->register_count; ++reg)
    if (registers_.knows(reg) && in_stack(thread_, registers_.saved_at[reg]))
      from = std::min(from, registers_.saved_at[reg]);
  out_.unknown_from = from;
  return false;
}

// The user can supply data from a module's file.
std::string OneWalk::text_of(const ReadOutcome &outcome) const {
  const Module *module = walk_.target_->find_module(outcome.at); // at 0, nothing is missing
  return outcome.text() + (module ? "; --modules may name the folder of " + std::string(module->file_name()) : "");
}

OneWalk::Known &OneWalk::known(Address ip) {
  auto [it, is_new] = at_.try_emplace(ip);
  if (is_new)
    it->second.code = walk_.find_(ip); // if it throws, the next call tries again
  return it->second;
}

const CodeBlock *OneWalk::find(Address ip) {
  const Known &found = known(ip);
  return found.code ? &*found.code : nullptr;
}

bool OneWalk::is_return_address(Address ip) {
  const CodeBlock *code = find(ip);
  if (!code || is_x86())
    return code;
  const GcInfo info(memory_, code->gc_info, *walk_.encoding_, code->gc_info_version);
  return info.outcome().kind == ReadOutcome::Kind::missing || info.is_return_point(code->offset_of(ip));
}

// If a thread is in native code, its registers do not lead to managed code; the first Frame does.
bool OneWalk::start() {
  out_.thread = thread_.address;
  auto by_number = walk_.registers_.find(thread_.os_id.value_or(0));
  const Thread *thread = by_number != walk_.registers_.end() && in_stack(thread_, by_number->second->stack_pointer)
                             ? by_number->second
                             : find_registers(*walk_.target_, thread_);
  std::optional<Registers> registers = thread ? registers_of(*walk_.target_, *thread) : std::nullopt;
  if (registers) {
    registers_ = *registers;
    list_native(true);
  }
  const Address from = thread_.stack_limit.value_or(0);
  const Address stack_pointer = sp();
  const Address all = in_stack(thread_, stack_pointer) ? stack_pointer - std::min(red_zone, stack_pointer) : from;
  if (!thread_.stack_base || !thread_.stack_limit)
    return stop("the place of its stack is unknown", 0);
  if (!walk_.why_not().empty())
    return stop(walk_.why_not(), all);
  if (!registers)
    return stop("its registers are not in the dump", all);
  const std::optional<Address> first = walk_.frames_.first(thread_.address);
  if (!first)
    return stop("memory at " + hex(thread_.address) + " is not in this dump", all);
  if (*first && !(frame_ = walk_.frames_.at(*first)))
    return stop("the data at " + hex(*first) + " is not a Frame of a known kind", all);
  if (find(registers_.ip) && !in_stack(thread_, stack_pointer))
    return stop("it runs on another stack", from);
  if (const ReadOutcome outcome =
          walk_.frames_.protected_references(thread_.address, *thread_.stack_limit, end_, out_.of_runtime);
      !outcome)
    return stop(outcome.text(), all);
  if (!find(registers_.ip))
    leave_stub();
  if (!find(registers_.ip))
    leave_native();
  return true;
}

// Between two methods, a thread may be in a few instructions that the runtime generated: stubs, write barriers. They
// are in no module and have no frame: the caller's return address is the first word of the stack, or in its register.
void OneWalk::leave_stub() {
  Registers caller = registers_;
  if (is_stub(registers_.ip) && in_stack(thread_, sp()) && take_return_address(caller))
    enter_caller(caller);
}

// True for code that the runtime generated and that is no method: a stub, a copy of a write barrier.
bool OneWalk::is_stub(Address ip) {
  const Module *module = walk_.target_->find_module(ip);
  return (!module || is_made_code(module->path)) && !find(ip);
}

// Returns to managed code, through stubs if need be: neither they nor leaf functions in assembly language have a frame.
// False: no return address leads there.
bool OneWalk::take_return_address(Registers &registers) {
  constexpr unsigned most_stubs = 2; // a write barrier, and the stub that leads to it
  const bool is_on_stack = walk_.convention_->architecture != Architecture::arm64;
  Address at = registers.get(walk_.convention_->stack_pointer).value_or(0);
  for (unsigned stubs = 0; stubs <= most_stubs; ++stubs) {
    const std::optional<u64> back = is_on_stack ? memory_.try_pointer(at) : registers.get(arm64_link_register);
    if (!back)
      return false;
    if (is_on_stack)
      at += p_;
    if (find(*back)) {
      registers.ip = *back;
      registers.set(walk_.convention_->stack_pointer, at);
      return true;
    }
    // A word that leads into no module at all may be anything.
    if (!is_on_stack || !walk_.target_->find_module(*back) || !is_stub(*back))
      return false;
  }
  return false;
}

// The caller holds the arguments that it passed; the callee keeps them in registers and on its part of the stack.
void OneWalk::enter_caller(const Registers &caller) {
  add_register_candidates(passed_on_);
  add_words(sp(), caller.get(walk_.convention_->stack_pointer).value_or(0), passed_on_);
  registers_ = caller;
  is_active_ = false;
  is_unsafe_call_ = !is_return_address(caller.ip);
}

// Lists the native frames from here to the next managed code, or to the thread's end. The managed walk goes on by the
// runtime's Frames all the same, as it does where these cannot be unwound.
void OneWalk::list_native(bool is_exact) {
  if (!native_ || find(registers_.ip))
    return;
  Registers at = registers_;
  const auto stack_pointer = [&] { return at.get(walk_.convention_->stack_pointer).value_or(0); };
  for (u64 listed = 0, signals = 0; at.ip && !find(at.ip); ++listed) {
    StackFrame frame;
    frame.kind = StackFrame::Kind::native;
    frame.ip = at.ip;
    frame.sp = stack_pointer();
    frame.is_active = is_exact;
    out_.frames.push_back(std::move(frame));
    const Address before = stack_pointer();
    const bool may_have_no_frame = is_exact && walk_.convention_->architecture == Architecture::arm64;
    ReadOutcome outcome = native_->leave(is_exact, at);
    if (!outcome && (listed == 0 || is_stub(at.ip)) && take_return_address(at))
      return;
    if (!outcome && native_->leave_by_frame_pointer(is_exact, at)) {
      outcome = {};
      is_exact = false;
    }
    // Signal handlers may run on another stack; leaf functions of arm64 need none of it, and a thread's first function
    // is not left for another one.
    const bool is_signal = outcome && is_exact;
    const bool goes_on =
        at.ip == 0 || stack_pointer() > before || (is_signal && ++signals <= most_signals) || may_have_no_frame;
    if (outcome && (!goes_on || listed >= most_listed_frames))
      outcome = ReadOutcome::malformed("it does not lead up the stack");
    if (!outcome) {
      const Module *module = walk_.target_->find_module(out_.frames.back().ip);
      out_.why_no_native = (module ? std::string(module->file_name()) : "no module") + ": " + text_of(outcome);
      return;
    }
  }
}

// True if a collection must wait for the thread. It need not if the thread itself waits, or is in native code that
// leaves a Frame.
bool OneWalk::runs_managed_code() const {
  return walk_.cooperative_ && memory_.try_load<u32>(thread_.address + *walk_.cooperative_) == 1u;
}

// Short helpers of the runtime (casts, allocation, copies) leave no Frame: the method that called such a helper is
// further in than the first Frame's caller.
void OneWalk::leave_native() {
  if (walk_.target_->os != OperatingSystem::linux_os || !in_stack(thread_, sp()) || !runs_managed_code())
    return;
  Address limit = end_; // from there on, the first Frame continues the walk
  if (frame_) {
    FrameCaller caller;
    limit = frame_->address;
    if (walk_.frames_.caller(*frame_, end_, code_, caller) && caller.is_told)
      limit = caller.registers.get(walk_.convention_->stack_pointer).value_or(limit);
  }
  NativeFrames of_this_walk(*walk_.target_, *walk_.convention_);
  NativeFrames &native = native_ ? *native_ : of_this_walk;
  Registers at = registers_;
  bool is_exact = true;
  auto stack_pointer = [&] { return at.get(walk_.convention_->stack_pointer).value_or(0); };
  for (u64 i = 0; i < most_native_frames; ++i) {
    const Address before = stack_pointer();
    if (const ReadOutcome outcome = native.leave(is_exact, at);
        !outcome && ((i && !is_stub(at.ip)) || !take_return_address(at)))
      return doubt_in_native(outcome);
    if (stack_pointer() <= before || stack_pointer() >= limit || at.ip == 0)
      return;
    if (find(at.ip))
      return enter_caller(at);
  }
}

// If a helper has made a Frame, nothing is missing. The walk goes on further out in any case.
void OneWalk::doubt_in_native(const ReadOutcome &outcome) {
  if (frame_ && frame_->kind.shape == FrameShape::helper_method)
    return;
  const Module *module = walk_.target_->find_module(registers_.ip);
  const std::string place = module ? std::string(module->file_name()) : "native code";
  doubt("it stands in a helper of the runtime (" + place + "), which could not be unwound: " + text_of(outcome));
}

void OneWalk::add_words(Address from, Address to, std::vector<StackReference> &references) const {
  const Address end = std::min(to, add_clamped(from, max_candidate_bytes));
  for (Address at = align_up(from, p_); at + p_ <= end; at += p_)
    if (const u64 value = memory_.try_pointer(at).value_or(0)) {
      StackReference candidate;
      candidate.slot = at;
      candidate.value = value;
      candidate.interior = true;
      candidate.certain = false;
      references.push_back(candidate);
    }
}

void OneWalk::add_register_candidates(std::vector<StackReference> &to) const {
  for (unsigned reg = 0; reg < walk_.convention_->register_count; ++reg) {
    StackReference candidate;
    candidate.value = reg == walk_.convention_->stack_pointer ? 0 : registers_.get(reg).value_or(0);
    candidate.slot = registers_.saved_at[reg];
    candidate.reg = static_cast<u8>(reg);
    candidate.interior = true;
    candidate.certain = false;
    if (candidate.value)
      to.push_back(candidate);
  }
}

// At a point where the GC would not have stopped a method, GC info does not list what is live: every register, and
// every slot that holds a reference at some other point, may hold one.
void OneWalk::add_possible_slots(const GcInfo &info, StackFrame &frame) {
  add_register_candidates(frame.references);
  std::vector<GcSlot> slots;
  if (!info.slots(slots))
    return;
  for (const GcSlot &slot : slots) {
    std::optional<u64> base;
    if (slot.base == GcSlot::Base::sp)
      base = sp();
    else if (slot.base == GcSlot::Base::frame_register)
      base = registers_.get(info.stack_base_register().value_or(0));
    StackReference candidate;
    candidate.slot = base.value_or(0) + static_cast<u64>(i64{slot.offset});
    candidate.value = base && slot.tracked ? memory_.try_pointer(candidate.slot).value_or(0) : 0;
    candidate.interior = true;
    candidate.certain = false;
    if (candidate.value)
      frame.references.push_back(candidate);
  }
}

// To stop a thread, the runtime replaces a method's return address by one of its own, and keeps the original in the
// Thread, beside the address of the place that it took it from.
void OneWalk::undo_hijack(Registers &parent) {
  if (walk_.convention_->architecture != Architecture::x64 || find(parent.ip))
    return;
  const Address place = parent.value[walk_.convention_->stack_pointer] - 8;
  const Bytes thread = memory_.peek_up_to(thread_.address, most_of_a_thread); // neighbouring words are other data
  for (u64 at = 8; at + 16 <= thread.size(); at += 8)
    if (load_pointer(thread.data() + at, memory_.format()) == place)
      for (const u64 beside : {at - 8, at + 8})
        if (const Address ip = load_pointer(thread.data() + beside, memory_.format()); find(ip)) {
          memory_.note_read(thread_.address + at - 8, 24);
          parent.ip = ip;
          return;
        }
}

WalkedStack OneWalk::run() {
  try {
    if (!start())
      return std::move(out_);
    while (true) {
      if (out_.frames.size() >= max_frames) {
        stop("it has more frames than this program reads", sp());
        break;
      }
      const CodeBlock *code = find(registers_.ip);
      if (!code && !out_.frames.empty() && out_.frames.back().kind == StackFrame::Kind::method)
        list_native(false); // a managed method was called from here
      if (code ? !step_managed(*code) : !step_explicit())
        break;
    }
  } catch (const Error &e) {
    stop(e.what(), out_.frames.empty() && !sp() ? thread_.stack_limit.value_or(0) : sp());
  }
  return std::move(out_);
}

ReadOutcome OneWalk::leave(const CodeBlock &code, bool is_active, Registers &registers) const {
  if (is_x86())
    return unwind_x86(memory_, GcInfoX86(memory_, code.gc_info, code.gc_info_version), code.offset_of(registers.ip),
                      code.is_funclet, registers);
  const FunctionUnwind function{code.function_start, code.function_end, code.image_base, code.unwind_info};
  return walk_.convention_->architecture == Architecture::x64
             ? unwind_x64(memory_, function, *walk_.convention_, is_active, registers)
             : unwind_arm64(memory_, function, *walk_.convention_, registers);
}

bool OneWalk::unwind(const CodeBlock &code, Registers &registers) {
  const ReadOutcome outcome = leave(code, is_active_, registers);
  return outcome ? true : stop(text_of(outcome), sp());
}

// Goes to the next Frame; Frames are sorted by stack address.
bool OneWalk::next_explicit() {
  const ExplicitFrame last = *frame_;
  frame_.reset();
  if (last.next == 0)
    return true;
  // The first Frame may lie on the signal stack, if the thread's own stack is full.
  const bool leads_back = last.next <= last.address && in_stack(thread_, last.address);
  if (leads_back || !in_stack(thread_, last.next))
    return stop("the list of Frames leads back, or out of the stack, at " + hex(last.address), last.address);
  frame_ = walk_.frames_.at(last.next);
  return frame_ ? true : stop("the data at " + hex(last.next) + " is not a Frame of a known kind", last.address);
}

bool OneWalk::step_managed(const CodeBlock &code) {
  Registers parent = registers_;
  if (!unwind(code, parent))
    return false;
  undo_hijack(parent);
  const Address parent_sp = parent.value[walk_.convention_->stack_pointer];
  if (parent_sp <= sp() || parent_sp > end_)
    return stop("a frame at " + hex(sp()) + " does not lead up the stack", sp());
  StackFrame frame;
  frame.ip = registers_.ip;
  frame.sp = sp();
  frame.method_desc = code.method_desc;
  frame.code_offset = code.offset_of(registers_.ip);
  frame.is_active = is_active_;
  frame.is_funclet = code.is_funclet;
  frame.is_filter = code.is_filter;
  // Frames within this frame belong to it.
  while (frame_ && frame_->address < parent_sp) {
    walk_.frames_.references(*frame_, frame.references);
    if (!next_explicit())
      return false;
  }
  const u64 frame_pointer = registers_.get(walk_.convention_->frame_pointer).value_or(0);
  if (skipped_) {
    frame.is_unwound = true;
    if (!code.is_funclet && code.start == skipped_->method_start && frame_pointer == skipped_->frame_pointer)
      skipped_.reset();
  } else {
    if (!report_slots(code, parent_sp, frame))
      return false;
    // An exception handler reports its own references, and those of the method that it belongs to; the frames in
    // between have been left. A filter runs before any frame is left.
    if (code.is_funclet && !code.is_filter)
      skipped_ = Skipped{code.start, frame_pointer};
  }
  out_.frames.push_back(std::move(frame));
  registers_ = parent;
  passed_ = parent_sp;
  is_active_ = is_aborted_ = is_unsafe_call_ = false;
  return true;
}

const OneWalk::Known *OneWalk::slots_at(const CodeBlock &code, Known &scratch, ReadOutcome &outcome) {
  Known &kept = known(registers_.ip);
  const bool is_usual = !is_active_ && !is_aborted_ && !is_unsafe_call_;
  if (is_usual && kept.has_slots)
    return &kept;
  Known &to = is_usual ? kept : scratch;
  CodePoint point;
  point.offset = code.offset_of(registers_.ip);
  point.active = is_active_;
  point.aborted = is_aborted_;
  point.filter = code.is_funclet && code.is_filter;
  if (is_x86()) {
    const GcInfoX86 info(memory_, code.gc_info, code.gc_info_version);
    outcome = info.outcome() ? info.live_slots(point, code.is_funclet, to.slots) : info.outcome();
    to.base = walk_.convention_->frame_pointer;
    to.has_slots = static_cast<bool>(outcome);
    return outcome ? &to : nullptr;
  }
  const GcInfo info(memory_, code.gc_info, *walk_.encoding_, code.gc_info_version);
  outcome = info.live_slots(point, to.slots);
  if (outcome && code.offset_of(registers_.ip) > info.code_length())
    outcome = ReadOutcome::malformed("code behind a method's end");
  if (!outcome)
    return nullptr;
  to.scratch_area = info.scratch_area();
  to.base = info.stack_base_register();
  to.has_slots = true;
  return &to;
}

bool OneWalk::report_slots(const CodeBlock &code, Address caller_sp, StackFrame &frame) {
  Known scratch;
  ReadOutcome outcome;
  const Known *at = slots_at(code, scratch, outcome);
  if (outcome.kind == ReadOutcome::Kind::malformed)
    return stop("GC info at " + hex(code.gc_info) + ": " + outcome.text(), sp());
  if (!at) // its callers are still known
    doubt("GC info at " + hex(code.gc_info) + ": " + text_of(outcome));
  for (const GcSlot &slot : at ? at->slots : std::vector<GcSlot>())
    add_slot(slot, *at, caller_sp, frame);
  if (at && (is_active_ || is_unsafe_call_) && !is_aborted_ && is_x86()) {
    add_register_candidates(frame.references); // GC info for x86 is not asked whether the GC can stop there
  } else if (at && (is_active_ || is_unsafe_call_) && !is_aborted_) {
    const GcInfo info(memory_, code.gc_info, *walk_.encoding_, code.gc_info_version);
    CodePoint point;
    point.offset = code.offset_of(registers_.ip);
    point.active = is_active_;
    if (is_unsafe_call_ || !info.tells(point))
      add_possible_slots(info, frame);
  }
  frame.references.insert(frame.references.end(), passed_on_.begin(), passed_on_.end());
  passed_on_.clear();
  return true;
}

void OneWalk::add_slot(const GcSlot &slot, const Known &of, Address caller_sp, StackFrame &frame) {
  StackReference out;
  out.interior = slot.interior;
  out.pinned = slot.pinned;
  out.tracked = slot.tracked;
  if (slot.base == GcSlot::Base::none) {
    if (!is_active_ && !(walk_.convention_->may_hold_objects >> slot.reg & 1))
      return; // a call changes this register
    const std::optional<u64> value = registers_.get(slot.reg);
    if (!value) {
      if (!registers_are_candidates_)
        doubt("a register that holds a reference is unknown");
      return;
    }
    out.value = *value;
    out.slot = registers_.saved_at[slot.reg];
    out.reg = slot.reg;
  } else {
    std::optional<u64> base = caller_sp;
    if (slot.base == GcSlot::Base::sp)
      base = sp();
    else if (slot.base == GcSlot::Base::frame_register)
      base = of.base ? registers_.get(*of.base) : std::nullopt;
    if (!base)
      return doubt("the frame register is unknown");
    out.slot = *base + static_cast<u64>(i64{slot.offset});
    if (!is_active_ && slot.tracked && out.slot >= sp() && out.slot - sp() < of.scratch_area)
      return; // an argument: it belongs to the callee
    const std::optional<u64> value = memory_.try_pointer(out.slot);
    if (!value)
      return doubt("memory at " + hex(out.slot) + " is not in this dump");
    out.value = *value;
  }
  if (out.value)
    frame.references.push_back(out);
}

// Returns how many bytes the caller reserves for arguments on the stack. If the caller's GC info does not have that
// number (unoptimised code), returns the bytes below the first slot in which the caller keeps a reference.
u64 OneWalk::room_for_arguments(const CodeBlock &caller) {
  constexpr u64 usual_arguments = 32; // bytes: callees remove their arguments, and their size is unknown
  if (is_x86())
    return usual_arguments;
  const GcInfo info(memory_, caller.gc_info, *walk_.encoding_, caller.gc_info_version);
  Registers parent = registers_;
  std::vector<GcSlot> slots;
  if (info.scratch_area() || !info.slots(slots) || !unwind(caller, parent))
    return info.outcome() ? info.scratch_area() : 0;
  const Address parent_sp = parent.value[walk_.convention_->stack_pointer];
  Address end = parent_sp;
  for (const GcSlot &slot : slots) {
    std::optional<u64> base;
    if (slot.base == GcSlot::Base::sp)
      base = sp();
    else if (slot.base == GcSlot::Base::caller_sp)
      base = parent_sp;
    else if (slot.base == GcSlot::Base::frame_register)
      base = registers_.get(info.stack_base_register().value_or(0));
    const Address at = base.value_or(0) + static_cast<u64>(i64{slot.offset});
    if (base && at >= sp())
      end = std::min(end, at);
  }
  return end > sp() ? end - sp() : 0;
}

void OneWalk::add_candidates(const FrameCaller &caller, StackFrame &frame) {
  registers_are_candidates_ = caller.candidates_to != 0;
  frame.references.insert(frame.references.end(), caller.candidates.begin(), caller.candidates.end());
  add_words(caller.candidates_from, caller.candidates_to, frame.references);
}

// Passes native code: the next Frame shows where managed code continues.
bool OneWalk::step_explicit() {
  if (!frame_)
    return false; // the walk is complete
  const ExplicitFrame now = *frame_;
  FrameCaller caller;
  if (const ReadOutcome outcome = walk_.frames_.caller(now, end_, code_, caller); !outcome)
    return stop(std::string(now.kind.name) + " at " + hex(now.address) + ": " + outcome.text(), now.address);
  StackFrame frame;
  frame.kind = StackFrame::Kind::explicit_;
  frame.sp = now.address;
  frame.ip = caller.is_told ? caller.registers.ip : 0;
  frame.method_desc = walk_.frames_.method_desc(now);
  frame.frame_name = now.kind.name;
  walk_.frames_.references(now, frame.references);
  if (caller.is_told) {
    const Address caller_sp = caller.registers.get(walk_.convention_->stack_pointer).value_or(0);
    const bool is_full = now.kind.shape == FrameShape::faulting_exception && is_beyond_stack(thread_, caller_sp);
    if ((!in_stack(thread_, caller_sp) && !is_full) || caller_sp < passed_)
      return stop(std::string(now.kind.name) + " at " + hex(now.address) + " leads back, or out of the stack",
                  now.address);
    registers_ = caller.registers;
    is_active_ = now.kind.caller_is_active();
    is_aborted_ = walk_.frames_.caller_is_aborted(now);
    add_candidates(caller, frame);
  }
  out_.frames.push_back(std::move(frame));
  if (caller.is_told && now.kind.shape == FrameShape::transition) {
    const CodeBlock *code = find(registers_.ip);
    walk_.frames_.arguments(now, code ? room_for_arguments(*code) : 0, out_.frames.back().references);
  }
  // An InlinedCallFrame lies within its caller's frame, and is passed together with that.
  if (caller.is_told && now.kind.shape == FrameShape::inlined_call) {
    if (!find(registers_.ip))
      return stop("InlinedCallFrame at " + hex(now.address) + " leads to no managed code", now.address);
    return true;
  }
  return next_explicit();
}

StackWalk::StackWalk(const Target &target, const ContractDescriptor &descriptor, FindCode find)
    : target_(&target), find_(std::move(find)), frames_(target, descriptor),
      encoding_(gc_info_encoding(target.architecture)), convention_(calling_convention(target.architecture, target.os)),
      cooperative_(descriptor.try_offset("Thread", "PreemptiveGCDisabled")), why_not_(frames_.why_not()) {
  const bool is_x86 = convention_ && convention_->architecture == Architecture::x86;
  if (!convention_ || (!encoding_ && !is_x86))
    why_not_ = "stacks of this processor are not understood";
  for (const Thread &thread : target.threads)
    registers_.emplace(thread.id, &thread);
}

WalkedStack StackWalk::walk(const ThreadData &thread, NativeFrames *native) const {
  if (!convention_ || (!encoding_ && convention_->architecture != Architecture::x86)) {
    WalkedStack out;
    out.thread = thread.address;
    out.why_not = why_not_;
    out.unknown_from = thread.stack_limit.value_or(0);
    return out;
  }
  return OneWalk(*this, thread, native).run();
}

} // namespace dnheap
