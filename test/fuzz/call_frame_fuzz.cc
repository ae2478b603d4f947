// Any bytes as an image with .eh_frame, as .debug_frame, as call frame instructions and as a stack: looking up and
// leaving a function ends, and where it does not succeed nothing has changed.
#include "fuzz/check.h"
#include "runtime/compiled/call_frame.h"
#include "runtime/compiled/debug_frame.h"
#include "runtime/compiled/eh_frame.h"

using namespace dnheap;
using dnheap::test::check;

namespace {

constexpr Address image = 0x10000, stack = 0x4000000;

void leave(const Memory &memory, const FunctionFrame &function, Address ip, const CallingConvention &convention) {
  CallFrame rules;
  if (!read_call_frame(function, ip, memory.format(), rules))
    return;
  Registers r;
  r.ip = ip;
  for (unsigned reg = 0; reg < convention.register_count; ++reg)
    r.set(reg, stack + reg * 8);
  const Registers before = r;
  const ReadOutcome outcome = leave_call_frame(memory, rules, convention, r);
  check(outcome ? r.knows(convention.stack_pointer) : r.value == before.value && r.ip == before.ip);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const u8 *data, std::size_t size) {
  if (size < 4)
    return 0;
  const Bytes bytes = std::as_bytes(std::span(data + 4, size - 4));
  const Memory memory(Format{}, {Range{image, bytes}, Range{stack, bytes}});
  const CallingConvention &convention =
      *calling_convention(data[0] & 1 ? Architecture::x64 : Architecture::arm64, OperatingSystem::linux_os);
  const Address ip = image + data[1] * 256u + data[2];
  std::optional<EhFrame> frames;
  FunctionFrame function;
  if (EhFrame::open(memory, image, frames) && frames->find(ip, function)) {
    check(ip >= function.start && ip < function.end);
    leave(memory, function, ip, convention);
  }
  const DebugFrame debug(bytes, image, Format{}, nullptr);
  if (const std::optional<FunctionFrame> found = debug.find(ip))
    leave(memory, *found, ip, convention);
  FunctionFrame any;
  any.start = image;
  any.end = ~Address{0};
  any.data_alignment = -8;
  any.return_register = data[3] % 32;
  any.own = bytes;
  leave(memory, any, ip, convention);
  return 0;
}
