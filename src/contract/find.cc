#include "contract/find.h"

#include "image/module_image.h"

namespace dnheap {

namespace {

// A limit for examined places with the magic; each may name 16 MiB of JSON.
constexpr unsigned most_magics = 64;

std::optional<Address> find_export(const Memory &memory, const Module &module) {
  std::optional<ModuleImage> image = ModuleImage::at(memory, module.base);
  return image ? image->find_symbol(descriptor_export) : std::nullopt;
}

// Returns the JSON of the descriptor at this address; empty if there is none, or if not all of it is in the dump.
std::string json_of(const Memory &memory, Address address) {
  std::string json;
  if (!is_descriptor(memory, address))
    return json;
  std::vector<DescriptorExtent> extents = descriptor_extents(memory, address);
  for (u64 i = 0; i < extents.size(); ++i) {
    std::string text(extents[i].size, '\0');
    if (!memory.read(extents[i].start, std::as_writable_bytes(std::span(text))))
      return "";
    if (i == 1)
      json = std::move(text);
  }
  return json;
}

// True for the main descriptor. The module also holds one sub-descriptor per kind of GC, used or not, which look the
// same from outside. Only the main one describes MethodTables.
bool is_main_descriptor(const Memory &memory, Address address) {
  return json_of(memory, address).find("\"MethodTable\"") != std::string::npos;
}

} // namespace

std::optional<FoundDescriptor> find_exported_descriptor(const Target &target, const Module &module) {
  std::optional<Address> address = find_export(target.memory, module);
  if (!address || json_of(target.memory, *address).empty())
    return std::nullopt;
  return FoundDescriptor{*address, "export of " + std::string(module.file_name())};
}

std::optional<FoundDescriptor> find_descriptor(const Target &target, const Module &module) {
  const Memory &memory = target.memory;
  std::string file(module.file_name());
  if (std::optional<FoundDescriptor> exported = find_exported_descriptor(target, module))
    return exported;
  Address end = module.end();
  if (std::optional<ModuleImage> image = ModuleImage::at(memory, module.base))
    end = std::max(end, image->end());
  unsigned magics = 0;
  for (const Range &range : memory.ranges()) {
    Address from = std::max(range.address, module.base), to = std::min(range.end(), end);
    if (from >= to)
      continue;
    to = from + memory.fetched(range.bytes.subspan(from - range.address, to - from)).size();
    for (Address at = align_up(from, 8); at + 8 <= to; at += 8)
      if (load<u64>(range.bytes.data() + (at - range.address), memory.format().byte_order) == descriptor_magic &&
          ++magics <= most_magics && is_main_descriptor(memory, at))
        return FoundDescriptor{at, "scan of " + file + " for its magic"};
  }
  return std::nullopt;
}

} // namespace dnheap
