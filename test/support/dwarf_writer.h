// Writes .debug_info, .debug_abbrev and .debug_str for tests: DWARF 2 to 5, 32 and 64 bit, both byte orders. One unit
// after the other; of each its entries in order, children between open() and close(). Every entry gets an abbreviation
// of its own. What ILCompiler writes has words of its own: reference(), struct_type(), …
#pragma once
#include "image/dwarf.h"
#include "support/elf_writer.h"

namespace dnheap::test {

struct DwarfAttribute {
  u16 name = 0, form = 0;
  u64 number = 0;
  std::string text = {}; // of strings, and the bytes of blocks
};

class DwarfWriter {
public:
  struct Shape {
    Format format = {};
    unsigned version = 4;
    bool wide = false; // 64-bit DWARF
  };

  explicit DwarfWriter(const Shape &shape);

  void begin_unit(const std::string &producer);
  void end_unit();
  // Where in .debug_info the entry begins.
  u64 open(u16 tag, const std::vector<DwarfAttribute> &attributes);
  void close(); // the children of the last open()
  u64 leaf(u16 tag, const std::vector<DwarfAttribute> &attributes);

  DwarfAttribute name(const std::string &text); // in .debug_str
  DwarfAttribute type(u64 entry) const;         // of the same unit
  DwarfAttribute specification(u64 entry) const;

  u64 base_type(const std::string &name, u64 encoding, u64 size);
  u64 declaration(const std::string &name); // of a class or struct
  u64 reference(u64 to);
  struct Field {
    std::string name;
    u64 type = 0;
    u64 offset = 0;
  };
  struct StaticField {
    std::string name;
    u64 type = 0;
  };
  // The entry, then those of the static fields.
  std::vector<u64> class_type(const std::string &name, u64 size, u64 parent, const std::vector<Field> &fields,
                              const std::vector<StaticField> &statics = {});
  // Where a static field lies: at `cell`, or in an object that it leads to.
  void place(u64 static_field, Address cell, std::optional<u64> offset_in_object);

  std::vector<std::byte> info() const { return info_.bytes(); }
  std::vector<std::byte> abbrev() const;
  std::vector<std::byte> strings() const { return strings_.bytes(); }

private:
  u64 entry(u16 tag, const std::vector<DwarfAttribute> &attributes, bool has_children);
  void write(const DwarfAttribute &attribute);
  static void put_leb128(FormatWriter &to, u64 value);

  Shape shape_;
  FormatWriter info_, abbrev_, strings_;
  u64 unit_ = 0, codes_ = 0;
};

} // namespace dnheap::test
