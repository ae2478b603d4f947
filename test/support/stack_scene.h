// A stack laid out call by call, with methods that have GC info and unwind data, for tests of StackWalk.
#pragma once
#include "runtime/compiled/native_frames.h"
#include "runtime/coreclr/threads/stack_walk.h"
#include "support/gc_info_writer.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>

namespace dnheap::test {

inline constexpr unsigned rbx = 3, rsp = 4, rbp = 5, r12 = 12;
inline constexpr Address stack_limit = 0x7000000, stack_base = 0x7010000, thread_at = 0x5000000, image = 0x400000;
inline constexpr u64 native_ip = 0x10, thread_words = 32;

struct Method {
  Address start = 0, gc_info = 0, unwind_info = 0;
  u64 main_size = 0, size = 0; // with its funclet, if it has one
  Address funclet_unwind_info = 0;
  u64 frame = 0; // bytes below the saved registers
  bool has_frame_pointer = false, is_filter = false;
  Address method_desc() const { return start * 16; }
  Address funclet() const { return start + main_size; }
};

// Words of a piece of memory.
class Words {
public:
  Words(Address at, u64 count) : at_(at), words_(count) {}
  u64 &operator[](Address address) { return words_.at((address - at_) / 8); }
  Range range() const { return {at_, std::as_bytes(std::span(words_))}; }
  std::vector<u64> &all() { return words_; }

private:
  Address at_;
  std::vector<u64> words_;
};

class Scene {
public:
  Scene() {
    target.architecture = Architecture::x64;
    target.os = OperatingSystem::linux_os;
    for (const FrameKind &kind : frame_kinds())
      descriptor.set_number(kind.identifier(), kind.number ? kind.number : 100 + extra_++, false, Origin::published);
    descriptor.set_field("Thread", "Frame", 8, Origin::published);
    descriptor.set_field("Thread", "GCFrame", 16, Origin::published);
    thread[thread_at + 8] = ~u64{0};
    thread[thread_at + 16] = ~u64{0};
    now.ip = native_ip;
    now.set(rsp, stack_base - 64);
    now.set(rbx, 1);
    now.set(rbp, stack_base - 32);
  }

  // A function that saves rbp and rbx and has a frame of so many bytes; its funclet likewise. `slots` live at offset 50
  // of either, which is where calls return to.
  Method &add(u64 frame, std::vector<GcSlot> slots, bool frame_pointer = false, u64 scratch_area = 0) {
    Method m;
    m.start = image + 0x1000 * (methods.size() + 1);
    m.main_size = 0x100;
    m.size = 0x200;
    m.frame = frame;
    m.has_frame_pointer = frame_pointer;
    GcInfoModel model;
    model.length = m.size;
    model.base = frame_pointer ? std::optional<u8>(rbp) : std::nullopt;
    model.flags = frame_pointer ? u32{GcInfo::has_stack_base_register} : 0;
    model.scratch_area = scratch_area;
    for (const GcSlot &slot : slots)
      model.tracked += slot.tracked;
    model.slots = std::move(slots);
    for (u64 at : {u64{50}, m.main_size + 50})
      model.safe_points.emplace_back(at, std::vector<bool>(model.tracked, true));
    std::mt19937_64 random(1);
    m.gc_info = place(write_gc_info(model, random));
    m.unwind_info = place(unwind_info(frame, frame_pointer));
    m.funclet_unwind_info = place(unwind_info(frame, false));
    return methods.emplace_back(m);
  }

  // The method at hand calls that one, which stands at its call site then.
  void call(Method &m) { enter(m, m.start + 50, m.has_frame_pointer); }
  // The funclet runs, on that frame of its method.
  void call_funclet(Method &m, u64 frame_pointer) {
    enter(m, m.funclet() + 50, false);
    now.set(rbp, frame_pointer);
  }
  // A native call: the thread is in native code further down.
  Address call_native() {
    const Address frame = now.value[rsp] + 8;
    push_frame(frame, "InlinedCallFrame");
    stack[frame + 24] = now.value[rsp];
    stack[frame + 32] = now.ip;
    stack[frame + 40] = now.value[rbp];
    leave();
    return frame;
  }
  void push_frame(Address frame, const char *kind) {
    stack[frame] = *descriptor.try_number(std::string(kind) + "Identifier");
    stack[frame + 8] = thread[thread_at + 8];
    thread[thread_at + 8] = frame;
  }
  void leave() { // for native code
    now.ip = native_ip;
    now.set(rsp, now.value[rsp] - 0x400);
    for (unsigned reg : {rbx, rbp, r12})
      now.set(reg, 0xdead);
  }

  bool lists_native = false;
  WalkedStack walk(std::optional<Address> missing = {}) {
    std::vector<Range> ranges{stack.range(), thread.range()};
    for (const auto &[at, bytes] : pieces)
      if (at != missing)
        ranges.push_back({at, bytes});
    target.memory = Memory(Format{}, std::move(ranges));
    Thread registers;
    registers.id = 7;
    registers.instruction_pointer = now.ip;
    registers.stack_pointer = now.value[rsp];
    registers.registers.resize(27);
    const std::map<unsigned, unsigned> places{{15, 0}, {14, 1}, {13, 2}, {12, 3}, {5, 4}, {3, 5}};
    for (auto [reg, at] : places)
      registers.registers[at] = now.value[reg];
    registers.registers[16] = now.ip;
    registers.registers[19] = now.value[rsp];
    target.threads = {registers};
    ThreadData data;
    data.address = thread_at;
    data.os_id = 7;
    data.stack_base = stack_base;
    data.stack_limit = stack_limit;
    const StackWalk walk(target, descriptor, [this](Address ip) { return find(ip); });
    NativeFrames native(target, *walk.convention());
    return walk.walk(data, lists_native ? &native : nullptr);
  }

  std::optional<CodeBlock> find(Address ip) const {
    for (const Method &m : methods) {
      if (ip < m.start || ip >= m.start + m.size)
        continue;
      CodeBlock block;
      block.method_desc = m.method_desc();
      block.start = m.start;
      block.is_funclet = ip >= m.funclet();
      block.is_filter = block.is_funclet && m.is_filter;
      block.function_start = block.is_funclet ? m.funclet() : m.start;
      block.function_end = block.function_start + m.main_size;
      block.image_base = image;
      block.unwind_info = block.is_funclet ? m.funclet_unwind_info : m.unwind_info;
      block.gc_info = m.gc_info;
      block.gc_info_version = 4;
      return block;
    }
    return std::nullopt;
  }

  Target target;
  ContractDescriptor descriptor;
  Words stack{stack_limit, (stack_base - stack_limit) / 8}, thread{thread_at, thread_words};
  std::vector<Method> methods = reserved();
  std::vector<std::pair<Address, std::vector<std::byte>>> pieces;
  Registers now;
  std::vector<std::pair<Address, Address>> expected; // ip and sp, outermost first

private:
  static std::vector<Method> reserved() {
    std::vector<Method> out;
    out.reserve(16);
    return out;
  }
  Address place(std::vector<std::byte> bytes) {
    const Address at = 0x6000000 + 0x1000 * pieces.size();
    pieces.emplace_back(at, std::move(bytes));
    return at;
  }
  // push rbp; push rbx; sub rsp, frame; [lea rbp, [rsp + frame]]
  std::vector<std::byte> unwind_info(u64 frame, bool frame_pointer) const {
    std::vector<u16> codes;
    const unsigned units = static_cast<unsigned>(frame / 16);
    if (frame_pointer)
      codes.push_back(static_cast<u16>(9 | 3 << 8));
    codes.push_back(static_cast<u16>(6 | 2 << 8 | (frame / 8 - 1) << 12));
    codes.push_back(static_cast<u16>(2 | 0 << 8 | rbx << 12));
    codes.push_back(static_cast<u16>(1 | 0 << 8 | rbp << 12));
    std::vector<std::byte> out{std::byte{1}, std::byte{9}, static_cast<std::byte>(codes.size()),
                               static_cast<std::byte>(frame_pointer ? rbp | units << 4 : 0)};
    for (u16 code : codes) {
      out.push_back(static_cast<std::byte>(code & 0xff));
      out.push_back(static_cast<std::byte>(code >> 8));
    }
    return out;
  }
  void push(u64 value) {
    now.set(rsp, now.value[rsp] - 8);
    stack[now.value[rsp]] = value;
  }
  void enter(const Method &m, Address ip, bool frame_pointer) {
    push(now.ip);
    push(now.value[rbp]);
    push(now.value[rbx]);
    now.set(rsp, now.value[rsp] - m.frame);
    if (frame_pointer)
      now.set(rbp, now.value[rsp] + m.frame / 16 * 16);
    now.ip = ip;
    expected.emplace_back(now.ip, now.value[rsp]);
  }
  u64 extra_ = 0;
};

inline GcSlot in_register(u8 reg) {
  GcSlot slot;
  slot.reg = reg;
  return slot;
}
inline GcSlot at(GcSlot::Base base, i32 offset, bool tracked = true) {
  GcSlot slot;
  slot.base = base;
  slot.offset = offset;
  slot.tracked = tracked;
  return slot;
}

inline void expect_frames(const WalkedStack &found, const Scene &scene) {
  std::vector<std::pair<Address, Address>> methods;
  for (const StackFrame &frame : found.frames)
    if (frame.kind == StackFrame::Kind::method)
      methods.insert(methods.begin(), {frame.ip, frame.sp});
  EXPECT_EQ(methods, scene.expected);
}

// Slot and value of all references of a frame.
using Held = std::vector<std::pair<Address, u64>>;
inline Held held(const StackFrame &frame) {
  Held out;
  for (const StackReference &reference : frame.references)
    out.emplace_back(reference.slot, reference.value);
  return out;
}

} // namespace dnheap::test
