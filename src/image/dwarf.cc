#include "image/dwarf.h"

#include <algorithm>
#include <limits>
#include <vector>

namespace dnheap {

namespace {

enum : u16 {
  at_name = 0x03,
  at_location = 0x02,
  at_byte_size = 0x0b,
  at_producer = 0x25,
  at_data_member_location = 0x38,
  at_declaration = 0x3c,
  at_specification = 0x47,
  at_type = 0x49,
};
enum : u16 {
  form_addr = 0x01,
  form_block2 = 0x03,
  form_block4,
  form_data2,
  form_data4,
  form_data8,
  form_string,
  form_block,
  form_block1,
  form_data1,
  form_flag,
  form_sdata,
  form_strp,
  form_udata,
  form_ref_addr,
  form_ref1,
  form_ref2,
  form_ref4,
  form_ref8,
  form_ref_udata,
  form_indirect,
  form_sec_offset,
  form_exprloc,
  form_flag_present,
  form_strx,
  form_addrx,
  form_ref_sup4,
  form_strp_sup,
  form_data16,
  form_line_strp,
  form_ref_sig8,
  form_implicit_const,
  form_loclistx,
  form_rnglistx,
  form_ref_sup8,
  form_strx1,
  form_strx2,
  form_strx3,
  form_strx4,
  form_addrx1,
  form_addrx2,
  form_addrx3,
  form_addrx4,
  form_gnu_addr_index = 0x1f01,
  form_gnu_str_index = 0x1f02,
  form_gnu_ref_alt = 0x1f20,
  form_gnu_strp_alt = 0x1f21,
};
enum : u8 { unit_type = 2, unit_skeleton = 4, unit_split_compile = 5, unit_split_type = 6 };

constexpr u64 longest_text = 65536;
// Limits the attributes of abbreviations read for all units together, as many units may name the same long table.
constexpr u64 most_abbreviations = 1 << 24;

// Reads numbers from the front of bytes. Once one does not fit, that one and all later ones are 0.
class Cursor {
public:
  Cursor(Bytes bytes, ByteOrder order) : rest_(bytes), order_(order) {}

  bool ok() const { return ok_; }
  bool at_end() const { return rest_.empty(); }
  Bytes rest() const { return rest_; }
  void fail() {
    ok_ = false;
    rest_ = {};
  }

  Bytes bytes(u64 size) {
    if (size > rest_.size()) {
      fail();
      return {};
    }
    Bytes out = rest_.first(size);
    rest_ = rest_.subspan(size);
    return out;
  }
  // Reads a number of 1 to 8 bytes.
  u64 number(unsigned size) {
    Bytes from = bytes(size);
    u64 out = 0;
    for (u64 i = 0; i < from.size(); ++i)
      out |= static_cast<u64>(from[order_ == ByteOrder::little ? i : from.size() - 1 - i]) << (8 * i);
    return out;
  }
  u64 leb128() {
    std::optional<u64> out = take_uleb128(rest_);
    if (!out)
      fail();
    return out.value_or(0);
  }
  // Skips a signed number; no value of one is needed.
  void skip_leb128() {
    auto last =
        std::find_if(rest_.begin(), rest_.end(), [](std::byte b) { return (b & std::byte{0x80}) == std::byte{0}; });
    bytes(static_cast<u64>(last - rest_.begin()) + 1);
  }
  std::string_view text() {
    std::string_view all = as_text(rest_);
    const u64 end = all.find('\0');
    if (end == all.npos) {
      fail();
      return {};
    }
    bytes(end + 1);
    return all.substr(0, std::min(end, longest_text));
  }

private:
  Bytes rest_;
  ByteOrder order_;
  bool ok_ = true;
};

struct Attribute {
  u16 name = 0, form = 0;
};
struct Abbreviation {
  u64 code = 0;
  u16 tag = 0;
  bool has_children = false;
  u32 first = 0, end = 0; // indices in the table's attributes
};

struct AbbreviationTable {
  std::vector<Abbreviation> entries; // by code
  std::vector<Attribute> attributes;

  // Returns null if there is none. Codes nearly always count from 1.
  const Abbreviation *find(u64 code) const {
    if (code - 1 < entries.size() && entries[code - 1].code == code)
      return &entries[code - 1];
    auto at = std::lower_bound(entries.begin(), entries.end(), code,
                               [](const Abbreviation &a, u64 value) { return a.code < value; });
    return at != entries.end() && at->code == code ? &*at : nullptr;
  }
};

u16 small(u64 value) { return value <= 0xffff ? static_cast<u16>(value) : u16{0xffff}; }

AbbreviationTable parse_abbreviations(Bytes section, u64 offset, ByteOrder order, u64 &budget) {
  AbbreviationTable out;
  Cursor in(offset < section.size() ? section.subspan(offset) : Bytes(), order);
  while (in.ok() && budget > 0) {
    --budget;
    Abbreviation entry;
    entry.code = in.leb128();
    if (!in.ok() || entry.code == 0)
      break;
    entry.tag = small(in.leb128());
    entry.has_children = in.number(1) != 0;
    entry.first = static_cast<u32>(out.attributes.size());
    for (; budget > 0; --budget) {
      Attribute a;
      a.name = small(in.leb128());
      a.form = small(in.leb128());
      if (a.form == form_implicit_const)
        in.skip_leb128();
      if (!in.ok() || (a.name == 0 && a.form == 0))
        break;
      out.attributes.push_back(a);
    }
    entry.end = static_cast<u32>(out.attributes.size());
    if (in.ok())
      out.entries.push_back(entry);
  }
  std::stable_sort(out.entries.begin(), out.entries.end(),
                   [](const Abbreviation &a, const Abbreviation &b) { return a.code < b.code; });
  return out;
}

class Unit {
public:
  // `content`: from the unit's length field to its end. `start`: the offset of that in the section.
  Unit(const DwarfSections &sections, Bytes content, u64 start, unsigned offset_size)
      : sections_(sections), content_(content), start_(start), offset_size_(offset_size), work_(8 * content.size()) {}

  // Returns false for an invalid header.
  bool read_header(Cursor &in) {
    in.bytes(offset_size_ == 8 ? 12 : 4);
    version_ = in.number(2);
    if (version_ < 2 || version_ > 5)
      return false;
    u64 type = 0;
    if (version_ >= 5) {
      type = in.number(1);
      address_size_ = static_cast<unsigned>(in.number(1));
      abbreviations_ = in.number(offset_size_);
    } else {
      abbreviations_ = in.number(offset_size_);
      address_size_ = static_cast<unsigned>(in.number(1));
    }
    if (type == unit_skeleton || type == unit_split_compile)
      in.bytes(8);
    if (type == unit_type || type == unit_split_type)
      in.bytes(8 + offset_size_);
    return in.ok() && address_size_ >= 1 && address_size_ <= 8;
  }
  u64 abbreviations() const { return abbreviations_; }

  // Reads the entry at the position. Returns false at the end of the unit, or of a list of children (then tag is 0).
  bool read_entry(Cursor &in, const AbbreviationTable &table, DwarfEntry &out, bool &has_children) {
    out.offset = start_ + (content_.size() - in.rest().size());
    const u64 code = in.leb128();
    const Abbreviation *entry = in.ok() && code ? table.find(code) : nullptr;
    if (!entry) {
      if (code)
        in.fail();
      return false;
    }
    out.tag = entry->tag;
    has_children = entry->has_children;
    const u32 count = entry->end - entry->first;
    if (count > work_) // attributes that take no bytes could repeat for ever
      in.fail();
    work_ -= std::min<u64>(work_, count);
    for (u32 i = entry->first; i < entry->end && in.ok(); ++i) {
      const Attribute &a = table.attributes[i];
      take(a, read_form(a.form, in, a.name == at_name || a.name == at_producer), out);
    }
    return in.ok();
  }
  std::string_view producer() const { return producer_; }

private:
  struct Value {
    std::optional<u64> number, reference; // reference: in .debug_info
    std::string_view text = {};
    Bytes block = {};
  };

  Value reference(u64 in_unit) const {
    Value out;
    if (in_unit < content_.size())
      out.reference = start_ + in_unit;
    return out;
  }

  static Value string_in(Bytes strings, u64 offset, bool named) {
    return {{}, {}, named ? text_at(strings, offset, longest_text) : std::string_view()};
  }

  // `named`: true if the text is needed.
  Value read_form(u16 form, Cursor &in, bool named) {
    for (unsigned i = 0; form == form_indirect && i < 4; ++i)
      form = small(in.leb128());
    switch (form) {
    case form_data1:
    case form_flag: return {in.number(1), {}};
    case form_data2: return {in.number(2), {}};
    case form_data4: return {in.number(4), {}};
    case form_data8: return {in.number(8), {}};
    case form_udata: return {in.leb128(), {}};
    case form_flag_present: return {1, {}};
    case form_addr: return {in.number(address_size_), {}};
    case form_sec_offset: in.bytes(offset_size_); return {};
    case form_sdata: in.skip_leb128(); return {};
    case form_implicit_const: return {};
    case form_ref1: return reference(in.number(1));
    case form_ref2: return reference(in.number(2));
    case form_ref4: return reference(in.number(4));
    case form_ref8: return reference(in.number(8));
    case form_ref_udata: return reference(in.leb128());
    case form_ref_addr: return {{}, in.number(version_ == 2 ? address_size_ : offset_size_)};
    case form_string: return {{}, {}, in.text()};
    case form_strp: return string_in(sections_.strings, in.number(offset_size_), named);
    case form_line_strp: return string_in(sections_.line_strings, in.number(offset_size_), named);
    case form_block1: return {{}, {}, {}, in.bytes(in.number(1))};
    case form_block2: return {{}, {}, {}, in.bytes(in.number(2))};
    case form_block4: return {{}, {}, {}, in.bytes(in.number(4))};
    case form_block:
    case form_exprloc: return {{}, {}, {}, in.bytes(in.leb128())};
    default: skip_form(form, in); return {};
    }
  }

  // Skips a form that no needed attribute has.
  void skip_form(u16 form, Cursor &in) {
    switch (form) {
    case form_strx:
    case form_addrx:
    case form_loclistx:
    case form_rnglistx:
    case form_gnu_addr_index:
    case form_gnu_str_index: in.skip_leb128(); break;
    case form_strx1:
    case form_addrx1: in.bytes(1); break;
    case form_strx2:
    case form_addrx2: in.bytes(2); break;
    case form_strx3:
    case form_addrx3: in.bytes(3); break;
    case form_strx4:
    case form_addrx4:
    case form_ref_sup4: in.bytes(4); break;
    case form_ref_sig8:
    case form_ref_sup8: in.bytes(8); break;
    case form_data16: in.bytes(16); break;
    case form_strp_sup:
    case form_gnu_ref_alt:
    case form_gnu_strp_alt: in.bytes(offset_size_); break;
    default: in.fail(); // of unknown size
    }
  }

  void take(const Attribute &attribute, const Value &value, DwarfEntry &out) {
    switch (attribute.name) {
    case at_name:
      out.name = value.text;
      out.is_name_inline = attribute.form == form_string || attribute.form == form_indirect;
      break;
    case at_producer: producer_ = value.text; break;
    case at_type: out.type = value.reference; break;
    case at_specification: out.specification = value.reference; break;
    case at_byte_size: out.byte_size = value.number; break;
    case at_data_member_location: out.data_member_location = value.number; break;
    case at_declaration: out.is_declaration = value.number.value_or(0) != 0; break;
    case at_location: out.location = value.block; break;
    default: break;
    }
  }

  const DwarfSections &sections_;
  Bytes content_;
  u64 start_;
  unsigned offset_size_, address_size_ = 0;
  u64 version_ = 0, abbreviations_ = 0;
  u64 work_; // number of attributes that may still be read
  std::string_view producer_;
};

void visit_unit(const DwarfSections &sections, Unit unit, Bytes content,
                const std::function<bool(std::string_view)> &wants,
                const std::function<void(const DwarfEntry &)> &visit, u64 &budget) {
  Cursor in(content, sections.byte_order);
  if (!unit.read_header(in))
    return;
  const AbbreviationTable table =
      parse_abbreviations(sections.abbrev, unit.abbreviations(), sections.byte_order, budget);
  for (u32 depth = 0; in.ok() && !in.at_end();) {
    DwarfEntry entry;
    bool has_children = false;
    if (!unit.read_entry(in, table, entry, has_children)) {
      if (depth <= 1) // end of the unit's children, or unreadable data
        return;
      --depth;
      continue;
    }
    if (depth == 0 && !wants(unit.producer()))
      return;
    entry.depth = depth;
    visit(entry);
    depth += has_children;
    if (depth == 0)
      return;
  }
}

} // namespace

std::optional<u64> take_uleb128(Bytes &from) {
  u64 out = 0;
  for (u64 i = 0; i < from.size() && i < 10; ++i) {
    const u64 bits = static_cast<u64>(from[i]) & 0x7f;
    if (i == 9 && bits > 1)
      break;
    out |= bits << (7 * i);
    if ((from[i] & std::byte{0x80}) == std::byte{0}) {
      from = from.subspan(i + 1);
      return out;
    }
  }
  return std::nullopt;
}

void for_each_dwarf_entry(const DwarfSections &sections, const std::function<bool(std::string_view producer)> &wants,
                          const std::function<void(const DwarfEntry &)> &visit) {
  const ByteOrder order = sections.byte_order;
  u64 budget = most_abbreviations;
  for (u64 at = 0; at < sections.info.size();) {
    std::optional<u32> first = load_at<u32>(sections.info, at, order);
    const bool wide = first == 0xffffffff;
    std::optional<u64> length = first && wide ? load_at<u64>(sections.info, at + 4, order) : std::optional<u64>(first);
    const u64 head = wide ? 12 : 4;
    if (!length || *length > std::numeric_limits<u64>::max() - head)
      return;
    // A unit longer than the section is read up to the section's end.
    const u64 size = std::min(head + *length, static_cast<u64>(sections.info.size() - at));
    Bytes content = sections.info.subspan(at, size);
    visit_unit(sections, Unit(sections, content, at, wide ? 8 : 4), content, wants, visit, budget);
    at += size;
  }
}

} // namespace dnheap
