#include "runtime/nativeaot/debug_types.h"

#include <algorithm>

namespace dnheap {

namespace {

using Kind = DebugEntry::Kind;

constexpr std::string_view producer = "NetRuntime"; // other units describe the runtime, which is written in C++
constexpr u64 most_kept = 1 << 23;                  // types, and fields
constexpr unsigned most_depth = 16;                 // structs in structs
constexpr u32 several = ~u32{0};

} // namespace

// Fills a DebugTypes.
class DebugTypes::Reader {
public:
  explicit Reader(DebugTypes &to) : to_(to) {}

  void take(const DebugEntry &entry) {
    if (to_.entries_.size() + to_.fields_.size() + statics_.size() + variables_.size() >= most_kept)
      return;
    if (entry.depth == 1)
      take_type(entry);
    else if (entry.depth == 2 && in_class_)
      take_part(entry);
  }

  void finish() {
    for (u64 i = 0; i < classes_.size(); ++i) {
      const u64 end = i + 1 < classes_.size() ? classes_[i + 1].fields : to_.fields_.size();
      Class &c = to_.classes_[i];
      c.fields = std::span(to_.fields_).subspan(classes_[i].fields, end - classes_[i].fields);
      c.is_struct = c.parent == 0 && c.name != "Object";
    }
    for (u32 i = 0; i < to_.classes_.size(); ++i) {
      auto [it, is_new] = to_.by_name_.emplace(to_.classes_[i].name, i);
      if (!is_new && it->second != several && !are_equal(to_.classes_[it->second], to_.classes_[i]))
        it->second = several;
    }
    find_statics();
  }

private:
  struct Begin {
    u64 fields, statics;
  };
  struct StaticMember {
    Reference entry;
    Field field;
  };
  struct Variable {
    Reference member;
    DebugPlace place;
  };

  void take_type(const DebugEntry &entry) {
    in_class_ = false;
    Entry type{entry.at,
               entry.type,
               entry.kind,
               entry.is_declaration,
               static_cast<u8>(std::min<u64>(entry.byte_size.value_or(0), 255)),
               entry.name};
    switch (entry.kind) {
    case Kind::class_type:
      if (!entry.is_declaration) {
        in_class_ = true;
        type.target = static_cast<Reference>(to_.classes_.size());
        classes_.push_back({to_.fields_.size(), statics_.size()});
        to_.classes_.push_back({entry.name, entry.byte_size.value_or(0), 0, false, {}, {}});
      }
      break;
    case Kind::variable:
      if (entry.place)
        variables_.push_back({entry.specification, *entry.place});
      return;
    case Kind::reference:
    case Kind::pointer:
    case Kind::base_type:
    case Kind::enumeration: break;
    default: return;
    }
    to_.entries_.push_back(type);
  }

  void take_part(const DebugEntry &entry) {
    if (entry.kind == Kind::inheritance)
      to_.classes_.back().parent = entry.type;
    if (entry.kind != Kind::member)
      return;
    if (entry.member_offset)
      to_.fields_.push_back({entry.name, entry.type, *entry.member_offset});
    else if (entry.is_declaration)
      statics_.push_back({entry.at, {entry.name, entry.type, 0}});
  }

  static bool are_equal(const Class &a, const Class &b) {
    return a.size == b.size && a.is_struct == b.is_struct && are_equal(a.fields, b.fields);
  }
  static bool are_equal(std::span<const Field> a, std::span<const Field> b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const Field &x, const Field &y) { return x.name == y.name && x.offset == y.offset; });
  }

  void find_statics() {
    std::vector<std::vector<const Variable *>> of_class(classes_.size());
    for (const Variable &v : variables_) {
      auto member = std::lower_bound(statics_.begin(), statics_.end(), v.member,
                                     [](const StaticMember &m, Reference at) { return m.entry < at; });
      if (member == statics_.end() || member->entry != v.member)
        continue;
      const u64 index = static_cast<u64>(member - statics_.begin());
      auto after = std::upper_bound(classes_.begin(), classes_.end(), index,
                                    [](u64 i, const Begin &b) { return i < b.statics; });
      of_class[static_cast<u64>(after - classes_.begin()) - 1].push_back(&v);
    }
    to_.unplaced_.reserve(statics_.size()); // keeps the spans into it valid
    for (u64 i = 0; i < classes_.size(); ++i) {
      const u64 end = i + 1 < classes_.size() ? classes_[i + 1].statics : statics_.size();
      const std::span<const StaticMember> members =
          std::span(statics_).subspan(classes_[i].statics, end - classes_[i].statics);
      const u64 begin = to_.unplaced_.size();
      for (u64 j = add_statics(members, of_class[i]); j < members.size(); ++j)
        to_.unplaced_.push_back(members[j].field);
      to_.classes_[i].unplaced = std::span(to_.unplaced_).subspan(begin);
    }
  }

  // ILCompiler (8 to 10) lists the fields of a class by kind (in plain memory, in an object, thread statics), but their
  // places in the order of declaration, and pairs the two lists element by element. So a place may have another field's
  // name. This function repairs that: within a kind, the order is the same in both lists. Returns how many of the
  // fields cannot be thread statics.
  u64 add_statics(std::span<const StaticMember> members, std::vector<const Variable *> &variables) {
    std::stable_sort(variables.begin(), variables.end(),
                     [](const Variable *a, const Variable *b) { return a->member < b->member; });
    std::vector<const Variable *> in_object;
    std::copy_if(variables.begin(), variables.end(), std::back_inserter(in_object),
                 [](const Variable *v) { return v->place.in_object; });
    u64 first = variables.size() - in_object.size(); // either all fields of a kind have places, or none
    if (in_object.empty())
      return std::min<u64>(first, members.size());
    u64 budget = 4096;
    auto has_references = [&](const StaticMember &m) { return holds_references(m.field.type, 0, budget); };
    if (first == 0)
      first = static_cast<u64>(std::find_if(members.begin(), members.end(), has_references) - members.begin());
    if (first + in_object.size() > members.size() ||
        std::any_of(members.begin(), members.begin() + static_cast<i64>(first), has_references))
      return members.size();
    std::vector<Field> out;
    for (u64 i = 0; i < in_object.size(); ++i) {
      const DebugPlace &place = in_object[i]->place;
      if (place.address != in_object[0]->place.address || (i && place.offset <= out.back().offset) ||
          !has_references(members[first + i]))
        return members.size();
      out.push_back({members[first + i].field.name, members[first + i].field.type, place.offset});
    }
    auto [it, is_new] = to_.statics_.emplace(in_object[0]->place.address, out);
    if (!is_new && !are_equal(it->second, out))
      it->second.clear();
    return first + in_object.size();
  }

  bool holds_references(Reference reference, unsigned depth, u64 &budget) const {
    if (depth > most_depth || budget == 0)
      return false;
    --budget;
    const Type type = to_.type(reference);
    if (type.type != ElementType::ValueType || !type.struct_type)
      return type.type == ElementType::Class;
    return std::any_of(type.struct_type->fields.begin(), type.struct_type->fields.end(),
                       [&](const Field &f) { return holds_references(f.type, depth + 1, budget); });
  }

  DebugTypes &to_;
  bool in_class_ = false;
  std::vector<Begin> classes_;
  std::vector<StaticMember> statics_; // by entry
  std::vector<Variable> variables_;
};

DebugTypes::DebugTypes(const DebugFile &file, u64 pointer_size) : p_(pointer_size) {
  Reader reader(*this);
  storage_ = file.for_each_entry(producer, [&](const DebugEntry &entry) { reader.take(entry); });
  reader.finish();
}

const DebugTypes::Class *DebugTypes::find(std::string_view mangled) const {
  auto it = by_name_.find(mangled);
  return it == by_name_.end() || it->second == several ? nullptr : &classes_[it->second];
}

const DebugTypes::Entry *DebugTypes::entry_at(Reference offset) const {
  auto it = std::lower_bound(entries_.begin(), entries_.end(), offset,
                             [](const Entry &e, Reference at) { return e.offset < at; });
  return it != entries_.end() && it->offset == offset ? &*it : nullptr;
}

const DebugTypes::Class *DebugTypes::class_at(Reference reference) const {
  const Entry *entry = entry_at(reference);
  if (!entry || entry->kind != Kind::class_type)
    return nullptr;
  return entry->is_declaration ? find(entry->name) : &classes_[entry->target];
}

DebugTypes::Type DebugTypes::primitive(const Entry &entry) const {
  struct Primitive {
    std::string_view name; // the compiler's name
    ElementType type;
    std::string_view runtime_name;
  };
  static constexpr Primitive all[] = {
      {"bool", ElementType::Boolean, "System.Boolean"}, {"char16_t", ElementType::Char, "System.Char"},
      {"sbyte", ElementType::I1, "System.SByte"},       {"byte", ElementType::U1, "System.Byte"},
      {"short", ElementType::I2, "System.Int16"},       {"ushort", ElementType::U2, "System.UInt16"},
      {"int", ElementType::I4, "System.Int32"},         {"uint", ElementType::U4, "System.UInt32"},
      {"long", ElementType::I8, "System.Int64"},        {"ulong", ElementType::U8, "System.UInt64"},
      {"nint", ElementType::I, "System.IntPtr"},        {"nuint", ElementType::U, "System.UIntPtr"},
      {"float", ElementType::R4, "System.Single"},      {"double", ElementType::R8, "System.Double"}};
  for (const Primitive &p : all)
    if (p.name == entry.name)
      return {p.type, p.runtime_name, entry.size, nullptr};
  return {ElementType::Void, entry.name, entry.size, nullptr};
}

DebugTypes::Type DebugTypes::type(Reference reference) const {
  const Entry *entry = entry_at(reference);
  if (!entry)
    return {};
  const Entry *target =
      entry_at(entry->target); // the target of a reference or an enumeration; not used for other entries
  switch (entry->kind) {
  case Kind::base_type: return primitive(*entry);
  case Kind::pointer: return {ElementType::Ptr, "", p_, nullptr};
  case Kind::reference: return {ElementType::Class, target ? target->name : "", p_, nullptr};
  case Kind::enumeration: {
    Type out = target && target->kind == Kind::base_type ? primitive(*target) : Type();
    out.name = entry->name;
    return out;
  }
  default: break;
  }
  const Class *found = class_at(reference);
  return {ElementType::ValueType, entry->name, found ? std::optional(found->size) : std::nullopt, found};
}

std::span<const DebugTypes::Field> DebugTypes::statics_at(Address cell) const {
  auto it = statics_.find(cell);
  return it == statics_.end() ? std::span<const Field>() : std::span<const Field>(it->second);
}

} // namespace dnheap
