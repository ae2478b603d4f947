// Where native stacks end, and the kernel's own code: the program's first function, a return point of signals in the
// kernel's image, which lies in a hole of a module.
#include "runtime/compiled/native_frames.h"
#include "support/eh_frame_writer.h"

#include <cstring>
#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

constexpr Address program_at = 0x40000000, kernel_at = program_at + 0x20000, native_stack_at = 0x7000000;
constexpr unsigned rsp_number = 4;
constexpr u64 entry_tag = 9, kernel_tag = 33;
const CallingConvention &x64_linux = *calling_convention(Architecture::x64, OperatingSystem::linux_os);

class NativeFramesOf : public testing::Test {
protected:
  NativeFramesOf() {
    target.os = OperatingSystem::linux_os;
    target.architecture = Architecture::x64;
    Module module;
    module.path = "/app/program";
    module.base = program_at;
    module.extents = {{program_at, program_at + 0x100000, 0}};
    target.modules = {module};
    writer.functions = {{EhFrameWriter::code_at, 0x100, {}}};
    program = writer.image();
    stack.resize(0x400);
    now.set(rsp_number, native_stack_at);
  }
  void open() {
    target.memory =
        Memory(Format{}, {{program_at, Bytes(program)}, {kernel_at, Bytes(kernel)}, {native_stack_at, Bytes(stack)}});
  }

  Target target;
  EhFrameWriter writer;
  std::vector<std::byte> program, kernel, stack;
  Registers now;
  bool is_exact = false;
};

TEST_F(NativeFramesOf, TheProgramsFirstFunctionHasNoCaller) {
  open();
  now.ip = program_at + 0x2030;
  EXPECT_FALSE(NativeFrames(target, x64_linux).leave(is_exact, now)) << "no table says how it is left";
  target.auxv[entry_tag] = program_at + 0x2000;
  ASSERT_TRUE(NativeFrames(target, x64_linux).leave(is_exact, now));
  EXPECT_EQ(now.ip, 0u);
  now.ip = program_at + 0x2060;
  EXPECT_FALSE(NativeFrames(target, x64_linux).leave(is_exact, now)) << "another function";
}

TEST_F(NativeFramesOf, TheKernelsImageInAHoleOfAModule) {
  kernel = program;
  kernel.resize(0x11000);
  open();
  target.auxv[kernel_tag] = kernel_at;
  const u64 back = 0x123456;
  std::memcpy(stack.data(), &back, 8);
  now.ip = kernel_at + EhFrameWriter::code_at + 0x10;
  ASSERT_TRUE(NativeFrames(target, x64_linux).leave(is_exact, now));
  EXPECT_EQ(now.ip, back);
  EXPECT_EQ(now.get(rsp_number), native_stack_at + 8);
}

// As the kernel of arm64 has them.
TEST_F(NativeFramesOf, AReturnPointOfSignalsWithoutCallFrameInformation) {
  kernel = program;
  kernel.resize(0x11000);
  const u8 code[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};
  std::memcpy(kernel.data() + 0x3000, code, sizeof code);
  const u64 ip = 0x1234567, sp = 0x89abcd0;
  std::memcpy(stack.data() + 168, &ip, 8);
  std::memcpy(stack.data() + 160, &sp, 8);
  open();
  target.auxv[kernel_tag] = kernel_at;
  now.ip = kernel_at + 0x3000;
  ASSERT_TRUE(NativeFrames(target, x64_linux).leave(is_exact, now));
  EXPECT_TRUE(is_exact) << "the thread was interrupted there";
  EXPECT_EQ(now.ip, ip);
  EXPECT_EQ(now.get(rsp_number), sp);
}

} // namespace
} // namespace dnheap::test
