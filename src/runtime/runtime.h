// Runtime: a .NET runtime inside a target, ready to be asked, of whatever kind: its descriptor, completed from the
// target's memory under one set of names, and the contracts bound to it. One subclass per kind: CoreClr, NativeAot,
// CoreRt. Built once per target in some 10 ms; holds references to the Target, which must outlive it.
#pragma once
#include "contract/descriptor.h"
#include "runtime/assembly.h"
#include "runtime/fields.h"
#include "runtime/gc.h"
#include "runtime/hints.h"
#include "runtime/method_text.h"
#include "runtime/stack_frame.h"
#include "runtime/static_root.h"
#include "runtime/suspended_call.h"
#include "runtime/thread_data.h"
#include "runtime/thread_details.h"
#include "runtime/type_system.h"
#include "target/target.h"

#include <map>
#include <set>
#include <utility>

namespace dnheap {

class Runtime {
public:
  virtual ~Runtime() = default;
  Runtime(const Runtime &) = delete;
  Runtime &operator=(const Runtime &) = delete;

  virtual const char *kind() const = 0; // "coreclr", "nativeaot", "corert"
  const Target &target() const { return target_; }
  const Memory &memory() const { return target_.memory; }
  const Module &module() const { return module_; }
  const ContractDescriptor &descriptor() const { return descriptor_; }
  // "10.0.14", "10.0" where only that is known, or empty.
  const std::string &version() const { return version_; }

  // Why nothing can be said of the heap as a whole: dumps of the kinds "mini" (--normal) and "triage" know where it is,
  // but hold only what stacks lead to. Empty: it is there. Threads and stacks may be told all the same.
  const std::string &why_no_heap() const { return why_no_heap_; }

  // Of CoreRt, which has another GC contract, each of its functions throws Error that says what is missing.
  const Gc &gc() const { return *gc_; }
  // What heap/ is built from. What of it cannot be read is added to `problems`.
  // Segments by heap, then as the GC lists them.
  virtual std::vector<GCHeapSegment> heap_segments(std::vector<std::string> &problems) const;
  // Of generations, of threads, and the global one; null ones among them.
  virtual std::vector<AllocationContext> allocation_contexts(std::vector<std::string> &problems) const;
  // What the GC keeps free behind each of these.
  virtual u64 min_object_size() const { return 3 * u64{memory().format().pointer_size}; }
  virtual GCFlavour gc_flavour() const;
  // Was the GC changing the heap? Nullopt where that cannot be told; why, is added to `problems`.
  virtual std::optional<bool> gc_structures_valid(std::vector<std::string> &problems) const;
  virtual TypeSystem &types() const = 0; // it caches
  // What fields and references are called; by their offset, where the kind of runtime does not say.
  virtual Fields &fields() const { return unnamed_fields_; } // it caches
  // As Thread1::get_threads().
  virtual std::vector<ThreadData> threads(std::vector<std::string> &problems) const = 0;
  // What else the runtime says of one of those.
  virtual ThreadDetails thread_details(const ThreadData &) const { return {}; }
  // Where one of those stands, and what its frames hold. Of kinds of runtime whose stacks are not read: nothing, and
  // why. Not from several threads at once.
  virtual WalkedStack follow_stack(const ThreadData &thread) const;
  // The same, for who does not say itself what of it is not known: take_partial_stacks() has it.
  WalkedStack walk_stack(const ThreadData &thread) const;
  // Those of the stacks walked since the last such call that are known in part only: their threads' OS ids, by the
  // reason.
  std::map<std::string, std::set<u64>> take_partial_stacks() const { return std::exchange(partial_stacks_, {}); }
  // What the method of a frame (StackFrame::method_desc) is called. It caches: not from several threads at once.
  virtual MethodText method_text(Address method_desc) const;
  // Of suspended runtime-async calls; nullopt: the runtime has none, or does not say.
  virtual std::optional<ContinuationLayout> continuation_layout() const { return std::nullopt; }
  // Is it a type that was made for such calls? From any thread.
  virtual bool is_continuation(Address) const { return false; }
  // Where the call goes on whose Continuation names this place. Not from several threads at once.
  virtual ResumePoint resume_point(Address) const { return {}; }
  // What a call that stands there keeps, by ascending offset; none where the target does not say. As often as that.
  virtual std::vector<SavedVariable> saved_variables(const ResumePoint &) const { return {}; }
  // What the program has loaded, and whose it is; none where the kind of runtime does not tell. Not from several
  // threads at once. What ends the list early is added to `problems`.
  virtual std::vector<LoadedAssembly> assemblies(std::vector<std::string> &problems) const;
  // Every static field and thread static that refers to an object; by slot. Names types, so not from several threads at
  // once. What could not be read is added to `problems`.
  virtual std::vector<StaticRoot> static_roots(std::vector<std::string> &problems) const;

protected:
  Runtime(const Target &target, const Module &module, std::string version, ContractDescriptor descriptor,
          const RuntimeHints &hints = {})
      : target_(target), module_(module), version_(std::move(version)), descriptor_(std::move(descriptor)),
        gc_(make_gc(target.memory, descriptor_, hints.gc_readers)),
        unnamed_fields_(target.memory.format().pointer_size) {}

  // Finds out why_no_heap(). Of a subclass that has what heap_segments() needs.
  void look_for_heap();
  void set_no_heap(std::string why);

private:
  std::string why_not_enough() const;

  const Target &target_;
  const Module &module_;
  std::string version_, why_no_heap_;
  ContractDescriptor descriptor_;
  std::unique_ptr<Gc> gc_;
  mutable Fields unnamed_fields_;
  mutable std::map<std::string, std::set<u64>> partial_stacks_;
};

} // namespace dnheap
