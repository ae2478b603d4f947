// LibraryHeap: a HeapBuilder with types as a class library has them, made of a name, a base type and names of fields,
// for tests of inspectors; and what an inspector says of it. Costs what HeapBuilder costs. One thread.
#pragma once
#include "support/heap_builder.h"
#include "support/rows.h"

#include <array>
#include <map>
#include <string>
#include <vector>

namespace dnheap::test {

struct LibraryHeap {
  explicit LibraryHeap(const HeapShape &shape) : heap(shape), p(heap.p), old(heap.segment(GCSegmentGeneration::gen2)) {}

  // A name begins with # where it is as wide as a pointer, with ! where it is an int, with ? where it is a bool, with %
  // where it is a long; else it is a reference. `words`: of the object, header included; `first`: where its own fields
  // begin, behind the inherited.
  Address type(const char *name_space, const char *name, Address parent, u64 words,
               const std::vector<std::string> &names, u64 first = 0) {
    return type_of(heap.app().metadata.type(name_space, name), parent, words, names, first);
  }
  Address nested(u32 enclosing, const char *name, u64 words, const std::vector<std::string> &names) {
    return type_of(heap.app().metadata.nested(enclosing, name), 0, words, names, 0);
  }
  // `arguments`: of a generic type.
  Address type_of(u32 rid, Address parent, u64 words, const std::vector<std::string> &names, u64 first,
                  const std::vector<Address> &arguments = {}) {
    TypeShape shape{.base_size = static_cast<u32>(words * p), .rid = rid, .arguments = arguments};
    if (parent) {
      shape.parent = parent;
      shape.series = series_[parent];
    }
    std::vector<u64> widths = widths_[parent];
    widths.resize(first, p);
    std::vector<FieldShape> fields;
    for (u64 i = 0; i < names.size(); ++i) {
      const char mark = names[i][0];
      const ElementType kind = mark == '#'   ? ElementType::I
                               : mark == '!' ? ElementType::I4
                               : mark == '?' ? ElementType::Boolean
                               : mark == '%' ? ElementType::I8
                                             : ElementType::Class;
      const bool is_reference = kind == ElementType::Class;
      const u32 row = heap.app().metadata.field(names[i].substr(is_reference ? 0 : 1),
                                                field_signature(element(is_reference ? ElementType::Object : kind)));
      fields.push_back({row, kind, static_cast<u32>((first + i) * p)});
      widths.push_back(kind == ElementType::I8        ? 8
                       : kind == ElementType::I4      ? 4
                       : kind == ElementType::Boolean ? 1
                                                      : p);
      if (is_reference)
        shape.series.emplace_back((1 + first + i) * p, p);
    }
    const Address out = heap.method_table(shape);
    series_[out] = shape.series;
    widths_[out] = widths;
    heap.fields(out, fields);
    return out;
  }
  // Of types that were made in another way: how wide its fields are.
  void set_widths(Address type, const std::vector<u64> &widths) { widths_[type] = widths; }
  // "Queue`1" of one argument.
  u32 generic(const char *name_space, const char *name) {
    const u32 rid = heap.app().metadata.type(name_space, name);
    heap.app().metadata.generic(token(Table::TypeDef, rid), {"T"});
    return rid;
  }

  // The type of dictionaries, and of arrays of their entries {key, value, next}, each a word; `key`: an object or an
  // int.
  struct DictionaryTypes {
    u32 rid = 0;
    Address dictionary = 0, entries = 0;
  };
  DictionaryTypes dictionary_types(ElementType key) {
    MetadataWriter &metadata = heap.app().metadata;
    DictionaryTypes out{metadata.type("System.Collections.Generic", "Dictionary")};
    out.dictionary = type_of(out.rid, 0, 4, {"_entries", "!_count"}, 0);
    const Address entry = heap.method_table(
        {.base_size = static_cast<u32>(5 * p), .flags = 0x40000, .rid = metadata.nested(out.rid, "Entry")});
    auto field = [&](const char *name, ElementType kind, u64 words) {
      return FieldShape{metadata.field(name, field_signature(element(kind))),
                        kind == ElementType::Object ? ElementType::Class : kind, static_cast<u32>(words * p)};
    };
    heap.fields(entry,
                {field("key", key, 0), field("value", ElementType::Object, 1), field("next", ElementType::I4, 2)});
    heap.value_type(entry, ElementType::ValueType, 3 * p);
    out.entries = heap.array(entry, static_cast<u32>(3 * p));
    key_width_ = key == ElementType::Object ? p : 4;
    return out;
  }
  // `rows`: key, value and next of each entry; `count`: what the dictionary says of their number.
  Address dictionary_of(const DictionaryTypes &types, const std::vector<std::array<u64, 3>> &rows, u64 count) {
    const Address at = old.object(types.entries, rows.size());
    for (u64 i = 0; i < rows.size(); ++i)
      for (u64 j = 0; j < 3; ++j)
        old.store(at + (2 + 3 * i + j) * p, rows[i][j], j == 0 ? key_width_ : j == 1 ? p : 4);
    return with(types.dictionary, {at, count});
  }

  // An object with these fields, each as wide as its type says.
  Address with(Address type, const std::vector<u64> &values) {
    const Address at = old.object(type);
    const std::vector<u64> &widths = widths_[type];
    for (u64 i = 0; i < values.size(); ++i)
      old.store(at + (1 + i) * p, values[i], i < widths.size() ? widths[i] : p);
    return at;
  }
  // object[] with these, and room for `more`.
  Address array(const std::vector<Address> &elements, u64 more = 0) {
    const Address at = old.object(heap.object_array_type, elements.size() + more);
    for (u64 i = 0; i < elements.size(); ++i)
      old.store(at + (2 + i) * p, elements[i], p);
    return at;
  }

  HeapBuilder heap;
  const u64 p;
  SegmentWriter &old;

private:
  std::map<Address, std::vector<std::pair<u64, u64>>> series_;
  std::map<Address, std::vector<u64>> widths_; // of fields, inherited ones too
  u64 key_width_ = 0;                          // of dictionary_types()
};

inline report::Answer inspected(HeapBuilder &heap, const char *name) {
  Question question;
  question.target = "core";
  question.subject = name;
  return answer_of(heap, "inspect", question);
}

// Returns the notes about objects that do not have the known fields.
inline std::string unknown_notes_of(const report::Answer &answer) {
  std::string out;
  for (const std::string &note : answer.completeness->notes.sentences())
    if (note.find("not have the fields") != note.npos)
      out += note + "\n";
  return out;
}

// The note about objects of a type with other fields than it should have.
inline std::string unknown_shape(u64 count, const std::string &type, const std::string &what) {
  return count == 1 ? "1 object of the type " + type + " does not have the fields that " + what +
                          " should have: it is left out\n"
                    : std::to_string(count) + " objects of the type " + type + " do not have the fields that " + what +
                          " should have: they are left out\n";
}

inline std::string notes_of(const report::Answer &answer) {
  std::string out;
  for (const std::string &note : answer.completeness->notes.sentences())
    out += note + "\n";
  return out;
}

} // namespace dnheap::test
