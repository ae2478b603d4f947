// CoreClr: the runtime that compiles at run time: libcoreclr.so, coreclr.dll. See runtime.h; made by
// describe/open_core_clr.h.
#pragma once
#include "base/notes.h"
#include "runtime/compiled/native_frames.h"
#include "runtime/coreclr/code/code_lookup.h"
#include "runtime/coreclr/core_clr_fields.h"
#include "runtime/coreclr/threads/stack_walk.h"
#include "runtime/coreclr/threads/thread_1.h"
#include "runtime/coreclr/types/loader_1.h"
#include "runtime/coreclr/types/method_names.h"
#include "runtime/coreclr/types/runtime_type_system_1.h"
#include "runtime/runtime.h"

#include <memory>
#include <unordered_map>

namespace dnheap {

// True if the program contains the runtime (PublishSingleFile, self-contained): it exports DotNetRuntimeInfo.
// dotnet/runtime src/coreclr/debug/runtimeinfo/runtimeinfo.cpp.
bool is_single_file_program(const Memory &memory, const Module &module);

// Returns the modules that contain a CoreCLR: its library (library_names.h), and single-file programs.
std::vector<const Module *> find_core_clr_modules(const Target &target);

class CoreClr : public Runtime {
public:
  // `described`: a complete descriptor. Throws Error if a value that the heap walk needs is missing.
  CoreClr(const Target &target, const Module &module, ContractDescriptor described, const RuntimeHints &hints);

  const char *kind() const override { return "coreclr"; }
  RuntimeTypeSystem1 &types() const override { return *types_; }
  CoreClrFields &fields() const override { return *fields_; }

  std::vector<ThreadData> threads(Notes &notes) const override;
  ThreadDetails thread_details(const ThreadData &thread) const override;
  WalkedStack follow_stack(const ThreadData &thread, ListedFrames frames) const override;
  MethodText method_text(Address method_desc) const override;
  std::optional<ContinuationLayout> continuation_layout() const override;
  bool is_continuation(Address method_table) const override { return types_->continuations().contains(method_table); }
  ResumePoint resume_point(Address resume_info) const override;
  std::vector<SavedVariable> saved_variables(const ResumePoint &point) const override;
  std::vector<LoadedAssembly> assemblies(Notes &notes) const override;
  std::vector<StaticRoot> static_roots(Notes &notes) const override;
  Address method_at(Address code) const override;
  std::unique_ptr<IlCode> il_code() const override;
  std::unique_ptr<ExceptionRecords> exceptions() const override;
  std::vector<RuntimeBlock> own_blocks(std::span<const Address> method_tables) const override;
  std::unordered_map<Address, Address> loader_allocators(std::span<const Address> modules) const override;
  std::optional<StressLog> stress_log() const override;
  const CodeLookup &code() const { return code_; }
  const Thread1 &thread() const { return thread_; }
  Loader1 &loader() const { return loader_; }
  const FieldDescs &field_descs() const { return *field_descs_; }

private:
  CoreClr(const Target &target, const Module &module, std::string version, ContractDescriptor &&described,
          const RuntimeHints &hints);
  void look_for_types();
  void add_loader_allocator(StackFrame &frame) const;
  void add_loaded_modules(std::set<Address> &to) const;
  void require_started(const Error &error) const;

  Thread1 thread_;
  mutable Loader1 loader_;                    // caches
  std::unique_ptr<RuntimeTypeSystem1> types_; // built last: it needs values of the heap
  std::unique_ptr<FieldDescs> field_descs_;
  std::unique_ptr<CoreClrFields> fields_;
  CodeLookup code_;
  StackWalk stack_walk_;
  mutable std::unique_ptr<NativeFrames> native_frames_; // made when somebody asks for them
  std::unique_ptr<MethodNames> method_names_;
  mutable std::unordered_map<Address, MethodText> method_texts_;
};

} // namespace dnheap
