#include "runtime/describe/open_native_aot.h"

#include "base/text.h"
#include "image/module_image.h"
#include "runtime/contract_versions.h"
#include "runtime/describe/native_aot_descriptor.h"
#include "runtime/layout/unpublished.h"

#include <algorithm>

namespace dnheap {

namespace {

constexpr u64 longest_version = 64;

// Adds the descriptor, if it is one of NativeAOT. A damaged one counts as such if there is other evidence (`is_known`).
FoundNativeAot with_descriptor(const Target &target, const Module &module, std::optional<FoundDescriptor> descriptor,
                               std::optional<DebugHeaderPlace> header, bool is_known) {
  FoundNativeAot out{&module, std::nullopt, std::move(header), {}};
  if (!descriptor)
    return out;
  try {
    const ContractDescriptor parsed = parse_descriptor(target.memory, descriptor->address);
    if (!is_native_aot(parsed))
      return out;
    if (const Global *version = parsed.find_global("RuntimeProductVersionString"))
      out.product_version = printable(version->text, longest_version);
    out.descriptor = std::move(descriptor);
  } catch (const Error &) {
    if (is_known)
      out.descriptor = std::move(descriptor);
  }
  return out;
}

// Returns the descriptor. If it is damaged, or has an unknown version, returns an empty one with the reason, provided
// there is a debug header.
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

std::string FoundNativeAot::version() const {
  return !product_version.empty() || descriptor || !header ? product_version : net_version(header->major);
}

std::vector<FoundNativeAot> find_native_aot(const Target &target, bool thorough) {
  std::vector<FoundNativeAot> out;
  std::vector<FoundDebugHeader> headers = find_debug_headers(target);
  for (const Module &module : target.modules) {
    auto header = std::find_if(headers.begin(), headers.end(),
                               [&](const FoundDebugHeader &h) { return h.module->base == module.base; });
    const bool has_header = header != headers.end();
    FoundNativeAot found = with_descriptor(
        target, module, has_header ? find_descriptor(target, module) : find_exported_descriptor(target, module),
        has_header ? std::optional(header->place) : std::nullopt, has_header);
    if (has_header || found.descriptor)
      out.push_back(std::move(found));
  }
  if (!thorough || !out.empty())
    return out;
  for (const FoundDebugHeader &found : find_debug_tables(target))
    out.push_back(with_descriptor(target, *found.module, find_descriptor(target, *found.module), found.place, true));
  if (!out.empty())
    return out;
  for (const Module &module : target.modules)
    if (ModuleImage::at(target.memory, module.base)) {
      FoundNativeAot found = with_descriptor(target, module, find_descriptor(target, module), std::nullopt, false);
      if (found.descriptor)
        out.push_back(std::move(found));
    }
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
      if (!is_native_aot(descriptor)) // else the header is not needed
        throw;
      descriptor.missing["DotNetRuntimeDebugHeader"] = e.what();
    }
  descriptor = describe_native_aot(target, *found.module, std::move(descriptor), header ? &*header : nullptr);
  record_unpublished(descriptor);
  leave_out(descriptor, hints.left_out);
  return NativeAot(target, *found.module, std::move(version), std::move(descriptor), hints);
}

} // namespace dnheap
