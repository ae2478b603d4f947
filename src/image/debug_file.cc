#include "image/debug_file.h"

#include "image/dwarf.h"
#include "image/elf_sections.h"

namespace dnheap {

namespace {

constexpr u64 largest_section = u64{1} << 32; // a Reference is an offset in it

// [address] or [address][+ offset]; with dereferences, a place in an object.
std::optional<DebugPlace> parse_place(Bytes expression, Format format, u64 bias) {
  DebugPlace out;
  const u64 p = format.pointer_size;
  if (expression.size() < 1 + p || expression[0] != std::byte{dwarf::op_addr})
    return std::nullopt;
  out.address = load_pointer(expression.data() + 1, format) + bias;
  expression = expression.subspan(1 + p);
  while (!expression.empty() && expression[0] == std::byte{dwarf::op_deref}) {
    out.in_object = true;
    expression = expression.subspan(1);
  }
  if (expression.empty())
    return out;
  if (expression[0] != std::byte{dwarf::op_plus_uconst})
    return std::nullopt;
  expression = expression.subspan(1);
  std::optional<u64> offset = take_uleb128(expression);
  if (!offset || !expression.empty())
    return std::nullopt;
  out.offset = *offset;
  return out;
}

DebugEntry::Kind kind_of(u16 tag) {
  using Kind = DebugEntry::Kind;
  switch (tag) {
  case dwarf::tag_class_type:
  case dwarf::tag_structure_type: return Kind::class_type;
  case dwarf::tag_reference_type: return Kind::reference;
  case dwarf::tag_pointer_type: return Kind::pointer;
  case dwarf::tag_base_type: return Kind::base_type;
  case dwarf::tag_enumeration_type: return Kind::enumeration;
  case dwarf::tag_variable: return Kind::variable;
  case dwarf::tag_inheritance: return Kind::inheritance;
  case dwarf::tag_member: return Kind::member;
  default: return Kind::other;
  }
}

DebugEntry entry_of(const DwarfEntry &from, Format format, u64 bias) {
  auto reference = [](std::optional<u64> offset) { return static_cast<DebugEntry::Reference>(offset.value_or(0)); };
  DebugEntry out{reference(from.offset),
                 kind_of(from.tag),
                 from.depth,
                 from.name,
                 reference(from.type),
                 reference(from.specification),
                 from.byte_size,
                 from.data_member_location,
                 from.is_declaration,
                 std::nullopt};
  if (out.kind == DebugEntry::Kind::variable && out.specification)
    out.place = parse_place(from.location, format, bias);
  return out;
}

} // namespace

DebugFile::Content DebugFile::section(std::string_view name) const {
  ElfSectionContent found = read_elf_section(file_, name);
  return {found.bytes, found.storage ? std::move(found.storage) : storage_};
}

void DebugFile::for_each_symbol(const std::function<void(Address, std::string_view)> &visit) const {
  for_each_elf_symbol(file_, [&](u64 address, std::string_view name) { visit(address + bias_, name); });
}

std::optional<DebugFile::Function> DebugFile::function_at(Address code) const {
  const std::optional<ElfFunction> found = find_elf_function(file_, code - bias_);
  return found ? std::optional(Function{found->name, found->start + bias_}) : std::nullopt;
}

std::vector<std::shared_ptr<const void>>
DebugFile::for_each_entry(std::string_view producer, const std::function<void(const DebugEntry &)> &visit) const {
  const std::optional<ElfHeader> header = ElfHeader::parse(file_);
  if (!header)
    return {};
  const Content info = section(".debug_info"), abbrev = section(".debug_abbrev"), strings = section(".debug_str"),
                line_strings = section(".debug_line_str");
  if (info.bytes.size() >= largest_section)
    return {};
  bool has_names = false; // some names are stored in the section itself
  for_each_dwarf_entry(
      {info.bytes, abbrev.bytes, strings.bytes, line_strings.bytes, header->format.byte_order},
      [&](std::string_view by) { return by == producer; },
      [&](const DwarfEntry &entry) {
        has_names |= entry.is_name_inline;
        visit(entry_of(entry, header->format, bias_));
      });
  std::vector<std::shared_ptr<const void>> out{storage_, strings.storage, line_strings.storage};
  if (has_names)
    out.push_back(info.storage);
  return out;
}

} // namespace dnheap
