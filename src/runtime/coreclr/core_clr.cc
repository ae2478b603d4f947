#include "runtime/coreclr/core_clr.h"

#include "base/text.h"
#include "image/module_image.h"
#include "runtime/coreclr/core_clr_exceptions.h"
#include "runtime/coreclr/core_clr_il.h"
#include "runtime/coreclr/loader_heaps.h"
#include "runtime/coreclr/statics/core_clr_statics.h"
#include "runtime/coreclr/stress_log.h"
#include "runtime/coreclr/types/assemblies.h"
#include "runtime/facts/runtime_block.h"
#include "runtime/facts/thread_details.h"
#include "runtime/library_names.h"
#include "runtime/object_1.h"
#include "runtime/thread_registers.h"
#include "runtime/version.h"
#include "runtime/vm/method_table_flags.h"

#include <algorithm>
#include <set>

namespace dnheap {

bool is_single_file_program(const Memory &memory, const Module &module) {
  std::optional<ModuleImage> image = ModuleImage::at(memory, module.base);
  return image && !image->is_managed() && image->find_symbol("DotNetRuntimeInfo");
}

std::vector<const Module *> find_core_clr_modules(const Target &target) {
  std::vector<const Module *> out;
  for (const Module &module : target.modules)
    if (is_core_clr_library(module.file_name()) || is_single_file_program(target.memory, module))
      out.push_back(&module);
  return out;
}

CoreClr::CoreClr(const Target &target, const Module &module, ContractDescriptor described, const RuntimeHints &hints)
    : CoreClr(target, module, find_version(target, module, described), std::move(described), hints) {}

CoreClr::CoreClr(const Target &target, const Module &module, std::string version, ContractDescriptor &&described,
                 const RuntimeHints &hints)
    : Runtime(target, module, std::move(version), std::move(described), hints), thread_(memory(), descriptor()),
      loader_(target, descriptor()), code_(target, descriptor()),
      stack_walk_(target, descriptor(), [this](Address ip) { return code_.find(ip); }) {
  look_for_heap();
  if (why_no_heap().empty())
    look_for_types();
  try {
    types_ = std::make_unique<RuntimeTypeSystem1>(memory(), descriptor(), loader_);
  } catch (const Error &e) {
    if (!why_no_heap().empty())
      throw Error(why_no_heap() + "; the types in this dump are unreadable, too: " + e.what());
    require_started(e);
    throw;
  }
  field_descs_ = std::make_unique<FieldDescs>(memory(), descriptor(), *types_, loader_);
  fields_ = std::make_unique<CoreClrFields>(target, descriptor(), *types_, loader_, *field_descs_);
  method_names_ = std::make_unique<MethodNames>(target, descriptor(), *types_, loader_);
}

std::vector<ThreadData> CoreClr::threads(Notes &notes) const {
  std::vector<ThreadData> out = thread_.get_threads(notes);
  widen_first_stack(target(), out);
  return out;
}

ThreadDetails CoreClr::thread_details(const ThreadData &thread) const { return thread_.get_details(thread.address); }

WalkedStack CoreClr::follow_stack(const ThreadData &thread, ListedFrames frames) const {
  WalkedStack out;
  if (code_.why_not().empty()) {
    if (frames == ListedFrames::all && !native_frames_ && stack_walk_.convention())
      native_frames_ = std::make_unique<NativeFrames>(target(), *stack_walk_.convention());
    out = stack_walk_.walk(thread, frames == ListedFrames::all ? native_frames_.get() : nullptr);
    // .NET 8 and 9 fill in the function of a HelperMethodFrame only when somebody asks; until then the word is garbage.
    for (StackFrame &frame : out.frames) {
      if (frame.kind == StackFrame::Kind::native)
        continue;
      if (frame.kind == StackFrame::Kind::explicit_ && !method_names_->methods().is_method_desc(frame.method_desc))
        frame.method_desc = 0;
      else
        add_loader_allocator(frame);
    }
    return out;
  }
  out.thread = thread.address;
  out.why_not = code_.why_not();
  return out;
}

// A running method keeps its collectible AssemblyLoadContext alive; the GC reports that without a stack slot.
void CoreClr::add_loader_allocator(StackFrame &frame) const {
  if (frame.kind != StackFrame::Kind::method || !frame.method_desc)
    return;
  StackReference kept;
  kept.value = types_->loader_allocator_object(method_names_->methods().method_table_of(frame.method_desc));
  if (kept.value)
    frame.references.push_back(kept);
}

Address CoreClr::method_at(Address code) const {
  try {
    const std::optional<CodeBlock> block = code_.find(code);
    return block ? block->method_desc : 0;
  } catch (const Error &) {
    return 0; // the data that identifies the method is not in the dump
  }
}

std::unique_ptr<IlCode> CoreClr::il_code() const {
  return std::make_unique<CoreClrIl>(target(), descriptor(), types(), loader(), code_);
}

std::unique_ptr<ExceptionRecords> CoreClr::exceptions() const {
  return std::make_unique<CoreClrExceptions>(target(), descriptor(), types(), loader());
}

// A type's module leads to its LoaderAllocator: there is one for everything that is never unloaded, and one for each
// collectible context.
std::vector<RuntimeBlock> CoreClr::own_blocks(std::span<const Address> method_tables) const {
  using Kind = RuntimeBlock::Kind;
  std::vector<RuntimeBlock> out;
  for (const RangeSection &section : code_.map().sections())
    if (section.is_code_heap() || section.is_stubs())
      out.push_back({section.is_stubs() ? Kind::stubs : Kind::code, section.begin, section.end});
  const std::optional<i64> module_at = descriptor().try_offset("MethodTable", "Module");
  if (!module_at)
    return out;
  std::set<Address> modules;
  for (Address type : method_tables)
    if (std::optional<u64> found = memory().try_pointer(type + static_cast<u64>(*module_at)))
      modules.insert(*found);
  add_loaded_modules(modules);
  for (const LoaderHeapBlock &block :
       find_loader_heaps(memory(), descriptor(), std::vector<Address>(modules.begin(), modules.end())))
    out.push_back({Kind::loader_heap, block.start, block.start + block.size, block.allocator});
  return out;
}

// A module may have no type on the heap.
void CoreClr::add_loaded_modules(std::set<Address> &to) const {
  try {
    Notes ignored; // what is listed early is enough
    for (Address module : LoadedTypes(memory(), descriptor(), types()).modules(ignored))
      to.insert(module);
  } catch (const Error &) {
    // Those of the types on the heap remain.
  }
}

std::unordered_map<Address, Address> CoreClr::loader_allocators(std::span<const Address> modules) const {
  return find_loader_allocators(memory(), descriptor(), modules);
}

std::optional<StressLog> CoreClr::stress_log() const { return read_stress_log(memory(), descriptor()); }

// Cached, as thousands of threads wait in the same few methods.
MethodText CoreClr::method_text(Address method_desc) const {
  auto it = method_texts_.find(method_desc);
  if (it == method_texts_.end())
    it = method_texts_.emplace(method_desc, method_names_->text(method_desc)).first;
  return it->second;
}

// The flags lie in front of the state and behind the resume address; no target publishes their offset.
std::optional<ContinuationLayout> CoreClr::continuation_layout() const {
  const ContractDescriptor &d = descriptor();
  const std::optional<i64> next = d.try_offset("ContinuationObject", "Next"),
                           resume_info = d.try_offset("ContinuationObject", "ResumeInfo"),
                           state = d.try_offset("ContinuationObject", "State");
  if (!next || !resume_info || !state || !d.find_field("AsyncResumeInfo", "DiagnosticIP"))
    return std::nullopt;
  ContinuationLayout out;
  out.next = static_cast<u64>(*next);
  out.resume_info = static_cast<u64>(*resume_info);
  out.state = static_cast<u64>(*state);
  out.flags = out.state - 4;
  out.data = out.state + 4;
  return out;
}

// For code compiled ahead of time, the address lies in an image's writable data, which heap dumps leave out; only the
// loader writes that word, so the module's file has it, too. For code compiled at run time, the address lies behind the
// code.
ResumePoint CoreClr::resume_point(Address resume_info) const {
  ResumePoint out;
  const Module *module = target().find_module(resume_info);
  out.module = module ? module->file_name() : "";
  const Address at = resume_info + static_cast<u64>(descriptor().offset("AsyncResumeInfo", "DiagnosticIP"));
  std::optional<u64> ip = memory().try_pointer(at);
  if (!ip)
    ip = target().initial.try_pointer(at);
  try {
    const std::optional<CodeBlock> block = code_.find(ip.value_or(0) ? *ip : resume_info);
    if (block) {
      out.method_desc = block->method_desc;
      out.ip = ip.value_or(0);
    } else {
      out.why_not =
          ip ? "no managed code lies at the address where the call continues"
             : "the dump lacks the page with the address where the call continues, and its module's file was not found";
    }
  } catch (const Error &e) {
    out.why_not = e.what();
  }
  return out;
}

// The method's debug info identifies an await by its code address. Local variables have no names in metadata.
std::vector<SavedVariable> CoreClr::saved_variables(const ResumePoint &point) const {
  std::vector<SavedVariable> out;
  const MethodDescs &methods = method_names_->methods();
  if (!point.ip || !methods.is_method_desc(point.method_desc) || methods.is_dynamic(point.method_desc))
    return out;
  try {
    const Metadata *metadata = loader_.metadata(types_->module_of(methods.method_table_of(point.method_desc)));
    const u32 rid = methods.row(point.method_desc);
    const std::optional<MethodDefRow> row = metadata && rid ? metadata->method(rid) : std::nullopt;
    const std::optional<MethodSignature> signature = row ? decode_method(row->signature) : std::nullopt;
    const std::optional<CodeBlock> block = code_.find(point.ip);
    std::vector<AwaitPoint> points;
    if (!signature || !block || !read_await_points(memory(), code_.debug_info(*block), points))
      return out;
    const u32 has_this = signature->has_this, arguments = has_this + static_cast<u32>(signature->parameters.size());
    for (const AwaitPoint &one : points)
      if (one.native_offset == block->offset_of(point.ip))
        for (const SavedLocal &saved : one.saved) {
          SavedVariable &variable = out.emplace_back(SavedVariable{saved.offset, "", std::nullopt});
          if (saved.number >= arguments)
            variable.local = saved.number - arguments;
          else
            variable.name =
                saved.number < has_this ? "this" : std::string(metadata->parameter(rid, saved.number - has_this + 1));
        }
  } catch (const Error &) {
    out.clear(); // the code or its debug info is not in the dump
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const SavedVariable &a, const SavedVariable &b) { return a.offset < b.offset; });
  return out;
}

// Dumps may hold the objects but not their MethodTables.
void CoreClr::look_for_types() {
  if (std::optional<u64> variable = descriptor().try_number("StringMethodTable"))
    if (std::optional<u64> string = memory().try_pointer(*variable); string && memory().find(*string))
      return;
  // Every segment begins with an object. Free objects prove nothing: their MethodTable is the runtime's own.
  const u32 free_base_size = 3 * memory().format().pointer_size;
  Notes ignored;
  u64 present = 0, absent = 0;
  for (const GCHeapSegment &s : heap_segments(ignored)) {
    std::optional<u64> word = s.is_sound() && s.start < s.end ? memory().try_pointer(s.start) : std::nullopt;
    if (!word)
      continue;
    Address method_table = method_table_in(*word, memory().format());
    std::optional<u32> flags = memory().try_load<u32>(method_table), size = memory().try_load<u32>(method_table + 4);
    bool free = flags == (mt_has_component_size | 1) && size == free_base_size;
    absent += !flags;
    present += flags && !free;
  }
  if (absent > present)
    set_no_heap(
        std::string("the dump holds the heap's objects, but not the types that they point at (MethodTables): it "
                    "was written without the memory of the runtime's loader; take a ") +
        (target().os == OperatingSystem::windows ? "full dump (dotnet-dump collect --type Full, procdump -ma)"
                                                 : "dump with createdump --withheap PID or --full PID"));
}

// A runtime that has started has allocated more than `least` bytes for itself alone.
void CoreClr::require_started(const Error &error) const {
  constexpr u64 least = 64 << 10;
  Notes notes;
  u64 size = 0;
  for (const GCHeapSegment &s : heap_segments(notes))
    size += s.is_sound() ? s.end - s.start : least;
  if (size < least && notes.empty())
    throw Error("the runtime had only begun to start: its heap holds only " + bytes_text(size) + " of objects, and " +
                error.what());
}

std::vector<LoadedAssembly> CoreClr::assemblies(Notes &notes) const {
  try {
    return loaded_assemblies(target(), descriptor(), LoadedTypes(memory(), descriptor(), types()), loader(), notes);
  } catch (const Error &e) {
    notes.add(Subject::modules, Effect::numbers, "loaded assemblies are not listed: ", e);
    return {};
  }
}

std::vector<StaticRoot> CoreClr::static_roots(Notes &notes) const {
  std::vector<ThreadData> all;
  try {
    all = threads(notes);
  } catch (const Error &e) {
    notes.add(Subject::statics, Effect::liveness, "thread statics are not named: ", e);
  }
  return CoreClrStatics(memory(), descriptor(), types(), field_descs(), gc()).static_roots(all, notes);
}

} // namespace dnheap
