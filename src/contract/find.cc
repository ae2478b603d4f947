#include "contract/find.h"
#include "image/elf_image.h"
#include "image/pe_image.h"

namespace dnheap {

namespace {

constexpr const char *export_name = "DotNetRuntimeContractDescriptor";

std::optional<Address> find_export(const Memory &memory, const Module &module) {
  if (std::optional<ElfImage> elf = ElfImage::at(memory, module.base))
    return elf->find_symbol(export_name);
  if (std::optional<PeImage> pe = PeImage::at(memory, module.base, true))
    if (std::optional<u32> rva = pe->find_export(export_name))
      return module.base + *rva;
  return std::nullopt;
}

// A descriptor of which every byte is in the dump.
bool is_complete_descriptor(const Memory &memory, Address address) {
  if (!is_descriptor(memory, address))
    return false;
  for (const DescriptorExtent &extent : descriptor_extents(memory, address)) {
    std::vector<std::byte> bytes(extent.size);
    if (!memory.read(extent.start, bytes))
      return false;
  }
  return true;
}

// The GC's sub-descriptors, of which the module holds one per kind of GC, used or not, look the same from outside. Only
// the main one tells of MethodTables.
bool is_main_descriptor(const Memory &memory, Address address) {
  if (!is_complete_descriptor(memory, address))
    return false;
  DescriptorExtent json = descriptor_extents(memory, address)[1];
  std::string text(json.size, '\0');
  memory.read(json.start, std::as_writable_bytes(std::span(text)));
  return text.find("\"MethodTable\"") != text.npos;
}

} // namespace

std::optional<FoundDescriptor> find_descriptor(const Target &target, const Module &module) {
  const Memory &memory = target.memory;
  std::string file(module.file_name());
  if (std::optional<Address> address = find_export(memory, module); address && is_complete_descriptor(memory, *address))
    return FoundDescriptor{*address, "export of " + file};
  Address end = module.end();
  if (std::optional<ElfImage> elf = ElfImage::at(memory, module.base))
    end = std::max(end, elf->end());
  for (const Range &range : memory.ranges()) {
    Address from = std::max(range.address, module.base), to = std::min(range.end(), end);
    for (Address at = align_up(from, 8); from < to && at + 8 <= to; at += 8)
      if (load<u64>(range.bytes.data() + (at - range.address), memory.format().byte_order) == descriptor_magic &&
          is_main_descriptor(memory, at))
        return FoundDescriptor{at, "scan of " + file + " for its magic"};
  }
  return std::nullopt;
}

} // namespace dnheap
