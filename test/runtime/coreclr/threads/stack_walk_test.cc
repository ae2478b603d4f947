// Stacks that were laid out call by call: the walk finds every frame again, and what each holds, whichever way the
// thread left managed code; what is missing is said; and whatever lies on a stack, the walk ends.
#include "support/eh_frame_writer.h"
#include "support/pe_writer.h"
#include "support/stack_scene.h"

namespace dnheap::test {
namespace {

TEST(StackWalk, FramesAndWhatTheyHold) {
  Scene s;
  Method &outer = s.add(64, {in_register(rbx), at(GcSlot::Base::sp, 16)}),
         &middle = s.add(48, {at(GcSlot::Base::caller_sp, -40), at(GcSlot::Base::sp, 8, false)}),
         &inner = s.add(96, {at(GcSlot::Base::sp, 80)});
  s.call(outer);
  const Address outer_sp = s.now.value[rsp];
  s.stack[outer_sp + 16] = 0xaaa0;
  s.now.set(rbx, 0xbbb0);
  s.call(middle);
  const Address middle_sp = s.now.value[rsp];
  s.stack[outer_sp - 40] = 0xccc0;
  s.stack[middle_sp + 8] = 0xddd0;
  s.now.set(rbx, 0x1234);
  s.call(inner);
  s.call_native();
  const WalkedStack found = s.walk();
  EXPECT_EQ(found.why_not, "");
  expect_frames(found, s);
  ASSERT_EQ(found.frames.size(), 4u);
  EXPECT_STREQ(found.frames[0].frame_name, "InlinedCallFrame");
  EXPECT_EQ(found.frames[1].method_desc, inner.method_desc());
  EXPECT_EQ(held(found.frames[1]), Held{}); // null
  EXPECT_EQ(held(found.frames[2]), (Held{{outer_sp - 40, 0xccc0}, {middle_sp + 8, 0xddd0}}));
  // What the middle one saved of the outer one's registers lies in its frame.
  EXPECT_EQ(held(found.frames[3]), (Held{{outer_sp - 24, 0xbbb0}, {outer_sp + 16, 0xaaa0}}));
  EXPECT_EQ(found.frames[3].code_offset, 50u);
  EXPECT_FALSE(found.frames[3].is_active);
}

// Then its registers count, those too that calls change.
TEST(StackWalk, AThreadInManagedCode) {
  Scene s;
  Method &leaf = s.add(32, {in_register(rbx), in_register(r12)});
  s.call(leaf);
  s.now.set(rbx, 0xaaa0);
  s.now.set(r12, 0xbbb0);
  const WalkedStack found = s.walk();
  EXPECT_EQ(found.why_not, "");
  ASSERT_EQ(found.frames.size(), 1u);
  EXPECT_TRUE(found.frames[0].is_active);
  EXPECT_EQ(held(found.frames[0]), (Held{{0, 0xaaa0}, {0, 0xbbb0}}));
  EXPECT_EQ(found.frames[0].references[1].reg, r12);
}

// Where nothing says what lives, whatever may live is a candidate.
TEST(StackWalk, AThreadBetweenTwoSafePoints) {
  Scene s;
  Method &leaf = s.add(32, {in_register(rbx), at(GcSlot::Base::sp, 8)});
  s.call(leaf);
  const Address sp = s.now.value[rsp];
  s.stack[sp + 8] = 0xbbb0;
  s.now.set(rbx, 0xaaa0);
  s.now.ip += 3;
  s.expected.back().first = s.now.ip;
  const WalkedStack found = s.walk();
  EXPECT_EQ(found.why_not, "");
  expect_frames(found, s);
  ASSERT_EQ(found.frames.size(), 1u);
  const Held all = held(found.frames[0]);
  EXPECT_NE(std::find(all.begin(), all.end(), Held::value_type{0, 0xaaa0}), all.end());
  EXPECT_NE(std::find(all.begin(), all.end(), Held::value_type{sp + 8, 0xbbb0}), all.end());
  for (const StackReference &reference : found.frames[0].references)
    EXPECT_FALSE(reference.certain);
}

// In the few instructions that lead from a call to what is called.
TEST(StackWalk, AThreadInAStub) {
  Scene s;
  Method &caller = s.add(32, {in_register(rbx)});
  s.call(caller);
  const Address sp = s.now.value[rsp];
  s.stack[sp - 8] = s.now.ip;
  s.now.set(rbx, 0xaaa0);
  s.now.set(r12, 0xbbb0);
  s.now.set(rsp, sp - 8);
  s.now.ip = 0x123;
  const WalkedStack found = s.walk();
  EXPECT_EQ(found.why_not, "");
  expect_frames(found, s);
  ASSERT_EQ(found.frames.size(), 1u);
  EXPECT_TRUE(found.frames[0].references[0].certain);
  EXPECT_EQ(found.frames[0].references[0].value, 0xaaa0u);
  const Held all = held(found.frames[0]);
  EXPECT_NE(std::find(all.begin(), all.end(), Held::value_type{0, 0xbbb0}), all.end());
}

// The runtime replaced the return address to stop the thread, and keeps the right one in front of its place or behind.
TEST(StackWalk, AReturnAddressThatWasReplaced) {
  for (const bool is_in_front : {true, false}) {
    Scene s;
    Method &outer = s.add(32, {}), &inner = s.add(48, {});
    s.call(outer);
    const Address place = s.now.value[rsp] - 8, back = s.now.ip;
    s.call(inner);
    ASSERT_EQ(s.stack[place], back);
    s.stack[place] = 0x77;
    s.thread[thread_at + 80] = is_in_front ? back : place;
    s.thread[thread_at + 88] = is_in_front ? place : back;
    const WalkedStack found = s.walk();
    EXPECT_EQ(found.why_not, "");
    expect_frames(found, s);
    EXPECT_EQ(found.frames.size(), 2u);
  }
}

// Helpers that are over soon leave no Frame: their module says how they are left.
TEST(StackWalk, AHelperWithoutAFrame) {
  constexpr Address module_base = 0x40000000;
  EhFrameWriter writer;
  writer.functions = {{EhFrameWriter::code_at, 0x100, {0x41, 0x0e, 16}}}; // one word beside the return address
  enum Way { at_safe_point, between, without_module, not_known_how, waits };
  for (Way way : {at_safe_point, between, without_module, not_known_how, waits}) {
    SCOPED_TRACE(static_cast<int>(way));
    Scene s;
    s.descriptor.set_field("Thread", "PreemptiveGCDisabled", 24, Origin::published);
    s.thread[thread_at + 24] = way != waits;
    Method &outer = s.add(64, {at(GcSlot::Base::sp, 16)}), &caller = s.add(32, {in_register(rbx)});
    s.call(outer);
    s.stack[s.now.value[rsp] + 16] = 0xccc0;
    s.call(caller);
    if (way == between)
      s.now.ip += 3;
    s.expected.back().first = s.now.ip;
    const Address sp = s.now.value[rsp];
    s.now.set(rbx, 0xaaa0);
    s.stack[sp - 8] = s.now.ip;
    s.stack[sp - 16] = 0xbbb0;
    s.now.set(rsp, sp - 16);
    s.now.ip = module_base + EhFrameWriter::code_at + 0x10;
    Module module;
    module.path = "/app/libcoreclr.so";
    module.base = module_base;
    const std::vector<std::byte> library = writer.image();
    module.extents = {{module_base, module_base + library.size(), 0}};
    if (way != without_module)
      s.target.modules = {module};
    if (way != without_module && way != not_known_how)
      s.pieces.emplace_back(module_base, library);
    const WalkedStack found = s.walk();
    if (way == waits) { // then a Frame would say so
      EXPECT_EQ(found.why_not, "");
      EXPECT_TRUE(found.frames.empty());
      continue;
    }
    if (way == without_module || way == not_known_how) {
      EXPECT_FALSE(found.is_complete());
      EXPECT_NE(found.why_not.find("it stands in a helper of the runtime"), std::string::npos) << found.why_not;
      continue;
    }
    EXPECT_EQ(found.why_not, "");
    expect_frames(found, s);
    ASSERT_EQ(found.frames.size(), 2u);
    EXPECT_FALSE(found.frames[0].is_active);
    const Held all = held(found.frames[0]);
    EXPECT_NE(std::find(all.begin(), all.end(), Held::value_type{0, 0xaaa0}), all.end());
    EXPECT_NE(std::find(all.begin(), all.end(), Held::value_type{sp - 16, 0xbbb0}), all.end()); // what was passed
    EXPECT_EQ(found.frames[0].references[0].certain, way == at_safe_point);
    EXPECT_EQ(held(found.frames[1]).size(), 1u);
  }
}

// They are listed in front of the method that called them, and change nothing of it.
TEST(StackWalk, NativeFramesAreListed) {
  constexpr Address module_base = 0x40000000;
  EhFrameWriter writer;
  writer.functions = {{EhFrameWriter::code_at, 0x100, {0x41, 0x0e, 16}}}; // one word beside the return address
  for (bool waits : {false, true}) {
    SCOPED_TRACE(waits);
    Scene s;
    s.lists_native = true;
    s.descriptor.set_field("Thread", "PreemptiveGCDisabled", 24, Origin::published);
    s.thread[thread_at + 24] = !waits;
    s.call(s.add(32, {in_register(rbx)}));
    const Address sp = s.now.value[rsp], method_ip = s.now.ip;
    s.stack[sp - 8] = method_ip;
    s.stack[sp - 24] = module_base + EhFrameWriter::code_at + 0x20; // a native function called another one
    s.now.set(rsp, sp - 32);
    s.now.ip = module_base + EhFrameWriter::code_at + 0x10;
    Module module;
    module.path = "/app/libcoreclr.so";
    module.base = module_base;
    const std::vector<std::byte> library = writer.image();
    module.extents = {{module_base, module_base + library.size(), 0}};
    s.target.modules = {module};
    s.pieces.emplace_back(module_base, library);
    WalkedStack found = s.walk();
    ASSERT_EQ(found.frames.size(), waits ? 2u : 4u)
        << "a thread that waits would have a Frame that leads to its method";
    EXPECT_EQ(found.frames[0].kind, StackFrame::Kind::native);
    EXPECT_TRUE(found.frames[0].is_active);
    EXPECT_EQ(found.frames[1].kind, StackFrame::Kind::native);
    EXPECT_EQ(found.frames[1].ip, module_base + EhFrameWriter::code_at + 0x20);
    EXPECT_EQ(found.frames[1].sp, sp - 16);
    if (!waits) {
      EXPECT_EQ(found.frames[2].kind, StackFrame::Kind::method);
      EXPECT_EQ(found.frames[2].ip, method_ip);
      EXPECT_EQ(found.frames[3].kind, StackFrame::Kind::native) << "began the thread";
      EXPECT_EQ(found.why_no_native, "no module: code that is in no module");
    }
    found = s.walk(module_base); // how its functions are left is not in the dump
    EXPECT_EQ(found.frames[0].kind, StackFrame::Kind::native);
    EXPECT_NE(found.why_no_native.find("libcoreclr.so"), std::string::npos) << found.why_no_native;
    s.lists_native = false;
    EXPECT_EQ(s.walk().frames.size(), waits ? 0u : 1u);
  }
}

// Nobody called it, and it need not lead up the stack.
TEST(StackWalk, TheFirstFunctionOfAThread) {
  constexpr Address module_base = 0x40000000;
  EhFrameWriter writer;
  writer.functions = {{EhFrameWriter::code_at, 0x100, {0x0e, 0, 0x07, 16}}}; // the frame is empty; rip is undefined
  Scene s;
  s.lists_native = true;
  s.now.set(rsp, stack_base - 64);
  s.now.ip = module_base + EhFrameWriter::code_at + 0x10;
  Module module;
  module.path = "/lib/libc.so.6";
  module.base = module_base;
  const std::vector<std::byte> library = writer.image();
  module.extents = {{module_base, module_base + library.size(), 0}};
  s.target.modules = {module};
  s.pieces.emplace_back(module_base, library);
  const WalkedStack found = s.walk();
  ASSERT_EQ(found.frames.size(), 1u);
  EXPECT_EQ(found.frames[0].kind, StackFrame::Kind::native);
  EXPECT_EQ(found.why_no_native, "");
}

// What a method passes on the stack belongs to whoever it calls.
TEST(StackWalk, TheScratchAreaIsTheCallees) {
  Scene s;
  Method &method =
      s.add(64, {at(GcSlot::Base::sp, 8), at(GcSlot::Base::sp, 16), at(GcSlot::Base::sp, 8, false)}, false, 16);
  s.call(method);
  const Address sp = s.now.value[rsp];
  s.stack[sp + 8] = 0xaaa0;
  s.stack[sp + 16] = 0xbbb0;
  Method &inner = s.add(96, {});
  s.call(inner);
  s.call_native();
  const WalkedStack found = s.walk();
  ASSERT_EQ(found.frames.size(), 3u) << found.why_not;
  EXPECT_EQ(held(found.frames[2]), (Held{{sp + 16, 0xbbb0}, {sp + 8, 0xaaa0}}));
}

class Handlers : public testing::Test {
protected:
  // A method, frames that dispatch its exception, and its handler.
  void run(bool is_filter) {
    Method &outer = s.add(64, {at(GcSlot::Base::sp, 8)}),
           &method = s.add(64, {at(GcSlot::Base::frame_register, -16)}, true),
           &dispatch = s.add(48, {at(GcSlot::Base::sp, 16)}), &last = s.add(96, {});
    method.is_filter = is_filter;
    s.call(outer);
    s.stack[s.now.value[rsp] + 8] = 0xaaa0;
    s.call(method);
    frame_pointer = s.now.value[rbp];
    s.stack[frame_pointer - 16] = 0xbbb0;
    s.call(dispatch);
    s.stack[s.now.value[rsp] + 16] = 0xccc0;
    s.call(dispatch);
    s.stack[s.now.value[rsp] + 16] = 0xddd0;
    s.call_funclet(method, frame_pointer);
    s.call(last);
    s.call_native();
    found = s.walk();
    EXPECT_EQ(found.why_not, "");
    expect_frames(found, s);
  }
  Scene s;
  u64 frame_pointer = 0;
  WalkedStack found;
};

TEST_F(Handlers, TellWhatTheirMethodHoldsAndLeaveTheRest) {
  run(false);
  ASSERT_EQ(found.frames.size(), 7u);
  EXPECT_TRUE(found.frames[2].is_funclet);
  EXPECT_EQ(held(found.frames[2]), (Held{{frame_pointer - 16, 0xbbb0}}));
  for (u64 left : {3, 4, 5}) {
    EXPECT_TRUE(found.frames[left].is_unwound) << left;
    EXPECT_TRUE(found.frames[left].references.empty()) << left;
  }
  EXPECT_FALSE(found.frames[6].is_unwound);
  EXPECT_EQ(held(found.frames[6]).size(), 1u);
}

TEST_F(Handlers, FiltersLeaveNothing) {
  run(true);
  ASSERT_EQ(found.frames.size(), 7u);
  u64 references = 0;
  for (const StackFrame &frame : found.frames) {
    EXPECT_FALSE(frame.is_unwound);
    references += frame.references.size();
  }
  EXPECT_EQ(references, 5u);
}

// A call that a stub resolves: the arguments are where it put them.
TEST(StackWalk, ArgumentsOfACallThatHasJustBegun) {
  for (u64 scratch_area : {u64{0}, u64{16}}) {
    SCOPED_TRACE(scratch_area);
    Scene s;
    Method &caller = s.add(64, {at(GcSlot::Base::sp, 24)}, false, scratch_area);
    s.call(caller);
    const Address sp = s.now.value[rsp];
    s.stack[sp] = 0xaaa0;
    s.stack[sp + 8] = 0xbbb0;
    s.stack[sp + 16] = 0x111;
    s.stack[sp + 24] = 0xccc0;
    const Address block = sp - 104, frame = block - 64;
    const u64 words[13] = {0xd0, 0xd1, 0xd2, 0, 0, 0, 12, 13, 14, 15, s.now.value[rbx], s.now.value[rbp], s.now.ip};
    for (u64 i = 0; i < 13; ++i)
      s.stack[block + 8 * i] = words[i];
    s.push_frame(frame, "PrestubMethodFrame");
    s.stack[frame + 16] = block;
    s.stack[frame + 24] = 0x9990;
    s.now.set(rsp, frame);
    s.leave();
    const WalkedStack found = s.walk();
    EXPECT_EQ(found.why_not, "");
    expect_frames(found, s);
    ASSERT_EQ(found.frames.size(), 2u);
    EXPECT_EQ(found.frames[0].method_desc, 0x9990u);
    Held expected{{block, 0xd0}, {block + 8, 0xd1}, {block + 16, 0xd2}, {sp, 0xaaa0}, {sp + 8, 0xbbb0}};
    if (!scratch_area)
      expected.emplace_back(sp + 16, 0x111); // up to the first slot
    EXPECT_EQ(held(found.frames[0]), expected);
    for (const StackReference &reference : found.frames[0].references)
      EXPECT_FALSE(reference.certain);
    EXPECT_EQ(held(found.frames[1]), (Held{{sp + 24, 0xccc0}}));
  }
}

// .NET 8 and 9: a runtime function that saved registers, and has not been left yet.
TEST(StackWalk, HelperMethodFrames) {
  // `went_over`: the function that was called has gone over to another one, whose prologue nobody knows.
  for (auto [has_code, went_over] : {std::pair(true, false), std::pair(false, false), std::pair(true, true)}) {
    SCOPED_TRACE(std::to_string(has_code) + std::to_string(went_over));
    Scene s;
    Method &caller = s.add(64, {in_register(rbx)});
    s.call(caller);
    s.now.set(rbx, 0xaaa0);
    s.now.set(r12, 0xbbb0);
    const Address sp = s.now.value[rsp], native = sp - 16;
    s.stack[sp - 8] = s.now.ip;
    s.stack[native] = s.now.value[rbp];
    s.stack[native - 8] = s.now.value[r12]; // push r12; push rbx
    s.stack[native - 16] = s.now.value[rbx];
    const Address frame = native - 0x180;
    s.push_frame(frame, "HelperMethodFrame_1OBJ");
    s.stack[frame + 40] = 0x6f00000;
    if (has_code)
      s.pieces.emplace_back(0x6f00000,
                            std::vector<std::byte>{std::byte{0x55}, std::byte{0x48}, std::byte{0x89}, std::byte{0xe5},
                                                   std::byte{0x41}, std::byte{0x54}, std::byte{0x53}, std::byte{0x90}});
    s.stack[frame + 48 + 16 + 40] = native; // captured rbp
    s.stack[frame + 216] = went_over ? 0x7f00007 : 0x6f00007;
    s.stack[frame + 48 + 0xb0] = frame - 16;
    s.stack[frame + 232] = (native - 32) | 1; // protects this
    s.stack[native - 32] = 0xeee0;
    s.now.set(rsp, frame);
    s.leave();
    const WalkedStack found = s.walk();
    EXPECT_EQ(found.why_not, "");
    expect_frames(found, s);
    ASSERT_EQ(found.frames.size(), 2u);
    ASSERT_FALSE(found.frames[0].references.empty());
    EXPECT_EQ(found.frames[0].references[0].value, 0xeee0u);
    EXPECT_TRUE(found.frames[0].references[0].interior);
    if (has_code && !went_over) {
      EXPECT_EQ(held(found.frames[1]), (Held{{native - 16, 0xaaa0}}));
    } else { // then every word of that function's frame is a candidate
      bool is_candidate = false;
      for (const StackReference &reference : found.frames[0].references)
        is_candidate |= reference.slot == native - 16 && !reference.certain;
      EXPECT_TRUE(is_candidate);
    }
  }
}

TEST(StackWalk, WhatTheRuntimeProtects) {
  Scene s;
  const Address first = stack_base - 0x200, second = stack_base - 0x100, places = stack_base - 0x300;
  s.thread[thread_at + 16] = first;
  s.stack[first] = second;
  s.stack[second] = ~u64{0};
  for (Address frame : {first, second}) {
    s.stack[frame + 8] = thread_at;
    s.stack[frame + 16] = places;
    s.stack[frame + 24] = frame == first ? 2 : 1 | u64{1} << 32;
  }
  s.stack[places] = 0xaaa0;
  s.stack[places + 8] = 0xbbb0;
  const WalkedStack found = s.walk();
  EXPECT_EQ(found.why_not, "");
  ASSERT_EQ(found.of_runtime.size(), 3u);
  EXPECT_EQ(found.of_runtime[1].value, 0xbbb0u);
  EXPECT_TRUE(found.of_runtime[2].interior);
}

// A thread that was to stop called the runtime instead of returning, which saved what was returned (as many words as
// the version has for that), and the registers.
TEST(StackWalk, HijackFrames) {
  for (OperatingSystem os : {OperatingSystem::linux_os, OperatingSystem::windows})
    for (u64 values : {1u, 2u, 3u}) {
      SCOPED_TRACE(std::to_string(values) + " " + name_of(os));
      const bool is_windows = os == OperatingSystem::windows;
      constexpr unsigned rax = 0;
      Scene s;
      s.target.os = os;
      Method &method = s.add(64, {in_register(rax), in_register(rbx)});
      s.call(method);
      s.now.set(rbx, 0xaaa0);
      const Address sp = s.now.value[rsp], args = sp - (is_windows ? 0x200 : 8 * values + 56);
      const u64 saved = 8 * values, behind = saved + (is_windows ? 64 : 48), of_rbx = is_windows ? 16 : 32;
      s.stack[args] = 0xbbb0;
      s.stack[args + saved + of_rbx] = 0xaaa0;
      if (is_windows)
        s.stack[args + behind] = sp;
      s.stack[args + behind + (is_windows ? 8 : 0)] = s.now.ip;
      const Address frame = args - 0x40;
      s.push_frame(frame, "HijackFrame");
      s.stack[frame + 16] = s.now.ip;
      s.stack[frame + 32] = args;
      s.now.set(rsp, frame);
      s.leave();
      const WalkedStack found = s.walk();
      EXPECT_EQ(found.why_not, "");
      expect_frames(found, s);
      ASSERT_EQ(found.frames.size(), 2u);
      EXPECT_EQ(held(found.frames[1]), (Held{{args, 0xbbb0}, {args + saved + of_rbx, 0xaaa0}}));
      s.stack[frame + 16] = 0x4711;
      EXPECT_FALSE(s.walk().is_complete());
    }
}

// What a runtime function of Windows captured, deep in native code: its image says how its functions are left.
class WindowsHelper {
public:
  WindowsHelper() : caller(s.add(64, {in_register(rbx), at(GcSlot::Base::frame_register, 16)}, true)) {
    s.target.os = OperatingSystem::windows;
    s.call(caller);
    s.now.set(rbx, 0xaaa0);
    sp = s.now.value[rsp];
    s.stack[s.now.value[rbp] + 16] = 0xbbb0;
    // Two functions that push rbx, and keep 32 bytes.
    s.stack[sp - 8] = s.now.ip;
    s.stack[sp - 16] = 0xaaa0;
    s.stack[sp - 56] = dll + PeWriter::code + 0x110;
    s.stack[sp - 64] = 0x1234;
    const Address captured_sp = sp - 96 - 8;
    s.now.set(rsp, captured_sp);
    frame = captured_sp - 0x180;
    s.push_frame(frame, "HelperMethodFrame");
    s.stack[frame + 48 + 16 + 24] = s.now.value[rbp];
    s.stack[frame + 48 + 0x98] = dll + PeWriter::code + 0x10;
    s.stack[frame + 48 + 0xa0] = captured_sp;
    s.now.set(rsp, frame);
    s.leave();
  }
  WalkedStack walk() {
    WalkedStack out = s.walk();
    EXPECT_EQ(out.thread, thread_at);
    return out;
  }
  void map_image() {
    const std::vector<std::byte> file = PeWriter{}.write();
    for (const Range &range : PeWriter::mapped(file, dll))
      s.pieces.emplace_back(range.address, std::vector(range.bytes.begin(), range.bytes.end()));
    s.target.modules.push_back({"C:\\coreclr.dll", dll, {{dll, dll + PeWriter::image_size}}});
  }

  static constexpr Address dll = 0x2000000;
  Scene s;
  Method &caller;
  Address sp = 0, frame = 0;
};

TEST(StackWalk, HelperMethodFramesOfWindowsByTheRuntimesImage) {
  WindowsHelper w;
  w.map_image();
  const WalkedStack found = w.walk();
  EXPECT_EQ(found.why_not, "");
  expect_frames(found, w.s);
  ASSERT_EQ(found.frames.size(), 2u);
  EXPECT_EQ(held(found.frames[1]), (Held{{w.sp - 16, 0xaaa0}, {w.sp + 64 + 16, 0xbbb0}}));
}

// Without it: the first address that a call can return to, unless there may be another one.
TEST(StackWalk, HelperMethodFramesOfWindowsWithoutTheImage) {
  WindowsHelper w;
  const WalkedStack one = w.walk(); // the caller has a frame pointer, of which nobody knows
  EXPECT_NE(one.why_not.find("which method called"), std::string::npos) << one.why_not;
  EXPECT_EQ(one.frames.size(), 0u);

  Scene s;
  s.target.os = OperatingSystem::windows;
  Method &caller = s.add(64, {in_register(rbx)}), &stale = s.add(64, {});
  s.call(caller);
  const Address sp = s.now.value[rsp], frame = sp - 0x200;
  s.stack[sp - 8] = s.now.ip;
  s.push_frame(frame, "HelperMethodFrame");
  s.stack[frame + 48 + 0xa0] = frame - 16;
  s.now.set(rsp, frame);
  s.leave();
  const WalkedStack found = s.walk();
  expect_frames(found, s);
  EXPECT_EQ(found.frames.size(), 2u);
  s.stack[sp - 24] = stale.start + 50; // an earlier call, whose frame would reach further
  const WalkedStack ambiguous = s.walk();
  EXPECT_NE(ambiguous.why_not.find("several methods"), std::string::npos) << ambiguous.why_not;
  EXPECT_EQ(ambiguous.frames.size(), 0u);
}

// The frames up to there count, and it says from where on nothing is known: what the method that cannot be left, or
// does not say what it holds, keeps in registers, was saved further down.
TEST(StackWalk, WhatIsMissingIsSaid) {
  Scene s;
  Method &outer = s.add(64, {at(GcSlot::Base::sp, 16)}), &inner = s.add(96, {});
  s.call(outer);
  const Address outer_sp = s.now.value[rsp];
  s.call(inner);
  s.call_native();
  for (Address missing : {outer.gc_info, outer.unwind_info}) {
    const WalkedStack found = s.walk(missing);
    EXPECT_FALSE(found.is_complete());
    EXPECT_NE(found.why_not.find("not in this dump"), std::string::npos) << found.why_not;
    EXPECT_EQ(found.unknown_from, outer_sp - 24);
    EXPECT_EQ(found.frames.size(), missing == outer.gc_info ? 3u : 2u);
  }
  EXPECT_TRUE(s.walk().is_complete());
}

// A process of .NET 8 whose only busy thread has called no native code shows no Frame from which the kinds are known.
TEST(StackWalk, MethodsAreListedUpToAFrameOfUnknownKind) {
  auto forget = [](Scene &s) {
    for (const FrameKind &kind : frame_kinds())
      s.descriptor.globals.erase(kind.identifier());
  };
  Scene alone;
  alone.call(alone.add(64, {}));
  alone.call(alone.add(32, {}));
  forget(alone);
  const WalkedStack all = alone.walk();
  EXPECT_EQ(all.why_not, "");
  EXPECT_EQ(all.frames.size(), 2u);
  Scene behind; // the outer method called native code, which called the inner one
  behind.call(behind.add(64, {}));
  behind.call_native();
  behind.call(behind.add(32, {}));
  forget(behind);
  const WalkedStack part = behind.walk();
  EXPECT_NE(part.why_not.find("the identifiers of the kinds of Frames are unknown"), std::string::npos) << part.why_not;
  ASSERT_EQ(part.frames.size(), 1u);
  EXPECT_EQ(part.frames[0].method_desc, behind.methods.back().method_desc());
}

TEST(StackWalk, ListsOfFramesThatLeadBackEnd) {
  Scene s;
  Method &method = s.add(96, {});
  s.call(method);
  const Address frame = s.call_native();
  s.stack[frame + 8] = frame - 0x100;
  s.stack[frame - 0x100] = s.stack[frame];
  s.stack[frame - 0x100 + 8] = frame;
  EXPECT_FALSE(s.walk().is_complete());
  s.stack[frame] = 0x4711;
  EXPECT_NE(s.walk().why_not.find("not a Frame"), std::string::npos);
}

// The signal is handled on another stack, which may lie behind this one; and the stack pointer is beyond the limit.
TEST(StackWalk, AStackThatIsFull) {
  for (Address handler : {stack_base + 0x100000, stack_limit - 0x100000}) {
    Scene s;
    s.push_frame(stack_base - 48, "DebuggerU2MCatchHandlerFrame");
    Method &method = s.add(96, {at(GcSlot::Base::sp, 8)});
    while (s.now.value[rsp] >= stack_limit)
      s.call(method);
    ASSERT_GT(s.expected.size(), 500u);
    std::vector<u64> words(0x600 / 8);
    words[0] = *s.descriptor.try_number("FaultingExceptionFrameIdentifier");
    words[1] = s.thread[thread_at + 8];
    s.thread[thread_at + 8] = handler + 0x100;
    const u64 context = 32;
    words[(context + 0x90) / 8] = s.now.value[rbx];
    words[(context + 0x98) / 8] = s.now.value[rsp];
    words[(context + 0xa0) / 8] = s.now.value[rbp];
    words[(context + 0xf8) / 8] = s.now.ip;
    const auto bytes = std::as_bytes(std::span(words));
    s.pieces.emplace_back(handler + 0x100, std::vector(bytes.begin(), bytes.end()));
    s.leave();
    s.now.set(rsp, handler);
    const WalkedStack found = s.walk();
    expect_frames(found, s);
    EXPECT_EQ(found.frames.back().frame_name, std::string("DebuggerU2MCatchHandlerFrame"));
    EXPECT_TRUE(found.is_complete()) << found.why_not;
    // Further beyond than any frame reaches.
    words[(context + 0x98) / 8] = stack_limit - (1 << 20);
    s.pieces.back().second.assign(bytes.begin(), bytes.end());
    EXPECT_NE(s.walk().why_not.find("out of the stack"), std::string::npos);
  }
}

// Whatever lies on the stack: words that lead into code, to Frames and to other places of the stack.
TEST(StackWalk, EveryWalkEnds) {
  std::mt19937_64 random(1);
  Scene s;
  for (bool frame_pointer : {false, true})
    s.add(64, {in_register(rbx), at(GcSlot::Base::sp, 16)}, frame_pointer);
  for (int round = 0; round < 300; ++round) {
    for (u64 &word : s.stack.all()) {
      const u64 place = stack_limit + 8 * (random() % ((stack_base - stack_limit) / 8));
      const u64 words[] = {0, random() % 20, 100 + random() % 8, place,
                           s.methods[random() % 2].start + random() % 0x200};
      word = words[random() % 5];
    }
    s.now.ip = random() & 1 ? s.methods[random() % 2].start + random() % 0x200 : native_ip;
    s.now.set(rsp, stack_limit + 8 * (random() % 0x2000));
    s.now.set(rbp, stack_limit + 8 * (random() % 0x2000));
    s.thread[thread_at + 8] = stack_limit + 8 * (random() % 0x2000);
    const WalkedStack found = s.walk();
    EXPECT_LT(found.frames.size(), 0x4000u);
  }
}

} // namespace
} // namespace dnheap::test
