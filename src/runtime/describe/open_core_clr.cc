#include "runtime/describe/open_core_clr.h"

#include "contract/find.h"
#include "image/module_image.h"
#include "runtime/contract_versions.h"
#include "runtime/describe/core_clr_descriptor.h"
#include "runtime/layout/unpublished.h"
#include "runtime/version.h"

#include <algorithm>

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

// True if all of the runtime's memory with addresses is in the dump.
bool has_all_variables(const Memory &memory, const Module &module) {
  std::optional<ModuleImage> image = ModuleImage::at(memory, module.base);
  return image && !image->relocates_constants() && image->has_writable_sections() &&
         std::all_of(image->sections().begin(), image->sections().end(), [&](const ModuleImage::Section &s) {
           return !s.writable || memory.known_bytes(s.address, s.address + s.size) >= s.size;
         });
}

ContractDescriptor complete_descriptor(const Target &target, const Module &module, std::span<const ShippedTable> tables,
                                       const RuntimeHints &hints) {
  ContractDescriptor published = published_descriptor(target, module, hints);
  try {
    ContractDescriptor out = derive_descriptor(target, module, std::move(published), tables, hints.gc_readers);
    leave_out(out, hints.left_out);
    check_version(target, module, out);
    return out;
  } catch (const Error &e) {
    if (!has_all_variables(target.memory, module))
      throw;
    throw Error("it seems that the runtime was loaded but had not started, or had only begun to start: all its "
                "variables are in "
                "this dump, and yet " +
                std::string(e.what()));
  }
}

} // namespace

CoreClr open_core_clr(const Target &target, const Module &module, std::span<const ShippedTable> tables,
                      const RuntimeHints &hints) {
  return CoreClr(target, module, complete_descriptor(target, module, tables, hints), hints);
}

} // namespace dnheap
