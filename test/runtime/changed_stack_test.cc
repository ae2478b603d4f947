// Threads that were stopped where a walk has little to go by: in stubs, with a return address that the runtime has
// replaced, in functions that throw.
#include "support/stack_scene.h"

namespace dnheap::test {
namespace {

TEST(ChangedStack, ReplacedReturnAddresses) {
  Scene s;
  Method &outer = s.add(64, {at(GcSlot::Base::sp, 16)}), &inner = s.add(96, {});
  s.call(outer);
  const Address outer_sp = s.now.value[rsp];
  s.stack[outer_sp + 16] = 0xaaa0;
  const Address place = outer_sp - 8, original = s.now.ip;
  s.call(inner);
  s.call_native();
  ASSERT_EQ(s.stack[place], original);
  s.stack[place] = native_ip;
  s.expected.erase(s.expected.begin());
  expect_frames(s.walk(), s); // it does not say what it was
  s.thread[thread_at + 0x40] = place;
  s.thread[thread_at + 0x48] = native_ip; // not that one
  s.thread[thread_at + 0x80] = place;
  s.thread[thread_at + 0x88] = original;
  s.expected.insert(s.expected.begin(), {original, outer_sp});
  const WalkedStack found = s.walk();
  EXPECT_EQ(found.why_not, "");
  expect_frames(found, s);
  EXPECT_EQ(held(found.frames.back()), (Held{{outer_sp + 16, 0xaaa0}}));
}

// Of .NET 8 and 9: what a method has thrown does not come back, so what it held is dead; which function of the runtime
// it called is known only when that was looked up.
TEST(ChangedStack, MethodsThatThrew) {
  for (bool throws : {false, true}) {
    SCOPED_TRACE(throws);
    Scene s;
    Method &caller = s.add(64, {at(GcSlot::Base::sp, 16)});
    s.call(caller);
    const Address sp = s.now.value[rsp], native = sp - 16;
    s.stack[sp + 16] = 0xaaa0;
    s.stack[sp - 8] = s.now.ip;
    s.stack[native] = s.now.value[rbp];
    const Address frame = native - 0x180;
    s.push_frame(frame, "HelperMethodFrame");
    s.stack[frame + 16] = throws;
    s.stack[frame + 24] = 0x7f3100000000; // what lay there
    s.stack[frame + 48 + 16 + 40] = native;
    s.stack[frame + 48 + 0xb0] = frame - 16;
    s.now.set(rsp, frame);
    s.leave();
    const WalkedStack found = s.walk();
    EXPECT_EQ(found.why_not, "");
    expect_frames(found, s);
    ASSERT_EQ(found.frames.size(), 2u);
    EXPECT_EQ(found.frames[0].method_desc, 0u);
    EXPECT_EQ(held(found.frames[1]), throws ? Held{} : (Held{{sp + 16, 0xaaa0}}));
  }
}

// .NET 10: where a register was saved the GC writes where its object has moved to; the CONTEXT that was taken when a
// method threw keeps what was.
TEST(ChangedStack, RegistersSavedWhenAMethodThrew) {
  for (bool has_pointer : {false, true}) {
    SCOPED_TRACE(has_pointer);
    Scene s;
    Method &caller = s.add(64, {in_register(r12)}), &thrower = s.add(96, {});
    s.call(caller);
    s.call(thrower); // which does not save r12
    const Address sp = s.now.value[rsp], frame = sp - 0x800, context = frame + 288, saved = sp - 32;
    s.push_frame(frame, "SoftwareExceptionFrame");
    s.stack[context + 0x78 + 8 * r12] = 0xbbb0;
    s.stack[context + 0x78 + 8 * rsp] = sp;
    s.stack[context + 0x78 + 8 * rbp] = s.now.value[rbp];
    s.stack[context + 0xf8] = s.now.ip;
    s.stack[saved] = 0xaaa0;
    if (has_pointer)
      s.stack[frame + 152 + 8 * r12] = saved;
    s.now.set(rsp, frame);
    s.leave();
    const WalkedStack found = s.walk();
    EXPECT_EQ(found.why_not, "");
    expect_frames(found, s);
    ASSERT_EQ(found.frames.size(), 3u);
    EXPECT_EQ(held(found.frames[2]),
              has_pointer ? (Held{{saved, 0xaaa0}}) : (Held{{context + 0x78 + 8 * r12, 0xbbb0}}));
  }
}

} // namespace
} // namespace dnheap::test
