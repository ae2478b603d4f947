// Reads DWARF, versions 2 to 5, 32 and 64 bit, both byte orders: the entries (DIEs) of .debug_info in order, with the
// attributes that describe types and variables. Nothing is trusted: invalid data end their unit. One pass, linear in
// the section; nothing is kept. Any thread. Names follow the DWARF 5 standard, without its prefixes.
#pragma once
#include "base/bytes.h"

#include <functional>
#include <string_view>

namespace dnheap {

namespace dwarf {

enum : u16 {
  tag_array_type = 0x01,
  tag_class_type = 0x02,
  tag_enumeration_type = 0x04,
  tag_member = 0x0d,
  tag_pointer_type = 0x0f,
  tag_reference_type = 0x10,
  tag_compile_unit = 0x11,
  tag_structure_type = 0x13,
  tag_inheritance = 0x1c,
  tag_base_type = 0x24,
  tag_variable = 0x34,
};
enum : u8 { op_addr = 0x03, op_deref = 0x06, op_plus_uconst = 0x23 };

} // namespace dwarf

struct DwarfSections {
  Bytes info, abbrev, strings, line_strings;
  ByteOrder byte_order = ByteOrder::little;
};

struct DwarfEntry {
  u64 offset = 0; // in .debug_info, as are the offsets below
  u16 tag = 0;
  u32 depth = 0;         // 0: the unit itself
  std::string_view name; // empty: none, or given by an index (DW_FORM_strx)
  std::optional<u64> type, specification;
  std::optional<u64> byte_size, data_member_location; // the latter only if it is a constant
  bool is_declaration = false;
  bool is_name_inline = false; // the name is in .debug_info itself
  Bytes location;              // an expression
};

// Removes an LEB128 number from the front and returns it; nullopt: it does not end, or has more than 64 bits.
std::optional<u64> take_uleb128(Bytes &from);

// Calls visit for the entries, in order, of each unit for whose producer `wants` returns true ("" for units without
// one).
void for_each_dwarf_entry(const DwarfSections &sections, const std::function<bool(std::string_view producer)> &wants,
                          const std::function<void(const DwarfEntry &)> &visit);

} // namespace dnheap
