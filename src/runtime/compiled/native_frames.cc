#include "runtime/compiled/native_frames.h"

#include "runtime/compiled/unwind_x64.h"

namespace dnheap {

namespace {

constexpr u64 most_places = 1 << 16;        // code addresses whose rules are kept
constexpr u64 most_record_bytes = 64 << 20; // of call frame information that is kept
constexpr u64 auxv_system_calls = 33;       // AT_SYSINFO_EHDR: the kernel's image, which is in no list of modules
constexpr u64 largest_native_frame = 1 << 20;

} // namespace

ReadOutcome NativeFrames::leave(bool &is_exact, Registers &registers) {
  const Address at = registers.ip - !is_exact; // a call may be the last instruction of its function, or of its rules
  const KnownModule *module = module_at(at);
  if (!module)
    return ReadOutcome::malformed("code that is in no module");
  ReadOutcome outcome = module->outcome;
  bool behind_signal = false;
  if (module->functions) {
    outcome = leave_by_table(*module, is_exact, registers);
  } else if (module->frames) {
    const CallFrame *rules = nullptr;
    outcome = rules_at(*module, at, rules);
    if (outcome)
      outcome = leave_call_frame(target_.memory, *rules, convention_, registers);
    behind_signal = outcome && rules->function.is_signal;
  }
  if (outcome)
    is_exact = behind_signal;
  return outcome;
}

const NativeFrames::KnownModule *NativeFrames::module_at(Address at) {
  const Module *module = target_.find_module(at);
  const auto system_calls = target_.auxv.find(auxv_system_calls);
  if (!module && system_calls == target_.auxv.end())
    return nullptr;
  const Address base = module ? module->base : system_calls->second;
  auto [known, is_new] = modules_.try_emplace(base);
  if (!is_new)
    return &known->second;
  if (target_.os != OperatingSystem::windows)
    known->second.outcome = EhFrame::open(target_.memory, base, known->second.frames);
  else if (convention_.architecture != Architecture::x64)
    known->second.outcome = ReadOutcome::malformed("native code of this processor is not unwound");
  else if (!(known->second.functions = FunctionTable::at(target_.memory, base)))
    known->second.outcome = ReadOutcome::missing(base);
  return &known->second;
}

ReadOutcome NativeFrames::rules_at(const KnownModule &module, Address at, const CallFrame *&to) {
  if (auto known = rules_.find(at); known != rules_.end()) {
    to = &known->second;
    return {};
  }
  FunctionFrame function;
  CallFrame frame;
  ReadOutcome outcome = module.frames->find(at, function);
  if (outcome)
    outcome = read_call_frame(function, at, target_.memory.format(), frame);
  if (!outcome)
    return outcome;
  const u64 bytes = frame.function.shared.size() + frame.function.own.size();
  if (rules_.size() >= most_places || record_bytes_ + bytes > most_record_bytes) {
    rules_.clear();
    record_bytes_ = 0;
  }
  record_bytes_ += bytes;
  to = &rules_.emplace(at, std::move(frame)).first->second;
  return {};
}

// A function without an entry calls nothing and moves no register: its return address is the first word of the stack.
ReadOutcome NativeFrames::leave_by_table(const KnownModule &module, bool is_exact, Registers &registers) const {
  const Address at = registers.ip - !is_exact;
  if (const std::optional<FunctionEntry> function = module.functions->find(at))
    return unwind_x64(target_.memory,
                      {function->start, function->end, module.functions->image_base(), function->unwind_info},
                      convention_, is_exact, registers);
  if (!module.functions->is_complete())
    return ReadOutcome::missing(module.functions->address());
  const std::optional<u64> sp = registers.get(convention_.stack_pointer);
  const std::optional<u64> back = sp ? target_.memory.try_pointer(*sp) : std::nullopt;
  if (!is_exact || !back)
    return ReadOutcome::malformed("no function of the module holds that place");
  registers.ip = *back;
  registers.set(convention_.stack_pointer, *sp + 8);
  return {};
}

// {the caller's frame pointer, return address} lie where the frame pointer leads, if functions keep one.
bool NativeFrames::leave_by_frame_pointer(Registers &registers) const {
  const u64 p = target_.format().pointer_size;
  const std::optional<u64> sp = registers.get(convention_.stack_pointer), fp = registers.get(convention_.frame_pointer);
  if (!sp || !fp || *fp % p || *fp < *sp || *fp - *sp > largest_native_frame)
    return false;
  const std::optional<u64> next = target_.memory.try_pointer(*fp), back = target_.memory.try_pointer(*fp + p);
  if (!next || !back || *back == 0 || (*next && *next <= *fp))
    return false;
  registers.keep_only(0);
  registers.set(convention_.stack_pointer, *fp + 2 * p);
  registers.set(convention_.frame_pointer, *next, *fp);
  registers.ip = *back;
  return true;
}

} // namespace dnheap
