#include "runtime/coreclr/native_functions.h"

#include "image/function_table.h"
#include "runtime/compiled/unwind_x64.h"

namespace dnheap {

ReadOutcome leave_native_function(const Target &target, const CallingConvention &convention, Registers &registers) {
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
