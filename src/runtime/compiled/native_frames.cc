#include "runtime/compiled/native_frames.h"

#include "runtime/compiled/frame_x86.h"
#include "runtime/compiled/signal_return.h"
#include "runtime/compiled/unwind_x64.h"

#include <algorithm>

namespace dnheap {

namespace {

constexpr u64 most_places = 1 << 16;        // code addresses whose rules are kept
constexpr u64 most_record_bytes = 64 << 20; // of call frame information that is kept
constexpr u64 auxv_system_calls = 33;       // AT_SYSINFO_EHDR: the kernel's image, which is in no list of modules
constexpr u64 auxv_entry = 9;               // AT_ENTRY: the program's first instruction
constexpr u64 largest_entry = 64;           // bytes of that function
constexpr u64 largest_native_frame = 1 << 20;

} // namespace

ReadOutcome NativeFrames::leave(bool &is_exact, Registers &registers) {
  const Address at = registers.ip - !is_exact; // a call may be the last instruction of its function, or of its rules
  const KnownModule *module = module_at(at);
  bool behind_signal = false;
  ReadOutcome outcome = module ? leave_in_module(*module, is_exact, registers, behind_signal)
                               : ReadOutcome::malformed("code that is in no module");
  if (!outcome && leave_signal_return(target_.memory, convention_, registers)) {
    outcome = {};
    behind_signal = true;
  } else if (!outcome && began_here(at)) {
    outcome = {};
    registers.ip = 0;
  }
  if (outcome)
    is_exact = behind_signal;
  return outcome;
}

ReadOutcome NativeFrames::leave_in_module(const KnownModule &module, bool is_exact, Registers &registers,
                                          bool &behind_signal) {
  if (module.functions)
    return leave_by_table(module, is_exact, registers);
  if (!module.frames)
    return module.outcome;
  const CallFrame *rules = nullptr;
  ReadOutcome outcome = rules_at(module, registers.ip - !is_exact, rules);
  if (outcome)
    outcome = leave_call_frame(target_.memory, *rules, convention_, registers);
  behind_signal = outcome && rules->function.is_signal;
  return outcome;
}

// True in the program's first function, which the kernel, or the dynamic linker, jumps to: C libraries of some systems
// have no unwind data for it.
bool NativeFrames::began_here(Address at) const {
  const auto entry = target_.auxv.find(auxv_entry);
  return entry != target_.auxv.end() && at >= entry->second && at - entry->second < largest_entry;
}

// The kernel may have put its image into a hole of a module, which is then said to extend over it.
std::optional<Address> NativeFrames::base_at(Address at) {
  const auto kernel = target_.auxv.find(auxv_system_calls);
  if (!kernel_end_ && kernel != target_.auxv.end())
    if (const std::optional<ModuleImage> image = ModuleImage::at(target_.memory, kernel->second))
      kernel_end_ = image->end();
  if (kernel != target_.auxv.end() && at >= kernel->second && at < kernel_end_.value_or(0))
    return kernel->second;
  const Module *module = target_.find_module(at);
  return module ? std::optional(module->base) : std::nullopt;
}

const NativeFrames::KnownModule *NativeFrames::module_at(Address at) {
  const std::optional<Address> base = base_at(at);
  if (!base)
    return nullptr;
  auto [known, is_new] = modules_.try_emplace(*base);
  KnownModule &module = known->second;
  if (!is_new)
    return &module;
  if (target_.os != OperatingSystem::windows)
    module.outcome = EhFrame::open(target_.memory, *base, module.frames);
  else if (convention_.architecture != Architecture::x64)
    module.outcome = ReadOutcome::malformed("it has no unwind data, and no frame pointer leads to its caller");
  else if (!(module.functions = FunctionTable::at(target_.memory, *base)))
    module.outcome = ReadOutcome::missing(*base);
  if (convention_.architecture == Architecture::x86)
    module.image = ModuleImage::at(target_.memory, *base);
  return &module;
}

// Where a dump lacks the module's headers, all of the module counts as code.
bool NativeFrames::is_code(Address at) {
  const KnownModule *module = module_at(at);
  if (!module || !module->image)
    return module;
  return std::ranges::any_of(module->image->sections(), [&](const ModuleImage::Section &section) {
    return section.executable && at >= section.address && at - section.address < section.size;
  });
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
bool NativeFrames::leave_by_frame_pointer(bool is_exact, Registers &registers) {
  if (convention_.architecture == Architecture::x86)
    return leave_frame_x86(
        target_.memory, convention_, is_exact, [this](Address at) { return is_code(at); }, registers);
  const u64 p = target_.format().pointer_size;
  const std::optional<u64> sp = registers.get(convention_.stack_pointer), fp = registers.get(convention_.frame_pointer);
  if (is_exact || !sp || !fp || *fp % p || *fp < *sp || *fp - *sp > largest_native_frame)
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
