// Any bytes as unwind data, code and stack: leaving a function ends, and where it does not succeed nothing has changed.
#include "fuzz/check.h"
#include "runtime/compiled/unwind_arm64.h"
#include "runtime/compiled/unwind_x64.h"

using namespace dnheap;
using dnheap::test::check;

namespace {

constexpr Address info = 0x1000, code = 0x10000, stack = 0x20000;

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const u8 *data, std::size_t size) {
  if (size < 4)
    return 0;
  const Bytes bytes = std::as_bytes(std::span(data + 4, size - 4));
  const Memory memory(Format{}, {Range{info, bytes}, Range{code, bytes}, Range{stack, bytes}});
  const bool is_x64 = data[0] & 1;
  const CallingConvention &convention =
      *calling_convention(is_x64 ? Architecture::x64 : Architecture::arm64,
                          data[0] & 2 ? OperatingSystem::windows : OperatingSystem::linux_os);
  Registers r;
  r.ip = code + data[1];
  r.set(convention.stack_pointer, stack + data[2]);
  r.set(convention.frame_pointer, stack + data[3]);
  if (!is_x64)
    r.set(30, code);
  const Registers before = r;
  const FunctionUnwind function{code, code + bytes.size(), 0, info};
  const ReadOutcome outcome =
      is_x64 ? unwind_x64(memory, function, convention, data[0] & 4, r) : unwind_arm64(memory, function, convention, r);
  check(outcome ? r.knows(convention.stack_pointer) : r.value == before.value && r.ip == before.ip);
  return 0;
}
