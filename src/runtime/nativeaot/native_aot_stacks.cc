#include "runtime/nativeaot/native_aot_stacks.h"

#include "base/text.h"
#include "runtime/compiled/call_frame.h"
#include "runtime/library_names.h"
#include "runtime/thread_registers.h"

#include <map>
#include <unordered_map>

namespace dnheap {

namespace {

constexpr u64 max_frames = 1 << 20;
constexpr u64 most_record_bytes = 64 << 20; // of call frame information that one walk reads
constexpr u64 most_places = 4096;           // code addresses whose rules are kept
constexpr u64 most_of_throwing = 0x400;     // bytes of the frame of the function that throws for a failed instruction
constexpr u64 most_of_runtime = 64 << 10;   // bytes of stack that the runtime's own functions take in one call to it
constexpr u64 words_of_thread = 32;         // searched words of a Thread; one points at its current transition frame
constexpr u64 most_signals = 64;            // handled one inside the other
constexpr u64 auxv_system_calls = 33;       // AT_SYSINFO_EHDR: the kernel's image, which is in no list of modules

class NativeWalk {
public:
  NativeWalk(const Target &target, const std::optional<CodeRange> &managed, const DebugFrame &debug_frame,
             const ThreadData &thread)
      : target_(target), memory_(target.memory), managed_(managed), debug_frame_(debug_frame), thread_(thread),
        convention_(calling_convention(target.architecture, target.os)) {}

  WalkedStack run() {
    out_.thread = thread_.address;
    out_.are_references_known = false;
    if (start())
      while (registers_.ip && step()) {
      }
    return std::move(out_);
  }

private:
  struct KnownModule {
    std::optional<EhFrame> frames;
    ReadOutcome outcome;
  };

  bool start() {
    if (!convention_ || target_.os == OperatingSystem::windows)
      return stop("native code of this system is not understood");
    const Thread *thread = find_registers(target_, thread_);
    const std::optional<Registers> registers = thread ? registers_of(target_, *thread) : std::nullopt;
    if (!registers)
      return stop("its registers are not in the dump");
    registers_ = *registers;
    return true;
  }

  // Always returns false.
  bool stop(const std::string &why) {
    out_.why_not = why;
    return false;
  }

  bool step() {
    if (out_.frames.size() >= max_frames)
      return stop("it has more than " + count_text(max_frames) + " frames");
    const CallFrame *rules = rules_at(registers_.ip, is_exact_);
    if (!rules && (return_to_fault() || return_to_caller()))
      rules = rules_at(registers_.ip, is_exact_);
    add_frame(rules);
    if (!rules) {
      if (is_begun_by_musl())
        out_.why_not.clear();
      return false;
    }
    const Address before = sp();
    if (const ReadOutcome outcome = leave_call_frame(memory_, *rules, *convention_, registers_); !outcome)
      return stop(explained(outcome, registers_.ip));
    if (!registers_.ip) // the first function of the thread; on arm64 that one has no frame of its own
      return false;
    // Signal handlers may be on another stack; and leaf functions of arm64 need no stack.
    const bool stays = sp() == before && out_.frames.size() == 1 && convention_->architecture == Architecture::arm64;
    if (rules->function.is_signal ? ++signals_ > most_signals : sp() <= before && !stays)
      return stop("it runs in a circle at " + place(registers_.ip));
    is_exact_ = rules->function.is_signal;
    return true;
  }

  // The function that throws for a failed instruction was not called, so its unwind rules lead nowhere. Its frame
  // contains the registers at the fault: {ip, rsp, rbp, rax, rbx, rdx, r12 to r15}, directly below the address that
  // this rsp holds, which proves them (PAL_LIMITED_CONTEXT).
  bool return_to_fault() {
    constexpr u64 words = 10, alignment = 16;
    constexpr std::pair<unsigned, u64> preserved[] = {{4, 1}, {5, 2}, {3, 4}, {12, 6}, {13, 7}, {14, 8}, {15, 9}};
    if (convention_->architecture != Architecture::x64 || !managed_ || is_exact_ || out_.frames.empty() ||
        out_.frames.back().kind != StackFrame::Kind::native)
      return false;
    const Format format = memory_.format();
    const u64 p = format.pointer_size;
    const Address from = out_.frames.back().sp;
    const Bytes stack = memory_.peek_up_to(from, most_of_throwing);
    std::optional<u64> found;
    Address frame_end = ~Address{0}; // beyond it lie the callers' frames
    for (u64 at = 0; at + words * p <= stack.size() && from + at < frame_end; at += p) {
      const Address end = from + at + words * p, rsp = load_pointer(stack.data() + at + p, format);
      if (rsp < end || rsp - end >= alignment || !managed_->holds(load_pointer(stack.data() + at, format)))
        continue;
      if (load_pointer(stack.data() + at + 2 * p, format) == thread_.address)
        return false; // this is the record of a call into the runtime: see return_to_caller()
      if (found)
        return false;
      found = at;
      frame_end = rsp;
    }
    if (!found)
      return false;
    memory_.note_read(from + *found, words * p);
    registers_.ip = load_pointer(stack.data() + *found, format);
    for (auto [reg, word] : preserved)
      registers_.set(reg, load_pointer(stack.data() + *found + word * p, format), from + *found + word * p);
    is_exact_ = true;
    out_.why_not.clear();
    return true;
  }

  // The runtime's own functions may be compiled without unwind data. Their managed caller leaves a record: {ip, rbp,
  // thread, flags, registers…} (PInvokeTransitionFrame and its flags: nativeaot/Runtime/inc/rhbinder.h), within its own
  // frame, between rsp and rbp. The nearest one counts; further ones may be of earlier calls. musl has no unwind data
  // either: if a thread executes in musl, the runtime's Thread must point at the record, too, as records of earlier
  // calls may lie nearer.
  bool return_to_caller() {
    constexpr u32 saves_rsp = 0x8000;
    constexpr std::pair<u32, unsigned> saved[] = {{0x1, 3},   {0x2, 6},   {0x4, 7},   {0x10, 12},
                                                  {0x20, 13}, {0x40, 14}, {0x80, 15}, {saves_rsp, 4}}; // in their order
    constexpr unsigned rsp = 4, rbp = 5;
    if (convention_->architecture != Architecture::x64 || !managed_ || (is_exact_ && !is_in_musl()))
      return false;
    const Format format = memory_.format();
    const u64 p = format.pointer_size, most_words = 4 + std::size(saved);
    const Bytes thread = is_exact_ ? memory_.peek_up_to(thread_.address, words_of_thread * p) : Bytes();
    auto is_of_thread = [&](Address frame) {
      for (u64 at = 0; at + p <= thread.size(); at += p)
        if (load_pointer(thread.data() + at, format) == frame)
          return true;
      return !is_exact_;
    };
    const Address from = sp();
    const Bytes stack = memory_.peek_up_to(from, most_of_runtime);
    for (u64 at = 0; at + most_words * p <= stack.size(); at += p) {
      const Address frame = from + at, ip = load_pointer(stack.data() + at, format);
      const u32 flags = load<u32>(stack.data() + at + 3 * p, format.byte_order);
      if (load_pointer(stack.data() + at + 2 * p, format) != thread_.address || !managed_->holds(ip - 1) ||
          !(flags & saves_rsp) || !is_of_thread(frame))
        continue;
      Registers caller = registers_;
      u64 word = 4;
      for (auto [flag, reg] : saved)
        if (flags & flag) {
          caller.set(reg, load_pointer(stack.data() + at + word * p, format), frame + word * p);
          ++word;
        }
      caller.set(rbp, load_pointer(stack.data() + at + p, format), frame + p);
      if (caller.get(rsp) <= from || caller.get(rsp) > frame || caller.get(rbp) <= frame)
        continue;
      memory_.note_read(frame, word * p);
      if (!thread.empty())
        memory_.note_read(thread_.address, thread.size());
      add_frame(nullptr);
      registers_ = std::move(caller);
      registers_.ip = ip;
      is_exact_ = false;
      out_.why_not.clear();
      return true;
    }
    return false;
  }

  bool is_in_musl() const {
    const Module *module = target_.find_module(registers_.ip);
    return module && is_musl_library(module->file_name());
  }
  // True if musl started this thread: it is in musl near the stack's base, and a method that had called musl would have
  // been found further out.
  bool is_begun_by_musl() const {
    return convention_->architecture == Architecture::x64 && managed_ && !is_exact_ && is_in_musl() &&
           thread_.stack_base && sp() < *thread_.stack_base && *thread_.stack_base - sp() <= most_of_runtime;
  }

  Address sp() const { return registers_.get(convention_->stack_pointer).value_or(0); }

  void add_frame(const CallFrame *rules) {
    StackFrame frame;
    const bool is_method = managed_ && managed_->holds(registers_.ip - !is_exact_);
    frame.kind = is_method ? StackFrame::Kind::method : StackFrame::Kind::native;
    frame.ip = registers_.ip;
    frame.sp = sp();
    frame.is_active = is_exact_;
    if (rules && is_method) {
      frame.method_desc = rules->function.start;
      frame.code_offset = registers_.ip - rules->function.start;
    }
    out_.frames.push_back(std::move(frame));
  }

  // Null: the rules are unknown, and the reason is recorded. A call may be the last instruction of its function, or the
  // last that its rules cover; so the address before the return address counts.
  const CallFrame *rules_at(Address ip, bool is_exact) {
    const Address at = ip - !is_exact;
    auto known = rules_.find(at);
    if (known != rules_.end())
      return &known->second;
    const KnownModule *module = module_at(at);
    if (!module)
      return nullptr;
    FunctionFrame function;
    CallFrame frame;
    ReadOutcome outcome = module->frames ? module->frames->find(at, function) : module->outcome;
    if (!outcome)
      if (std::optional<FunctionFrame> other = debug_frame_.find(at)) {
        function = std::move(*other);
        outcome = {};
      }
    if (outcome)
      outcome = read_call_frame(function, at, memory_.format(), frame);
    if (!outcome) {
      const Module *own = managed_ ? target_.find_module(managed_->start) : nullptr;
      const bool may_be_told = debug_frame_.empty() && own && own == target_.find_module(at);
      stop(text_of(outcome, ip) + (may_be_told && outcome.kind == ReadOutcome::Kind::malformed
                                       ? "; the program's debug file may have it: give its folder with --modules"
                                       : ""));
      return nullptr;
    }
    if ((record_bytes_ += frame.function.shared.size() + frame.function.own.size()) > most_record_bytes) {
      stop("its unwind information takes more than " + bytes_text(most_record_bytes));
      return nullptr;
    }
    if (rules_.size() >= most_places)
      rules_.clear();
    return &rules_.emplace(at, std::move(frame)).first->second;
  }

  const KnownModule *module_at(Address address) {
    const Module *module = target_.find_module(address);
    auto mapped = target_.auxv.find(auxv_system_calls);
    if (!module && mapped == target_.auxv.end()) {
      stop("no module lies at " + hex(address));
      return nullptr;
    }
    const Address base = module ? module->base : mapped->second;
    auto [known, is_new] = modules_.try_emplace(base);
    if (is_new)
      known->second.outcome = EhFrame::open(memory_, base, known->second.frames);
    return &known->second;
  }

  // Leaves out addresses if data is missing, so that threads with the same reason can be grouped.
  std::string text_of(const ReadOutcome &outcome, Address ip) const {
    const Module *module = target_.find_module(outcome.at); // at 0, nothing is missing
    if (module)
      return "unwind data of " + std::string(module->file_name()) +
             " is not in this dump: give the folder of that file with --modules";
    return explained(outcome, ip);
  }
  std::string explained(const ReadOutcome &outcome, Address ip) const {
    return outcome.text() + (outcome.kind == ReadOutcome::Kind::malformed ? ": " + place(ip) : "");
  }

  std::string place(Address address) const {
    const Module *module = target_.find_module(address);
    return module ? std::string(module->file_name()) + "+" + hex(address - module->base) : hex(address);
  }

  const Target &target_;
  const Memory &memory_;
  const std::optional<CodeRange> &managed_;
  const DebugFrame &debug_frame_;
  const ThreadData &thread_;
  const CallingConvention *convention_;
  WalkedStack out_;
  Registers registers_;
  bool is_exact_ = true; // the thread executes at ip in this frame; else a call returns there
  u64 signals_ = 0, record_bytes_ = 0;
  std::map<Address, KnownModule> modules_; // by base
  std::unordered_map<Address, CallFrame> rules_;
};

} // namespace

Address NativeAotStacks::function_at(Address code) const {
  const Module *module = target_->find_module(code);
  if (!module)
    return 0;
  auto [known, is_new] = frames_.try_emplace(module->base);
  if (is_new)
    (void)EhFrame::open(target_->memory, module->base, known->second);
  FunctionFrame function;
  return known->second && known->second->find(code, function) ? function.start : 0;
}

WalkedStack NativeAotStacks::walk(const ThreadData &thread) const {
  return NativeWalk(*target_, managed_, debug_frame_, thread).run();
}

} // namespace dnheap
