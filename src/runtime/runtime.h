// Runtime: a .NET runtime inside a target, of whatever kind: its descriptor, completed from the target's memory under
// one set of names, and the contracts bound to it. One subclass per kind: CoreClr, NativeAot, CoreRt. Built once per
// target in some 10 ms; holds references to the Target, which must outlive the Runtime. Functions that only some kinds
// support are declared here, too; the other kinds return nothing. So code outside of runtime/ need not know the kind of
// a runtime.
#pragma once
#include "base/notes.h"
#include "contract/descriptor.h"
#include "runtime/facts/assembly.h"
#include "runtime/facts/method_text.h"
#include "runtime/facts/stack_frame.h"
#include "runtime/facts/static_root.h"
#include "runtime/facts/suspended_call.h"
#include "runtime/facts/thread_data.h"
#include "runtime/fields.h"
#include "runtime/gc.h"
#include "runtime/hints.h"
#include "runtime/type_system.h"
#include "target/target.h"

#include <map>
#include <memory>
#include <set>
#include <span>
#include <unordered_map>
#include <utility>

namespace dnheap {

struct ThreadDetails;
class DebugFile;
class ExceptionRecords;
class GcNf16;
class IlCode;
struct CrashInfo;
struct HeapRecord;
struct RuntimeBlock;
struct StressLog;

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
  // "10.0.14"; "10.0" if only that is known; or empty.
  const std::string &version() const { return version_; }

  // Why the heap as a whole is unknown: dumps of the kinds "mini" (--normal) and "triage" have its address, but hold
  // only what stacks lead to. Empty: the heap is known. Threads and stacks may be known in either case.
  const std::string &why_no_heap() const { return why_no_heap_; }

  // The GC contract. For CoreRt, which has another one, each function of Gc throws Error that names what is missing.
  const Gc &gc() const { return *gc_; }
  // CoreRt's GC contract; null for all other runtimes, which have gc().
  virtual const GcNf16 *gc_nf16() const { return nullptr; }
  // The segments that heap/ is built from, by heap, then in the GC's order. Unreadable parts are added to `notes`.
  virtual std::vector<GCHeapSegment> heap_segments(Notes &notes) const;
  // Allocation contexts of generations, of threads, and the global one; null ones among them.
  virtual std::vector<AllocationContext> allocation_contexts(Notes &notes) const;
  // Bytes that the GC keeps free after each allocation context.
  virtual u64 min_object_size() const { return 3 * u64{memory().format().pointer_size}; }
  virtual GCFlavour gc_flavour() const;
  // True if the GC was changing the heap. Nullopt: unknown, and the reason is added to `notes`.
  virtual std::optional<bool> gc_structures_valid(Notes &notes) const;
  virtual TypeSystem &types() const = 0; // it caches
  // Names of fields and references; references are named by their offset if the kind of runtime has no names.
  virtual Fields &fields() const { return unnamed_fields_; } // it caches
  // As Thread1::get_threads().
  virtual std::vector<ThreadData> threads(Notes &notes) const = 0;
  // More data on one of those threads.
  virtual ThreadDetails thread_details(const ThreadData &) const;
  // Returns the stack of one of those threads: its frames, and the references that they hold. A kind of runtime whose
  // stacks cannot be read returns no frames, but the reason. Not from several threads at once.
  virtual WalkedStack follow_stack(const ThreadData &thread, ListedFrames frames) const;
  // Does the same, for callers that do not report themselves that a stack is known only in part: records that for
  // take_partial_stacks().
  WalkedStack walk_stack(const ThreadData &thread, ListedFrames frames = ListedFrames::managed) const;
  // Returns, and forgets, the stacks walked since the last call that are known only in part: OS ids of their threads,
  // by reason.
  std::map<std::string, std::set<u64>> take_partial_stacks() const { return std::exchange(partial_stacks_, {}); }
  // Names the method of a frame (StackFrame::method_desc). Caches, so only one thread may call it at a time.
  virtual MethodText method_text(Address method_desc) const;
  // Returns the method whose code holds the address, as in StackFrame::method_desc; 0: none, or unknown.
  virtual Address method_at(Address) const { return 0; }
  // The IL and the metadata of methods; null: the runtime has none, as it was compiled ahead of time.
  virtual std::unique_ptr<IlCode> il_code() const;
  // Returns what the runtime records of exceptions beyond the fields of their objects; null: nothing.
  virtual std::unique_ptr<ExceptionRecords> exceptions() const;
  // The layout of suspended runtime-async calls; nullopt: the runtime has none, or does not publish it.
  virtual std::optional<ContinuationLayout> continuation_layout() const { return std::nullopt; }
  // True if the type was made for suspended runtime-async calls. From any thread.
  virtual bool is_continuation(Address) const { return false; }
  // Takes the resume address that a Continuation holds, and returns where its call continues. Not from several threads
  // at once.
  virtual ResumePoint resume_point(Address) const { return {}; }
  // Returns the variables that a call keeps while it is suspended at that point, by ascending offset; none if the
  // target does not publish them. Not from several threads at once.
  virtual std::vector<SavedVariable> saved_variables(const ResumePoint &) const { return {}; }
  // Returns the assemblies that the program has loaded, with their origin; none if the kind of runtime does not list
  // them. Not from several threads at once. The reason for a list that ends early is added to `notes`.
  virtual std::vector<LoadedAssembly> assemblies(Notes &notes) const;
  // Returns every static field and thread static that refers to an object, by slot. Names types, so not from several
  // threads at once. Unreadable parts are added to `notes`.
  virtual std::vector<StaticRoot> static_roots(Notes &notes) const;
  // Returns the memory that holds generated code and stubs, by address, then the loader heaps of the loaded modules and
  // of those that these types belong to; none if the kind of runtime does not list them.
  virtual std::vector<RuntimeBlock> own_blocks(std::span<const Address> method_tables) const;
  // Returns the LoaderAllocator of each of these modules (LoadedAssembly::module), as in RuntimeBlock::allocator, for
  // which it is known: one for everything that is never unloaded, one for each collectible context.
  virtual std::unordered_map<Address, Address> loader_allocators(std::span<const Address>) const { return {}; }
  // The runtime's log of its last actions. Nullopt: the target publishes no such log, or the process keeps none. Throws
  // Error if the start of the log is not in the dump.
  virtual std::optional<StressLog> stress_log() const;
  // What a listing of the heap says, if that is all that there is; null for a real runtime. Roots come from it, and
  // objects have no contents then.
  virtual const HeapRecord *record() const { return nullptr; }
  // The record that the program wrote before it ended itself; nullopt: none.
  virtual std::optional<CrashInfo> crash_info() const;

  // True if the program's separate debug file can name types and fields.
  virtual bool takes_debug_file() const { return false; }
  // Sets that file; call it before the first name is requested.
  virtual void use_debug_file(const DebugFile &) {}

protected:
  Runtime(const Target &target, const Module &module, std::string version, ContractDescriptor descriptor,
          const RuntimeHints &hints = {})
      : target_(target), module_(module), version_(std::move(version)), descriptor_(std::move(descriptor)),
        gc_(make_gc(target.memory, descriptor_, hints.gc_readers)),
        unnamed_fields_(target.memory.format().pointer_size) {}

  // Sets why_no_heap(). For subclasses that have what heap_segments() needs.
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
