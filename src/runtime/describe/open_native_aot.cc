#include "runtime/describe/open_native_aot.h"

#include "image/module_image.h"
#include "runtime/contract_versions.h"
#include "runtime/describe/native_aot_descriptor.h"
#include "runtime/layout/unpublished.h"

#include <algorithm>

namespace dnheap {

namespace {

// Of another kind of runtime: none. Damaged: it is NativeAOT's if something else says so.
std::optional<FoundDescriptor> check(const Target &target, std::optional<FoundDescriptor> found, bool is_known) {
  if (!found)
    return std::nullopt;
  try {
    return is_native_aot(parse_descriptor(target.memory, found->address)) ? found : std::nullopt;
  } catch (const Error &) {
    return is_known ? found : std::nullopt;
  }
}

// What the descriptor says; where it is damaged, or of a version that is not known, nothing, if there is a debug
// header; why is kept.
ContractDescriptor published(const Target &target, const FoundNativeAot &found, const RuntimeHints &hints) {
  if (!found.descriptor)
    return {};
  try {
    ContractDescriptor out = parse_descriptor(target.memory, found.descriptor->address);
    out.found_by = found.descriptor->how;
    choose_readers(out, ReaderFamily::native_aot, hints.gc_readers);
    return out;
  } catch (const Error &e) {
    if (!found.header)
      throw;
    ContractDescriptor out;
    out.missing["DotNetRuntimeContractDescriptor"] = e.what();
    return out;
  }
}

} // namespace

std::string FoundNativeAot::version() const { return descriptor || !header ? "" : net_version(header->major); }

std::vector<FoundNativeAot> find_native_aot(const Target &target, bool thorough) {
  std::vector<FoundNativeAot> out;
  std::vector<FoundDebugHeader> headers = find_debug_headers(target);
  for (const Module &module : target.modules) {
    auto header = std::find_if(headers.begin(), headers.end(),
                               [&](const FoundDebugHeader &h) { return h.module->base == module.base; });
    const bool has_header = header != headers.end();
    std::optional<FoundDescriptor> descriptor = check(
        target, has_header ? find_descriptor(target, module) : find_exported_descriptor(target, module), has_header);
    if (has_header || descriptor)
      out.push_back({&module, descriptor, has_header ? std::optional(header->place) : std::nullopt});
  }
  if (!thorough || !out.empty())
    return out;
  for (const FoundDebugHeader &found : find_debug_tables(target))
    out.push_back({found.module, check(target, find_descriptor(target, *found.module), true), found.place});
  if (!out.empty())
    return out;
  for (const Module &module : target.modules)
    if (ModuleImage::at(target.memory, module.base))
      if (std::optional<FoundDescriptor> descriptor = check(target, find_descriptor(target, module), false))
        out.push_back({&module, descriptor, std::nullopt});
  return out;
}

NativeAot open_native_aot(const Target &target, const FoundNativeAot &found, const RuntimeHints &hints) {
  ContractDescriptor descriptor = published(target, found, hints);
  std::string version = found.version();
  std::optional<DebugHeader> header;
  if (found.header)
    try {
      header = read_debug_header(target, *found.module, *found.header);
      if (!found.descriptor)
        version = net_version(header->place.major);
    } catch (const Error &e) {
      if (!is_native_aot(descriptor)) // else it is not needed
        throw;
      descriptor.missing["DotNetRuntimeDebugHeader"] = e.what();
    }
  descriptor = describe_native_aot(target, *found.module, std::move(descriptor), header ? &*header : nullptr);
  record_unpublished(descriptor);
  leave_out(descriptor, hints.left_out);
  return NativeAot(target, *found.module, std::move(version), std::move(descriptor), hints);
}

} // namespace dnheap
