// Stacks of NativeAOT: synthetic threads in a module of which some functions are managed methods.
#include "runtime/nativeaot/native_aot_stacks.h"
#include "support/eh_frame_writer.h"

#include <gtest/gtest.h>
#include <map>

namespace dnheap::test {
namespace {

constexpr Address module_base = 0x40000000, stack_low = 0x700000, stack_top = 0x780000;
constexpr Address libc_base = 0x50000000, own_record = stack_low + 0x200;
constexpr u64 most_words = (stack_top - stack_low) / 8;

// Functions of 0x100 bytes each; each takes one word beside its return address from its second byte on.
class AotScene {
public:
  enum Place : u64 { first = 0, native = 1, method = 2, last = 3, signal_return = 4, count = 5 };

  AotScene() : words_(most_words) {
    for (u64 i = 0; i < count; ++i)
      writer.functions.push_back({EhFrameWriter::code_at + 0x100 * i, 0x100, {0x41, 0x0e, 16}});
    writer.functions[last].instructions = {0x07, 16}; // nobody called it
    target.os = OperatingSystem::linux_os;
    target.architecture = Architecture::x64;
    managed = CodeRange{code(method), code(method) + 0x100};
  }

  static Address code(Place place, u64 offset = 0) {
    return module_base + EhFrameWriter::code_at + 0x100 * place + offset;
  }
  // From the innermost frame's on: a return address every other word.
  void call(std::initializer_list<Address> returns) {
    Address at = stack_low + 0x1000;
    for (Address one : returns) {
      word(at + 8) = one;
      at += 16;
    }
  }
  u64 &word(Address at) { return words_[(at - stack_low) / 8]; }

  WalkedStack walk(Address ip, Address sp = stack_low + 0x1000) {
    image_ = writer.image();
    const Bytes image = Bytes(image_).first(has_tables ? image_.size() : EhFrameWriter::frames_at);
    target.memory = Memory(Format{}, {{module_base, image}, {stack_low, std::as_bytes(std::span(words_))}});
    Module module;
    module.path = "/app/shop";
    module.base = module_base;
    module.extents = {{module_base, module_base + image_.size(), 0}};
    target.modules = {module};
    module.path = c_library;
    module.base = libc_base;
    module.extents = {{libc_base, libc_base + 0x1000, 0}};
    if (!c_library.empty())
      target.modules.push_back(module);
    Thread thread;
    thread.id = 7;
    thread.instruction_pointer = ip;
    thread.stack_pointer = sp;
    thread.registers.resize(27);
    thread.registers[16] = ip;
    thread.registers[19] = sp;
    target.threads = {thread};
    ThreadData data;
    data.address = address;
    data.os_id = 7;
    data.stack_base = stack_base;
    NativeAotStacks walk(target, managed);
    if (!debug_frame.empty())
      walk.use_debug_frame(DebugFrame(debug_frame, module_base, Format{}, nullptr));
    return walk.walk(data);
  }

  Target target;
  EhFrameWriter writer;
  std::optional<CodeRange> managed;
  std::vector<std::byte> debug_frame;
  bool has_tables = true;
  Address address = 0x1234; // of the thread
  std::string c_library;    // at libc_base; empty: there is none
  std::optional<Address> stack_base;

private:
  std::vector<u64> words_;
  std::vector<std::byte> image_;
};

TEST(NativeAotStacks, MethodsAndNativeFunctionsUpToTheEnd) {
  AotScene scene;
  // A call may be the last instruction of its function.
  scene.call({AotScene::code(AotScene::method, 0x100), AotScene::code(AotScene::native, 0x20),
              AotScene::code(AotScene::last, 0x30)});
  const WalkedStack walked = scene.walk(AotScene::code(AotScene::first, 0x10));
  EXPECT_TRUE(walked.is_complete()) << walked.why_not;
  EXPECT_FALSE(walked.are_references_known);
  EXPECT_EQ(walked.thread, 0x1234u);
  ASSERT_EQ(walked.frames.size(), 4u);
  const StackFrame &method = walked.frames[1];
  EXPECT_EQ(method.kind, StackFrame::Kind::method);
  EXPECT_EQ(method.method_desc, AotScene::code(AotScene::method));
  EXPECT_EQ(method.code_offset, 0x100u);
  EXPECT_EQ(method.ip, AotScene::code(AotScene::method, 0x100));
  EXPECT_EQ(method.sp, stack_low + 0x1010);
  EXPECT_TRUE(walked.frames[0].is_active);
  for (u64 i : {0, 2, 3}) {
    EXPECT_EQ(walked.frames[i].kind, StackFrame::Kind::native) << i;
    EXPECT_EQ(walked.frames[i].method_desc, 0u);
    EXPECT_EQ(walked.frames[i].is_active, i == 0);
  }
}

// As arm64's C library begins threads: with rsp as the CFA.
TEST(NativeAotStacks, WhatNobodyCalledNeedsNoFrameOfItsOwn) {
  AotScene scene;
  scene.writer.functions[AotScene::last].instructions = {0x0e, 0, 0x07, 16};
  scene.call({AotScene::code(AotScene::last, 0x30)});
  const WalkedStack walked = scene.walk(AotScene::code(AotScene::first, 0x10));
  EXPECT_TRUE(walked.is_complete()) << walked.why_not;
  EXPECT_EQ(walked.frames.size(), 2u);
}

TEST(NativeAotStacks, WhereManagedCodeLiesMayNotBeKnown) {
  AotScene scene;
  scene.managed.reset();
  scene.call({AotScene::code(AotScene::method, 0x10), AotScene::code(AotScene::last, 0x30)});
  const WalkedStack walked = scene.walk(AotScene::code(AotScene::first, 0x10));
  EXPECT_TRUE(walked.is_complete());
  EXPECT_EQ(walked.frames[1].kind, StackFrame::Kind::native);
}

TEST(NativeAotStacks, AThreadMayStandAtTheBeginningOfAMethod) {
  AotScene scene;
  scene.word(stack_low + 0x1000) = AotScene::code(AotScene::last, 0x30);
  const WalkedStack walked = scene.walk(AotScene::code(AotScene::method));
  EXPECT_TRUE(walked.is_complete()) << walked.why_not;
  ASSERT_EQ(walked.frames.size(), 2u);
  EXPECT_EQ(walked.frames[0].code_offset, 0u);
}

TEST(NativeAotStacks, DeepRecursion) {
  AotScene scene;
  for (Address at = stack_low + 0x1008; at < stack_top - 16; at += 16)
    scene.word(at) = AotScene::code(AotScene::method, 0x40);
  scene.word(stack_top - 8) = AotScene::code(AotScene::last, 0x30);
  const WalkedStack walked = scene.walk(AotScene::code(AotScene::method, 0x40));
  EXPECT_TRUE(walked.is_complete()) << walked.why_not;
  EXPECT_EQ(walked.frames.size(), (stack_top - stack_low - 0x1000) / 16 + 1);
}

// The kernel's frame says where the thread was interrupted: at the first instruction of a function, whose predecessor
// has other rules.
TEST(NativeAotStacks, ThroughAHandlerOfASignal) {
  AotScene scene;
  scene.writer.augmentation = "zRS";
  scene.writer.functions = {{EhFrameWriter::code_at + 0x100 * AotScene::signal_return,
                             0x100,
                             {0x0f, 3, 0x77, 0x00, 0x06, 0x10, 16, 2, 0x77, 0x08}}};
  EhFrameWriter others;
  others.functions = {{EhFrameWriter::code_at + 0x100 * AotScene::method, 0x100, {0x41, 0x0e, 16}},
                      {EhFrameWriter::code_at + 0x100 * AotScene::last, 0x100, {0x07, 16}}};
  scene.debug_frame = others.debug_frame();
  const Address handler_sp = stack_low + 0x1000, interrupted_sp = stack_low + 0x800;
  scene.word(handler_sp) = interrupted_sp;
  scene.word(handler_sp + 8) = AotScene::code(AotScene::method);
  scene.word(interrupted_sp) = AotScene::code(AotScene::last, 0x30);
  const WalkedStack walked = scene.walk(AotScene::code(AotScene::signal_return), handler_sp);
  EXPECT_TRUE(walked.is_complete()) << walked.why_not;
  ASSERT_EQ(walked.frames.size(), 3u);
  EXPECT_TRUE(walked.frames[1].is_active);
  EXPECT_EQ(walked.frames[1].sp, interrupted_sp);
  EXPECT_EQ(walked.frames[1].code_offset, 0u);
}

// What throws for an instruction that failed was not called by it, but has noted where that was.
TEST(NativeAotStacks, BackToAnInstructionThatFailed) {
  for (const bool is_proved : {true, false}) {
    AotScene scene;
    scene.call({AotScene::code(AotScene::native, 0x20), 1});
    const Address context = stack_low + 0x1100, fault_sp = context + 80;
    scene.word(context) = AotScene::code(AotScene::method, 0x40);
    scene.word(context + 8) = is_proved ? fault_sp : fault_sp + 0x100;
    scene.word(fault_sp + 8) = AotScene::code(AotScene::last, 0x30);
    const WalkedStack walked = scene.walk(AotScene::code(AotScene::first, 0x10));
    if (!is_proved) {
      EXPECT_FALSE(walked.is_complete());
      continue;
    }
    EXPECT_TRUE(walked.is_complete()) << walked.why_not;
    ASSERT_EQ(walked.frames.size(), 4u);
    EXPECT_EQ(walked.frames[2].ip, AotScene::code(AotScene::method, 0x40));
    EXPECT_EQ(walked.frames[2].sp, fault_sp);
    EXPECT_TRUE(walked.frames[2].is_active);
    EXPECT_EQ(walked.frames[3].ip, AotScene::code(AotScene::last, 0x30));
  }
}

// Of the runtime's own functions nothing may tell how they are left; what called them has noted where it stands.
TEST(NativeAotStacks, BackToTheMethodThatCalledTheRuntime) {
  constexpr Address runtime = module_base + 0x900, noted = stack_low + 0x1100, sp = noted - 0x20;
  for (const u64 thread : {0x1234, 0x1238}) {
    AotScene scene;
    scene.call({runtime});
    u64 at = noted;
    for (u64 word : {AotScene::code(AotScene::method, 0x40), noted + 80, Address(thread), Address(0x77'0000'8001),
                     Address(0xb), sp}) {
      scene.word(at) = word; // what proves it is the thread: for an instruction that failed it might be taken, too
      at += 8;
    }
    scene.word(sp + 8) = AotScene::code(AotScene::last, 0x30);
    const WalkedStack walked = scene.walk(AotScene::code(AotScene::first, 0x10));
    if (thread != 0x1234) {
      EXPECT_FALSE(walked.is_complete() && walked.frames.size() == 4);
      continue;
    }
    EXPECT_TRUE(walked.is_complete()) << walked.why_not;
    ASSERT_EQ(walked.frames.size(), 4u);
    EXPECT_EQ(walked.frames[1].ip, runtime);
    EXPECT_EQ(walked.frames[1].kind, StackFrame::Kind::native);
    EXPECT_EQ(walked.frames[2].ip, AotScene::code(AotScene::method, 0x40));
    EXPECT_EQ(walked.frames[2].sp, sp);
    EXPECT_FALSE(walked.frames[2].is_active);
    EXPECT_EQ(walked.frames[3].ip, AotScene::code(AotScene::last, 0x30));
  }
}

// ld-musl does not say how it is left. The method that called it left word of itself, which its thread knows of; of
// earlier calls others may be left, nearer. What musl called first is the end, if the stack ends near.
TEST(NativeAotStacks, OutOfMuslAndBackToItsBeginning) {
  constexpr Address earlier = stack_low + 0x1080, noted = stack_low + 0x1100, sp = noted - 0x20;
  for (const bool is_musl : {true, false})
    for (const bool is_known : {true, false}) {
      SCOPED_TRACE(std::to_string(is_musl) + std::to_string(is_known));
      AotScene scene;
      scene.address = own_record;
      scene.c_library = is_musl ? "/lib/ld-musl-x86_64.so.1" : "/lib/libc.so.6";
      scene.stack_base = sp + 0x800;
      for (const Address frame : {earlier, noted}) {
        Address at = frame;
        for (u64 word : {AotScene::code(AotScene::method, frame == noted ? 0x40 : 0x50), noted + 80, own_record,
                         Address(0x8000), frame - 0x20}) {
          scene.word(at) = word;
          at += 8;
        }
      }
      scene.word(own_record + 72) = is_known ? noted : 0;
      scene.word(sp + 8) = libc_base + 0x400;
      const WalkedStack walked = scene.walk(libc_base + 0x300);
      EXPECT_EQ(walked.is_complete(), is_musl && is_known) << walked.why_not;
      ASSERT_EQ(walked.frames.size(), is_musl && is_known ? 3u : 1u);
      EXPECT_EQ(walked.frames[0].ip, libc_base + 0x300);
      EXPECT_TRUE(walked.frames[0].is_active);
      if (walked.frames.size() < 3)
        continue;
      EXPECT_EQ(walked.frames[1].ip, AotScene::code(AotScene::method, 0x40));
      EXPECT_EQ(walked.frames[1].sp, sp);
      EXPECT_FALSE(walked.frames[1].is_active);
      EXPECT_EQ(walked.frames[2].ip, libc_base + 0x400);
      EXPECT_EQ(walked.frames[2].kind, StackFrame::Kind::native);
    }
  AotScene far; // too far from the end to know that no method called it
  far.c_library = "/lib/ld-musl-x86_64.so.1";
  far.call({libc_base + 0x400});
  for (const std::optional<Address> end : {std::optional<Address>(), std::optional<Address>(stack_top)}) {
    far.stack_base = end;
    EXPECT_FALSE(far.walk(AotScene::code(AotScene::first, 0x10)).is_complete());
  }
  far.stack_base = stack_low + 0x2000;
  EXPECT_TRUE(far.walk(AotScene::code(AotScene::first, 0x10)).is_complete());
}

TEST(NativeAotStacks, WhatCannotBeFollowedIsSaid) {
  auto why = [](AotScene &scene, Address ip) { return scene.walk(ip).why_not; };
  AotScene cut;
  cut.has_tables = false;
  EXPECT_EQ(why(cut, AotScene::code(AotScene::first, 0x10)),
            "unwind data of shop is not in this dump: give the folder of that file with --modules");
  EXPECT_EQ(cut.walk(AotScene::code(AotScene::method, 0x10)).frames.size(), 1u);
  AotScene nowhere;
  EXPECT_EQ(why(nowhere, 0x999), "no module lies at 0x999");
  EXPECT_EQ(why(nowhere, module_base + 0x900), "no function of the module contains the address: shop+0x900; the "
                                               "program's debug file may have it: give its folder "
                                               "with --modules");
  nowhere.managed.reset();
  EXPECT_EQ(why(nowhere, module_base + 0x900), "no function of the module contains the address: shop+0x900");
  AotScene off_stack;
  EXPECT_EQ(off_stack.walk(AotScene::code(AotScene::first, 0x10), stack_top - 8).why_not,
            "memory at 0x780000 is not in this dump");
  AotScene no_registers;
  no_registers.target.architecture = Architecture::s390x;
  EXPECT_EQ(why(no_registers, 0), "native code of this system is not understood");
  AotScene windows;
  windows.target.os = OperatingSystem::windows;
  EXPECT_EQ(why(windows, 0), "native code of this system is not understood");
}

TEST(NativeAotStacks, ACircleEnds) {
  AotScene scene;
  // The CFA is rsp itself.
  scene.writer.functions[AotScene::first].instructions = {0x0e, 0, 0x90, 0};
  scene.word(stack_low + 0x1000) = AotScene::code(AotScene::first, 0x20);
  const WalkedStack walked = scene.walk(AotScene::code(AotScene::first, 0x20));
  EXPECT_FALSE(walked.is_complete());
  EXPECT_EQ(walked.frames.size(), 1u);
}

TEST(NativeAotStacks, ADebugFileTellsOfFunctionsThatTheModuleLeavesOut) {
  AotScene scene;
  scene.writer.functions.erase(scene.writer.functions.begin() + AotScene::native);
  scene.call({AotScene::code(AotScene::native, 0x20), AotScene::code(AotScene::last, 0x30)});
  EXPECT_EQ(scene.walk(AotScene::code(AotScene::first, 0x10)).frames.size(), 2u);
  EhFrameWriter whole;
  whole.functions = {{EhFrameWriter::code_at + 0x100 * AotScene::native, 0x100, {0x41, 0x0e, 16}}};
  scene.debug_frame = whole.debug_frame();
  const WalkedStack walked = scene.walk(AotScene::code(AotScene::first, 0x10));
  EXPECT_TRUE(walked.is_complete()) << walked.why_not;
  EXPECT_EQ(walked.frames.size(), 3u);
}

} // namespace
} // namespace dnheap::test
