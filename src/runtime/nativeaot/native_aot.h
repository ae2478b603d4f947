// NativeAot: the runtime that is compiled into a program or library. See runtime.h; made by
// describe/open_native_aot.h.
#pragma once
#include "base/notes.h"
#include "runtime/nativeaot/crash_info.h"
#include "runtime/nativeaot/managed_threads.h"
#include "runtime/nativeaot/native_aot_fields.h"
#include "runtime/nativeaot/native_aot_stacks.h"
#include "runtime/nativeaot/native_delegates.h"
#include "runtime/nativeaot/thread_n1.h"
#include "runtime/runtime.h"

#include <map>
#include <memory>

namespace dnheap {

class NativeAot : public Runtime {
public:
  // `described`: a complete descriptor. Throws Error if a value that the heap walk needs is missing.
  NativeAot(const Target &target, const Module &module, std::string version, ContractDescriptor described,
            const RuntimeHints &hints);

  const char *kind() const override { return "nativeaot"; }
  RuntimeTypeSystemN1 &types() const override { return *types_; }
  Fields &fields() const override { return *fields_; }
  // Includes the number of each of the program's Threads, if known.
  std::vector<ThreadData> threads(Notes &notes) const override;
  // Only the details whose fields the debug file names.
  ThreadDetails thread_details(const ThreadData &thread) const override;
  // Lists native frames in any case, since it cannot pass them otherwise.
  WalkedStack follow_stack(const ThreadData &thread, ListedFrames) const override { return stacks_.walk(thread); }
  MethodText method_text(Address code) const override;
  std::optional<ContinuationLayout> continuation_layout() const override;
  bool is_continuation(Address method_table) const override { return types_->is_continuation(method_table); }
  ResumePoint resume_point(Address resume_info) const override;
  // Returns one root per type, and per thread, that has any: not the fields, but the object that the compiler generated
  // to hold them.
  std::vector<StaticRoot> static_roots(Notes &notes) const override;

  std::optional<CrashInfo> crash_info() const override { return find_crash_info(target(), module()); }
  // Returns the start of the method's code, by symbols or by unwind data.
  Address method_at(Address code) const override;
  bool takes_debug_file() const override { return true; }
  void use_debug_file(const DebugFile &file) override;

  const ThreadN1 &thread() const { return thread_; }

private:
  std::string method_name(Address code) const;
  std::optional<u32> thread_state(Address object) const;

  ThreadN1 thread_;
  NativeAotStacks stacks_;
  std::unique_ptr<RuntimeTypeSystemN1> types_;
  std::unique_ptr<NativeDelegates> delegates_;
  std::unique_ptr<Fields> fields_;
  NativeAotFields *named_fields_ = nullptr; // same object as fields_; null: there is no debug file
  std::unique_ptr<ManagedThreads> managed_threads_;
  mutable std::map<Address, MethodText> method_texts_;
};

} // namespace dnheap
