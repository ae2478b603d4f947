#include "support/dwarf_writer.h"

namespace dnheap::test {

namespace {

enum : u16 {
  at_location = 0x02,
  at_name = 0x03,
  at_byte_size = 0x0b,
  at_producer = 0x25,
  at_data_member_location = 0x38,
  at_declaration = 0x3c,
  at_encoding = 0x3e,
  at_external = 0x3f,
  at_specification = 0x47,
  at_type = 0x49,
};
enum : u16 {
  form_addr = 0x01,
  form_data2 = 0x05,
  form_data4,
  form_data8,
  form_string,
  form_data1 = 0x0b,
  form_flag,
  form_strp = 0x0e,
  form_udata,
  form_ref4 = 0x13,
  form_exprloc = 0x18,
  form_flag_present,
  form_implicit_const = 0x21,
};

} // namespace

DwarfWriter::DwarfWriter(const Shape &shape)
    : shape_(shape), info_(shape.format), abbrev_(shape.format), strings_(shape.format) {
  strings_.put(0, 1);
}

void DwarfWriter::put_leb128(FormatWriter &to, u64 value) {
  for (; value >= 0x80; value >>= 7)
    to.put((value & 0x7f) | 0x80, 1);
  to.put(value, 1);
}

void DwarfWriter::begin_unit(const std::string &producer) {
  unit_ = info_.size();
  if (shape_.wide)
    info_.put(0xffffffff, 4);
  info_.put(0, shape_.wide ? 8 : 4);
  info_.half(shape_.version);
  const u64 offset_size = shape_.wide ? 8 : 4;
  if (shape_.version >= 5) {
    info_.put(1, 1); // DW_UT_compile
    info_.put(shape_.format.pointer_size, 1);
    info_.put(0, offset_size);
  } else {
    info_.put(0, offset_size);
    info_.put(shape_.format.pointer_size, 1);
  }
  open(dwarf::tag_compile_unit, {{at_producer, form_string, 0, producer}});
}

void DwarfWriter::end_unit() {
  close();
  const u64 head = shape_.wide ? 12 : 4;
  info_.put_at(unit_ + head - (shape_.wide ? 8 : 4), info_.size() - unit_ - head, shape_.wide ? 8 : 4);
}

u64 DwarfWriter::open(u16 tag, const std::vector<DwarfAttribute> &attributes) { return entry(tag, attributes, true); }
void DwarfWriter::close() { info_.put(0, 1); }
u64 DwarfWriter::leaf(u16 tag, const std::vector<DwarfAttribute> &attributes) { return entry(tag, attributes, false); }

u64 DwarfWriter::entry(u16 tag, const std::vector<DwarfAttribute> &attributes, bool has_children) {
  put_leb128(abbrev_, ++codes_);
  put_leb128(abbrev_, tag);
  abbrev_.put(has_children, 1);
  for (const DwarfAttribute &a : attributes) {
    put_leb128(abbrev_, a.name);
    put_leb128(abbrev_, a.form);
    if (a.form == form_implicit_const)
      put_leb128(abbrev_, a.number);
  }
  abbrev_.put(0, 2);
  const u64 at = info_.size();
  put_leb128(info_, codes_);
  for (const DwarfAttribute &a : attributes)
    write(a);
  return at;
}

void DwarfWriter::write(const DwarfAttribute &a) {
  switch (a.form) {
  case form_addr: info_.pointer(a.number); break;
  case form_data1:
  case form_flag: info_.put(a.number, 1); break;
  case form_data2: info_.half(a.number); break;
  case form_data4: info_.word(a.number); break;
  case form_data8: info_.put(a.number, 8); break;
  case form_udata: put_leb128(info_, a.number); break;
  case form_strp: info_.put(a.number, shape_.wide ? 8 : 4); break;
  case form_ref4: info_.word(a.number); break;
  case form_string: info_.text_with_nul(a.text); break;
  case form_flag_present:
  case form_implicit_const: break;
  case form_exprloc:
    put_leb128(info_, a.text.size());
    info_.text(a.text);
    break;
  default: info_.text(a.text); // as the test has it
  }
}

DwarfAttribute DwarfWriter::name(const std::string &text) {
  const u64 at = strings_.size();
  strings_.text_with_nul(text);
  return {at_name, form_strp, at};
}

DwarfAttribute DwarfWriter::type(u64 entry) const { return {at_type, form_ref4, entry - unit_}; }
DwarfAttribute DwarfWriter::specification(u64 entry) const { return {at_specification, form_ref4, entry - unit_}; }

u64 DwarfWriter::base_type(const std::string &text, u64 encoding, u64 size) {
  return leaf(dwarf::tag_base_type,
              {name(text), {at_encoding, form_data1, encoding}, {at_byte_size, form_data1, size}});
}

u64 DwarfWriter::declaration(const std::string &text) {
  return leaf(dwarf::tag_class_type, {name(text), {at_declaration, form_flag_present}});
}

u64 DwarfWriter::reference(u64 to) {
  return leaf(dwarf::tag_reference_type, {type(to), {at_byte_size, form_data1, shape_.format.pointer_size}});
}

std::vector<u64> DwarfWriter::class_type(const std::string &text, u64 size, u64 parent,
                                         const std::vector<Field> &fields, const std::vector<StaticField> &statics) {
  std::vector<u64> out = {open(dwarf::tag_class_type, {name(text), {at_byte_size, form_data4, size}})};
  if (parent)
    leaf(dwarf::tag_inheritance, {type(parent), {at_data_member_location, form_data1, 0}});
  for (const Field &f : fields)
    leaf(dwarf::tag_member, {name(f.name), type(f.type), {at_data_member_location, form_data4, f.offset}});
  for (const StaticField &f : statics)
    out.push_back(
        leaf(dwarf::tag_member,
             {name(f.name), type(f.type), {at_external, form_flag_present}, {at_declaration, form_flag_present}}));
  close();
  return out;
}

void DwarfWriter::place(u64 static_field, Address cell, std::optional<u64> offset_in_object) {
  FormatWriter expression(shape_.format);
  expression.put(dwarf::op_addr, 1);
  expression.pointer(cell);
  if (offset_in_object) {
    expression.put(dwarf::op_deref, 1);
    expression.put(dwarf::op_deref, 1);
    expression.put(dwarf::op_plus_uconst, 1);
    put_leb128(expression, *offset_in_object);
  }
  leaf(dwarf::tag_variable,
       {specification(static_field), {at_location, form_exprloc, 0, std::string(as_text(expression.bytes()))}});
}

std::vector<std::byte> DwarfWriter::abbrev() const {
  std::vector<std::byte> out = abbrev_.bytes();
  out.push_back(std::byte{0});
  return out;
}

} // namespace dnheap::test
