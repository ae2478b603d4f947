#include "runtime/nativeaot/native_aot.h"

#include "base/text.h"
#include "image/debug_file.h"
#include "runtime/facts/thread_details.h"
#include "runtime/nativeaot/framework_fields.h"
#include "runtime/nativeaot/native_aot_statics.h"
#include "runtime/object_1.h"
#include "runtime/thread_registers.h"

namespace dnheap {

NativeAot::NativeAot(const Target &target, const Module &module, std::string version, ContractDescriptor described,
                     const RuntimeHints &hints)
    : Runtime(target, module, std::move(version), std::move(described), hints), thread_(memory(), descriptor()),
      stacks_(target, find_managed_code(target, module, this->descriptor())) {
  look_for_heap();
  types_ = std::make_unique<RuntimeTypeSystemN1>(target, module, descriptor());
  delegates_ = std::make_unique<NativeDelegates>(memory(), *types_, stacks_.managed_code(),
                                                 [this](Address code) { return method_text(code).name; });
  fields_ = std::make_unique<FrameworkFields>(memory(), this->descriptor(), *types_, *delegates_);
  managed_threads_ = std::make_unique<ManagedThreads>(memory(), descriptor(), *types_);
}

std::vector<ThreadData> NativeAot::threads(Notes &notes) const {
  std::vector<ThreadData> out = thread_.get_threads(notes);
  widen_first_stack(target(), out);
  std::map<u32, u64> first; // number → thread
  for (u64 i = 0; i < out.size(); ++i) {
    const std::optional<u32> number = managed_threads_->find(out[i]).number;
    if (!number)
      continue;
    auto [other, is_new] = first.try_emplace(*number, i);
    if (is_new)
      out[i].managed_id = *number;
    else
      out[other->second].managed_id.reset(); // two threads with one number: neither is trusted
  }
  return out;
}

ThreadDetails NativeAot::thread_details(const ThreadData &thread) const {
  ThreadDetails out;
  out.object = managed_threads_->find(thread).object;
  if (out.object)
    out.state = thread_state(out.object);
  return out;
}

// Bits of System.Threading.ThreadState, and one more: nativeaot/System.Private.CoreLib …/Thread.NativeAot.cs.
std::optional<u32> NativeAot::thread_state(Address object) const {
  struct Bit {
    u32 theirs, ours;
  };
  constexpr Bit bits[] = {{0x4, ThreadDetails::background},
                          {0x8, ThreadDetails::unstarted},
                          {0x10, ThreadDetails::dead},
                          {0x1000, ThreadDetails::pool_worker}};
  for (const InstanceField &field : fields_->instance_fields(method_table_of(memory(), object)))
    if (field.name == "_threadState" && field.size == 4u)
      if (const std::optional<u32> state = memory().try_load<u32>(object + field.offset)) {
        u32 out = 0;
        for (const Bit &bit : bits)
          out |= *state & bit.theirs ? bit.ours : 0;
        return out;
      }
  return std::nullopt;
}

// Prefers the name from the stack-trace table, else the symbol. A funclet is a part of its method's code, and has no
// symbol of its own.
std::string NativeAot::method_name(Address code) const {
  std::optional<std::string> name = types_->method_name(code);
  if (name)
    return *name;
  std::optional<NativeSymbols::Method> symbol = types_->symbols().method_at(code);
  const std::optional<CodeRange> &managed = stacks_.managed_code();
  if (symbol && managed && !managed->holds(symbol->start)) // the nearest symbol is not that of a method
    symbol.reset();
  if (symbol && symbol->start != code)
    name = types_->method_name(symbol->start);
  if (!name && symbol)
    name = types_->unmangled_method(symbol->name);
  if (name || symbol)
    return name ? *name : std::string(symbol->name);
  if (code < module().base)
    return hex(code);
  return std::string(module().file_name()) + "+" + hex(code - module().base);
}

Address NativeAot::method_at(Address code) const {
  const std::optional<CodeRange> &managed = stacks_.managed_code();
  if (!managed || !managed->holds(code))
    return 0;
  const std::optional<NativeSymbols::Method> symbol = types_->symbols().method_at(code);
  const Address start = symbol ? symbol->start : stacks_.function_at(code);
  return managed->holds(start) ? start : 0;
}

// Next, ResumeInfo, u32 Flags, u32 State, and the saved variables: no target publishes this, but the type's own size
// and references were checked against it (RuntimeTypeSystemN1).
std::optional<ContinuationLayout> NativeAot::continuation_layout() const {
  const u64 p = memory().format().pointer_size;
  if (!types_->has_continuations())
    return std::nullopt;
  return ContinuationLayout{.next = p, .resume_info = 2 * p, .state = 3 * p + 4, .flags = 3 * p, .data = 3 * p + 8};
}

// `resume_info` leads to {code that resumes the call, address in the method} in the module's writable data. Only the
// loader writes there, so the module's file has the data, too.
ResumePoint NativeAot::resume_point(Address resume_info) const {
  ResumePoint out;
  const Module *module = target().find_module(resume_info);
  out.module = module ? module->file_name() : "";
  const Address at = resume_info + memory().format().pointer_size;
  std::optional<u64> ip = memory().try_pointer(at);
  if (!ip)
    ip = target().initial.try_pointer(at);
  out.ip = ip.value_or(0);
  out.method_desc = method_at(out.ip);
  if (!ip)
    out.why_not =
        "the dump lacks the page with the address where the call continues, and its module's file was not found";
  else if (!out.method_desc)
    out.why_not = "no managed code is known to lie at the address where the call continues";
  return out;
}

// Cached, as thousands of threads wait in the same few methods.
MethodText NativeAot::method_text(Address code) const {
  constexpr u64 longest_name = 1024;
  auto [it, is_new] = method_texts_.try_emplace(code);
  MethodText &text = it->second;
  if (is_new) {
    text.module = printable(module().file_name(), longest_name);
    text.name = text.qualified = printable(method_name(code), longest_name);
  }
  return text;
}

void NativeAot::use_debug_file(const DebugFile &file) {
  types_->use_symbols(NativeSymbols(file));
  DebugFile::Content frames = file.section(".debug_frame");
  stacks_.use_debug_frame(DebugFrame(frames.bytes, file.bias(), memory().format(), std::move(frames.storage)));
  auto named = std::make_unique<NativeAotFields>(memory(), *types_, *delegates_, file);
  named_fields_ = named.get();
  fields_ = std::move(named);
}

std::vector<StaticRoot> NativeAot::static_roots(Notes &notes) const {
  return NativeAotStatics(target(), module(), descriptor(), *types_, named_fields_).static_roots(notes);
}

} // namespace dnheap
