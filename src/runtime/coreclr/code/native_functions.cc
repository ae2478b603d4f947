#include "runtime/coreclr/code/native_functions.h"

#include "image/function_table.h"
#include "runtime/compiled/call_frame.h"
#include "runtime/compiled/eh_frame.h"
#include "runtime/compiled/unwind_x64.h"

namespace dnheap {

namespace {

// Linux: by .eh_frame.
ReadOutcome leave_by_records(const Target &target, const CallingConvention &convention, Registers &registers) {
  const Address call = registers.ip - 1; // a call may be a function's last instruction
  const Module *module = target.find_module(call);
  std::optional<EhFrame> frames;
  FunctionFrame function;
  CallFrame rules;
  if (!module)
    return ReadOutcome::malformed("no module lies there");
  if (const ReadOutcome outcome = EhFrame::open(target.memory, module->base, frames); !outcome)
    return outcome;
  if (const ReadOutcome outcome = frames->find(call, function); !outcome)
    return outcome;
  if (const ReadOutcome outcome = read_call_frame(function, call, target.memory.format(), rules); !outcome)
    return outcome;
  return leave_call_frame(target.memory, rules, convention, registers);
}

} // namespace

ReadOutcome leave_native_function(const Target &target, const CallingConvention &convention, Registers &registers) {
  if (convention.architecture == Architecture::x64 && convention.os == OperatingSystem::linux_os)
    return leave_by_records(target, convention, registers);
  if (convention.architecture != Architecture::x64 || convention.os != OperatingSystem::windows)
    return ReadOutcome::malformed("native code of this system is not understood");
  const Module *module = target.find_module(registers.ip);
  const std::optional<FunctionTable> table = module ? FunctionTable::at(target.memory, module->base) : std::nullopt;
  const std::optional<FunctionEntry> entry = table ? table->find(registers.ip) : std::nullopt;
  if (!entry)
    return ReadOutcome::malformed("no unwind information for this native code");
  const FunctionUnwind function{entry->start, entry->end, module->base, entry->unwind_info};
  return unwind_x64(target.memory, function, convention, false, registers);
}

} // namespace dnheap
