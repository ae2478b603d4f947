#include "runtime/coreclr/core_clr.h"

#include "base/text.h"
#include "contract/find.h"
#include "image/elf_image.h"
#include "image/pe_image.h"
#include "runtime/contract_versions.h"
#include "runtime/coreclr/statics_1.h"
#include "runtime/layout/coreclr/derive.h"
#include "runtime/layout/unpublished.h"
#include "runtime/version.h"

namespace dnheap {

namespace {

ContractDescriptor published_descriptor(const Target &target, const Module &module, const RuntimeHints &hints) {
  std::optional<FoundDescriptor> found = find_descriptor(target, module);
  if (!found)
    return {};
  ContractDescriptor out = parse_descriptor(target.memory, found->address);
  out.found_by = found->how;
  choose_readers(out, ReaderFamily::core_clr, hints.gc_readers);
  return out;
}

// Are all variables of the runtime in the dump?
bool has_all_variables(const Memory &memory, const Module &module) {
  std::optional<ElfImage> image = ElfImage::at(memory, module.base);
  bool any = false;
  for (const ElfImage::Segment &s : image ? image->segments() : std::span<const ElfImage::Segment>()) {
    if (s.writable && memory.known_bytes(s.address, s.address + s.size) < s.size)
      return false;
    any |= s.writable;
  }
  return any;
}

ContractDescriptor complete_descriptor(const Target &target, const Module &module, std::span<const ShippedTable> tables,
                                       const RuntimeHints &hints) {
  ContractDescriptor published = published_descriptor(target, module, hints);
  try {
    ContractDescriptor out = derive_descriptor(target, module, std::move(published), tables);
    leave_out(out, hints.left_out);
    return out;
  } catch (const Error &e) {
    if (!has_all_variables(target.memory, module))
      throw;
    throw Error(
        "the runtime was loaded but not started, it seems, or had only begun to start: all its variables are in "
        "this dump, and yet " +
        std::string(e.what()));
  }
}

bool has_runtime_name(const Module &module) {
  for (const char *name : {"libcoreclr.so", "coreclr.dll", "libcoreclr.dylib"})
    if (module.file_name() == name)
      return true;
  return false;
}

} // namespace

bool is_single_file_program(const Memory &memory, const Module &module) {
  constexpr const char *name = "DotNetRuntimeInfo";
  if (std::optional<ElfImage> elf = ElfImage::at(memory, module.base))
    return elf->find_symbol(name).has_value();
  std::optional<PeImage> pe = PeImage::at(memory, module.base, true);
  return pe && !pe->is_managed() && pe->find_export(name);
}

std::vector<const Module *> find_core_clr_modules(const Target &target) {
  std::vector<const Module *> out;
  for (const Module &module : target.modules)
    if (has_runtime_name(module) || is_single_file_program(target.memory, module))
      out.push_back(&module);
  return out;
}

CoreClr::CoreClr(const Target &target, const Module &module, std::span<const ShippedTable> tables,
                 const RuntimeHints &hints)
    : Runtime(target, module, find_version(target, module), complete_descriptor(target, module, tables, hints), hints),
      thread_(memory(), descriptor()), loader_(target, descriptor()) {
  require_heap();
  require_types();
  try {
    types_ = std::make_unique<RuntimeTypeSystem1>(memory(), descriptor(), loader_);
  } catch (const Error &e) {
    require_started(e);
    throw;
  }
  field_descs_ = std::make_unique<FieldDesc1>(memory(), descriptor(), *types_, loader_);
  fields_ = std::make_unique<Fields1>(target, descriptor(), *types_, loader_, *field_descs_);
}

// A runtime that has started keeps more than this for itself alone.
void CoreClr::require_started(const Error &error) const {
  constexpr u64 least = 64 << 10;
  std::vector<std::string> problems;
  u64 size = 0;
  for (const GCHeapSegment &s : heap_segments(problems))
    size += s.is_sound() ? s.end - s.start : least;
  if (size < least && problems.empty())
    throw Error("the runtime had only begun to start: of objects its heap holds " + bytes_text(size) + ", and " +
                error.what());
}

std::vector<StaticRoot> CoreClr::static_roots(std::vector<std::string> &problems) const {
  std::vector<ThreadData> all;
  try {
    all = threads(problems);
  } catch (const Error &e) {
    problems.push_back(std::string("thread statics are not named: ") + e.what());
  }
  return Statics1(memory(), descriptor(), types(), field_descs(), gc()).static_roots(all, problems);
}

} // namespace dnheap
