#include "metadata/native_format.h"

#include <algorithm>

namespace dnheap {

namespace {

constexpr u32 signature = 0xdeaddffd;
constexpr unsigned most_levels = 64;
constexpr u32 longest_name = 65536;
constexpr u64 most_entries = 1 << 20; // no real program has a million types

// Numbers take one to five bytes; the low bits of the first byte give the length. Little-endian on every machine.
class Reader {
public:
  Reader(Bytes bytes, u64 at) : bytes_(bytes), at_(at) {}

  u64 at() const { return at_; }
  bool failed() const { return failed_; }
  u8 byte() {
    if (at_ >= bytes_.size()) {
      failed_ = true;
      return 0;
    }
    return static_cast<u8>(bytes_[at_++]);
  }
  u32 number() { return decode(nullptr); }
  i32 signed_number() {
    unsigned bits = 32;
    u32 value = decode(&bits);
    u32 sign = u32{1} << (bits - 1);
    return static_cast<i32>((value ^ sign) - sign);
  }

private:
  u32 decode(unsigned *bits) {
    u32 first = byte();
    unsigned more = 0; // bytes
    while (more < 4 && first >> more & 1)
      ++more;
    u32 value = more == 4 ? 0 : first >> (more + 1);
    for (unsigned i = 0; i < more; ++i)
      value |= u32{byte()} << (more == 4 ? 8 * i : 7 - more + 8 * i);
    if (bits)
      *bits = more == 4 ? 32 : 7 * (more + 1);
    return failed_ ? 0 : value;
  }

  Bytes bytes_;
  u64 at_;
  bool failed_ = false;
};

u32 rotate_left(u32 value, unsigned by) { return value << by | value >> (32 - by); }

// Two interleaved hashes over the UTF-16 code units, or the bytes.
class NameHash {
public:
  void add_bytes(std::string_view utf8) {
    for (const char c : utf8)
      add_unit(static_cast<u8>(c));
  }
  void add(std::string_view utf8) {
    for (std::size_t i = 0; i < utf8.size();) {
      u32 c = static_cast<u8>(utf8[i++]);
      unsigned more = c >= 0xf0 ? 3 : c >= 0xe0 ? 2 : c >= 0xc0 ? 1 : 0;
      c &= more ? 0x3fu >> more : 0xffu;
      for (; more && i < utf8.size(); --more)
        c = c << 6 | (static_cast<u8>(utf8[i++]) & 0x3f);
      if (c >= 0x10000) {
        add_unit(0xd800 + ((c - 0x10000) >> 10));
        c = 0xdc00 + ((c - 0x10000) & 0x3ff);
      }
      add_unit(c);
    }
  }
  u32 value() const { return (hash_[0] + rotate_left(hash_[0], 8)) ^ (hash_[1] + rotate_left(hash_[1], 8)); }

private:
  void add_unit(u32 unit) {
    u32 &hash = hash_[count_++ & 1];
    hash = (hash + rotate_left(hash, 5)) ^ unit;
  }

  u32 hash_[2] = {0x6da3b944, 0};
  u64 count_ = 0;
};

// Hashes the outermost level, with its namespace.
u32 outer_hash(std::string_view name_space, std::string_view name, NativeHashing how) {
  NameHash hash;
  if (how == NativeHashing::whole) {
    if (!name_space.empty()) {
      hash.add(name_space);
      hash.add(".");
    }
    hash.add(name);
    return hash.value();
  }
  hash.add_bytes(name);
  if (name_space.empty())
    return hash.value();
  NameHash space;
  space.add_bytes(name_space);
  return space.value() ^ hash.value();
}

u32 combine(u32 hash, u32 with) { return (hash + rotate_left(hash, 13)) ^ with; }

// The first byte has the width of an offset in the low two bits, and above them the logarithm of the number of buckets.
// The buckets' offsets follow (one more than buckets), relative to the position after the first byte. A bucket is a
// list of pairs: a byte of the hash, and the distance to the entry, counted from where the distance itself is stored.
// An entry that cannot be read ends the table.
template <class Visit> void for_each_table_entry(Bytes table, Visit visit) {
  Reader header(table, 0);
  unsigned first = header.byte(), width = 1u << (first & 3), shift = first >> 2;
  if (header.failed() || width > 4 || shift > 31)
    return;
  auto offset = [&](u64 bucket) -> std::optional<u64> {
    u64 value = 0, at = 1 + bucket * width;
    if (at + width > table.size())
      return std::nullopt;
    for (unsigned i = 0; i < width; ++i)
      value |= u64{static_cast<u8>(table[at + i])} << (8 * i);
    return value + 1;
  };
  u64 entries_left = std::min<u64>(table.size(), most_entries);
  for (u64 bucket = 0; bucket < u64{1} << shift; ++bucket) {
    std::optional<u64> start = offset(bucket), end = offset(bucket + 1);
    if (!start || !end)
      return;
    for (Reader list(table, *start); list.at() < *end && entries_left > 0; --entries_left) {
      list.byte();
      u64 from = list.at();
      i64 at = static_cast<i64>(from) + list.signed_number();
      if (list.failed() || at < 0)
        return;
      Reader entry(table, static_cast<u64>(at));
      visit(entry);
      if (entry.failed())
        return;
    }
  }
}

} // namespace

NativeMetadata::NativeMetadata(Bytes blob, unsigned handle_bits) : handle_bits_(handle_bits) {
  if (load_at<u32>(blob, 0, ByteOrder::little) == signature)
    blob_ = blob;
}

std::optional<std::string_view> NativeMetadata::string(u64 offset) const {
  Reader reader(blob_, offset);
  u32 size = reader.number();
  if (reader.failed() || size > longest_name)
    return std::nullopt;
  Bytes text = slice(blob_, reader.at(), size);
  if (text.size() != size)
    return std::nullopt;
  return as_text(text);
}

// A record: the parent's handle and a name; the root has no name.
std::optional<std::string> NativeMetadata::name_space(u64 offset) const {
  std::string out;
  for (unsigned level = 0; level < most_levels; ++level) {
    Reader reader(blob_, offset);
    u32 parent = reader.number(), name = reader.number();
    if (reader.failed())
      return std::nullopt;
    std::optional<std::string_view> text = name ? string(name) : std::string_view();
    if (!text || out.size() > longest_name)
      return std::nullopt;
    if (text->empty())
      return out;
    out = std::string(*text) + (out.empty() ? "" : ".") + out;
    offset = parent >> handle_bits_;
  }
  return std::nullopt;
}

// `name` has its levels from the innermost out; they are reversed here. `space`: 0 if it is in no namespace.
std::optional<NativeTypeName> NativeMetadata::in_namespace(NativeTypeName name, u64 space) const {
  std::optional<std::string> found = space ? name_space(space) : std::string();
  if (!found)
    return std::nullopt;
  name.name_space = std::move(*found);
  std::reverse(name.levels.begin(), name.levels.end());
  return name;
}

// A record: flags, base type, namespace, name, size, packing, enclosing type.
std::optional<NativeTypeName> NativeMetadata::type_name(u64 offset) const {
  NativeTypeName out;
  while (out.levels.size() < most_levels) {
    Reader reader(blob_, offset);
    reader.number();
    reader.number();
    u32 space = reader.number(), name = reader.number();
    reader.number();
    reader.number();
    u32 enclosing = reader.number();
    std::optional<std::string_view> text = string(name);
    if (offset == 0 || reader.failed() || !text || text->empty())
      return std::nullopt;
    out.levels.push_back(*text);
    if (enclosing == 0)
      return in_namespace(std::move(out), space);
    offset = enclosing;
  }
  return std::nullopt;
}

// A record: the parent (a namespace or the enclosing type) and the name.
std::optional<NativeTypeName> NativeMetadata::reference_name(u64 offset) const {
  NativeTypeName out;
  while (out.levels.size() < most_levels) {
    Reader reader(blob_, offset);
    const u32 parent = reader.number(), name = reader.number();
    const std::optional<std::string_view> text = string(name);
    if (offset == 0 || reader.failed() || !text || text->empty())
      return std::nullopt;
    out.levels.push_back(*text);
    offset = parent >> handle_bits_;
    if (kind_of(parent) == NativeHandleKind::type_reference)
      continue;
    return in_namespace(std::move(out), offset);
  }
  return std::nullopt;
}

// A record: flags, flags of its code, name.
std::optional<std::string_view> NativeMetadata::method_name(u64 offset) const {
  Reader reader(blob_, offset);
  reader.number();
  reader.number();
  const u32 name = reader.number();
  return offset == 0 || reader.failed() ? std::nullopt : string(name);
}

std::optional<NativeTypeName> NativeMetadata::kind_name(NativeHandleKind kind, u64 offset) const {
  if (kind == NativeHandleKind::type_definition)
    return type_name(offset);
  return kind == NativeHandleKind::type_reference ? reference_name(offset) : std::nullopt;
}

// Follows a specification to its instantiation, and an instantiation to the generic type.
std::optional<NativeTypeName> NativeMetadata::token_name(u32 token) const {
  NativeHandleKind kind = static_cast<NativeHandleKind>(token >> (32 - handle_bits_));
  u32 offset = token & ((u32{1} << (32 - handle_bits_)) - 1);
  for (const NativeHandleKind inner : {NativeHandleKind::type_specification, NativeHandleKind::type_instantiation}) {
    if (kind != inner)
      continue;
    Reader reader(blob_, offset);
    const u32 next = reader.number();
    if (offset == 0 || reader.failed())
      return std::nullopt;
    kind = kind_of(next);
    offset = next >> handle_bits_;
  }
  return kind_name(kind, offset);
}

std::string NativeTypeName::format(std::span<const std::string> arguments) const {
  std::vector<TypeNamePart> parts;
  for (std::string_view level : levels)
    parts.push_back(marked_type_name_part(parts.empty() ? name_space : std::string_view(), level));
  return format_type_name(parts, arguments);
}

u32 native_type_hash(const NativeTypeName &name, NativeHashing how) {
  u32 out = 0;
  for (u64 i = 0; i < name.levels.size(); ++i) {
    if (i == 0) {
      out = outer_hash(name.name_space, name.levels[i], how);
      continue;
    }
    NameHash hash;
    if (how == NativeHashing::whole)
      hash.add(name.levels[i]);
    else
      hash.add_bytes(name.levels[i]);
    out = (out + rotate_left(out, 11)) ^ hash.value();
  }
  return out;
}

// An array hashes like an instantiation of a generic type that exists only for this purpose; since .NET 11, a number
// takes the place of that type's hash.
u32 native_array_hash(u32 element, u32 rank, bool is_vector, NativeHashing how) {
  constexpr u32 rank_0 = 0xd5313556;
  NameHash type;
  type.add(is_vector ? "System.Array`1" : "System.MDArrayRank" + std::to_string(rank) + "`1");
  return native_instance_hash(how == NativeHashing::whole ? type.value() : rank_0 + rank, {&element, 1});
}

u32 native_instance_hash(u32 definition, std::span<const u32> arguments) {
  u32 hash = definition;
  for (u32 argument : arguments)
    hash = combine(hash, argument);
  return hash + rotate_left(hash, 15);
}

std::vector<NativeMapEntry> native_map_entries(Bytes table) {
  std::vector<NativeMapEntry> out;
  for_each_table_entry(table, [&](Reader &entry) {
    const u32 index = entry.number(), handle = entry.number();
    if (!entry.failed())
      out.push_back({index, handle});
  });
  return out;
}

// An entry: flags; the method's record or name; index of the declaring type; index of the code, if has_entry_point.
std::vector<NativeInvokeEntry> native_invoke_entries(Bytes table) {
  constexpr u32 has_metadata = 4, has_entry_point = 32;
  std::vector<NativeInvokeEntry> out;
  for_each_table_entry(table, [&](Reader &entry) {
    const u32 flags = entry.number(), method = entry.number(), owner = entry.number();
    const u32 entry_point = flags & has_entry_point ? entry.number() : 0;
    if (!entry.failed() && (flags & has_metadata) && (flags & has_entry_point))
      out.push_back({method, owner, entry_point});
  });
  return out;
}

// The table: the number of methods; then for each a command (a byte that shows which values differ from the method
// before), these values, and where the method's code begins.
std::vector<NativeMethod> native_methods(Bytes table) {
  enum : u8 { other_owner = 1, other_name = 2, other_signature = 4, other_generic_signature = 8, hidden = 16 };
  constexpr u8 all = 31;
  const std::optional<u32> count = load_at<u32>(table, 0, ByteOrder::little);
  Reader reader(table, 4);
  auto word = [&] {
    u32 out = 0;
    for (unsigned i = 0; i < 4; ++i)
      out |= u32{reader.byte()} << (8 * i);
    return out;
  };
  std::vector<NativeMethod> out;
  NativeMethod method;
  while (count && reader.at() < table.size() && out.size() < most_entries) {
    const u8 command = reader.byte();
    if (command & other_owner)
      method.owner = word();
    if (command & other_name)
      method.name = reader.number();
    if (command & other_signature)
      reader.number();
    if (command & other_generic_signature) {
      reader.number();
      reader.number();
    }
    const u64 from = reader.at();
    method.code = static_cast<i64>(from) + static_cast<i32>(word());
    if (reader.failed() || (command & ~all))
      return {};
    out.push_back(method);
  }
  if (out.size() != count)
    return {};
  return out;
}

} // namespace dnheap
