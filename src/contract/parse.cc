#include "contract/parse.h"

#include "base/digits.h"
#include "base/json.h"
#include "base/text.h"

#include <set>

namespace dnheap {

namespace {

constexpr u64 max_json_size = 16 << 20;
constexpr u64 max_pointers = 65536;
constexpr u64 max_sub_descriptors = 64;

// Blanks out // and /* */ comments and commas before a closing bracket ("JSON with comments"), strings untouched.
std::string strip_comments(std::string_view text) {
  std::string out(text);
  std::size_t comma = out.npos; // the last comma, if only blanks follow it so far
  for (std::size_t i = 0; i < out.size(); ++i) {
    char c = out[i];
    if (c == '"') {
      for (++i; i < out.size() && out[i] != '"'; ++i)
        if (out[i] == '\\')
          ++i;
      comma = out.npos;
    } else if (c == '/' && i + 1 < out.size() && (out[i + 1] == '/' || out[i + 1] == '*')) {
      std::size_t end = out[i + 1] == '/' ? out.find('\n', i) : out.find("*/", i + 2);
      if (end == out.npos)
        end = out.size();
      else if (out[i + 1] == '*')
        end += 2;
      std::fill(out.begin() + static_cast<i64>(i), out.begin() + static_cast<i64>(end), ' ');
      i = end - 1;
    } else if (c == ',') {
      comma = i;
    } else if (c == '}' || c == ']') {
      if (comma != out.npos)
        out[comma] = ' ';
      comma = out.npos;
    } else if (c != ' ' && c != '\t' && c != '\n' && c != '\r') {
      comma = out.npos;
    }
  }
  return out;
}

// Parses "12", "-12", "0x1f", "-0x1f"; negative numbers are returned in two's complement.
std::optional<u64> number_of_text(std::string_view text) {
  bool negative = text.starts_with('-');
  if (negative)
    text.remove_prefix(1);
  int base = 10;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    base = 16;
    text.remove_prefix(2);
  }
  const std::optional<u64> value = number_of_digits(text, base);
  return value && negative ? ~*value + 1 : value;
}

std::optional<u64> number_of(const Json &value) {
  if (value.is_integer())
    return value.integer();
  if (value.is_text())
    return number_of_text(value.text());
  return std::nullopt;
}

std::string in_quotes(const std::string &name) { return "\"" + printable(name, 100) + "\""; }

// Parses a field: 16 | "0x10" | [16, "type"]
Field field_of(const std::string &type, const std::string &name, const Json &value) {
  const bool has_type = value.is_list() && value.list().size() == 2 && value.at(1).is_text();
  const Json &offset = has_type ? value.at(0) : value;
  std::optional<u64> number = number_of(offset);
  i64 signed_offset = number ? static_cast<i64>(*number) : 0;
  if (!number || signed_offset < INT32_MIN || signed_offset > INT32_MAX)
    throw Error("field " + in_quotes(name) + " of type " + in_quotes(type) + " is not an offset");
  return {signed_offset, has_type ? value.at(1).text() : "", Origin::published};
}

std::optional<u32> size_of(const std::string &type, const Json &value) {
  if (value.is_text() && (value.text() == "indeterminate" || value.text() == "unknown"))
    return std::nullopt;
  std::optional<u64> number = number_of(value);
  if (!number || *number > INT32_MAX)
    throw Error("the size of type " + in_quotes(type) + " is not a size");
  return static_cast<u32>(*number);
}

// Parses a global: V | [i] | [V, "type"] | [[i], "type"]
Global global_of(const std::string &name, const Json &value, std::span<const u64> pointers) {
  auto bad = [&] { return Error("global " + in_quotes(name) + " is neither a value nor a pointer"); };
  Global out;
  const Json *inner = &value;
  if (value.is_list() && value.list().size() == 2) {
    if (!value.at(1).is_text())
      throw bad();
    out.type = value.at(1).text();
    inner = &value.at(0);
  }
  if (inner->is_list()) {
    std::optional<u64> index = inner->list().size() == 1 ? number_of(inner->at(0)) : std::nullopt;
    if (!index)
      throw bad();
    if (*index >= pointers.size())
      throw Error("global " + in_quotes(name) + " uses pointer " + std::to_string(*index) + " of " +
                  std::to_string(pointers.size()));
    out.indirect = true;
    out.number = pointers[*index];
    return out;
  }
  if (!inner->is_text() && !inner->is_integer())
    throw bad();
  out.number = number_of(*inner);
  if (inner->is_text())
    out.text = inner->text();
  return out;
}

// Returns null (as JSON) if there is no such member.
const Json &member(const Json &object, const char *name) {
  static const Json none;
  const Json *found = object.find(name);
  return found ? *found : none;
}

// Returns a list's entries; null counts as an empty list.
const Json::List &entries(const Json &list, const char *what) {
  static const Json::List none;
  if (list.is_null())
    return none;
  if (!list.is_list())
    throw Error(std::string("its ") + what + " are not a list");
  return list.list();
}

std::string name_in(const Json &entry, const char *what) {
  const Json &name = member(entry, "name");
  if (!name.is_text())
    throw Error(std::string("a ") + what + " in regular form has no name");
  return name.text();
}

void add_type(ContractDescriptor &to, const std::string &name, DataType type) {
  if (!to.types.emplace(name, std::move(type)).second)
    throw Error("type " + in_quotes(name) + " is given twice");
}

void add_global(ContractDescriptor &to, const std::string &name, Global global) {
  if (!to.globals.emplace(name, std::move(global)).second)
    throw Error("global " + in_quotes(name) + " is given twice");
}

void add_contract(ContractDescriptor &to, const std::string &name, const std::string &version) {
  if (!to.contracts.emplace(name, version).second)
    throw Error("contract " + in_quotes(name) + " is given twice");
  to.contract_origin[name] = Origin::published;
}

std::string contract_version(const std::string &name, const Json &version) {
  if (version.is_unsigned())
    return "c" + std::to_string(version.number());
  if (version.is_text())
    return version.text();
  throw Error("the version of contract " + in_quotes(name) + " is neither a number nor a string");
}

// Compact form: {"T": {"!": size, "Field": …}}.
void add_compact_types(ContractDescriptor &to, const Json &types) {
  for (const auto &[name, body] : types.members()) {
    if (!body.is_object())
      throw Error("type " + in_quotes(name) + " is not an object");
    DataType type;
    for (const auto &[field, value] : body.members()) {
      if (field == "!")
        type.size = size_of(name, value);
      else
        type.fields.emplace(field, field_of(name, field, value));
    }
    add_type(to, name, std::move(type));
  }
}

// Regular form: [{"name": "T", "size": n, "fields": [{"name", "type", "offset"}]}].
void add_regular_types(ContractDescriptor &to, const Json &types) {
  for (const Json &entry : entries(types, "types")) {
    std::string name = name_in(entry, "type");
    DataType type;
    if (const Json *size = entry.find("size"))
      type.size = size_of(name, *size);
    for (const Json &field : entries(member(entry, "fields"), "fields")) {
      std::string field_name = name_in(field, "field");
      const Json &offset = member(field, "offset");
      if (offset.is_text() && offset.text() == "unknown")
        continue;
      Field parsed = field_of(name, field_name, offset);
      if (const Json &field_type = member(field, "type"); field_type.is_text())
        parsed.type = field_type.text();
      if (!type.fields.emplace(field_name, parsed).second)
        throw Error("field " + in_quotes(field_name) + " of type " + in_quotes(name) + " is given twice");
    }
    add_type(to, name, std::move(type));
  }
}

void add_globals(ContractDescriptor &to, const Json &globals, std::span<const u64> pointers) {
  if (globals.is_object()) {
    for (const auto &[name, value] : globals.members())
      add_global(to, name, global_of(name, value, pointers));
    return;
  }
  for (const Json &entry : entries(globals, "globals")) {
    std::string name = name_in(entry, "global");
    Global global = global_of(name, member(entry, "value"), pointers);
    if (const Json &type = member(entry, "type"); type.is_text())
      global.type = type.text();
    add_global(to, name, std::move(global));
  }
}

void merge(ContractDescriptor &to, ContractDescriptor &&from) {
  for (auto &[name, type] : from.types)
    add_type(to, name, std::move(type));
  for (auto &[name, global] : from.globals)
    add_global(to, name, std::move(global));
  for (auto &[name, version] : from.contracts)
    add_contract(to, name, version);
}

// The struct at the head of a descriptor; offsets in contract-descriptor.md, "Contract descriptor".
struct Header {
  u32 flags = 0, json_size = 0, pointer_count = 0;
  Address json = 0, pointers = 0;
};

std::optional<Header> read_header(const Memory &memory, Address address) {
  u64 p = memory.format().pointer_size;
  std::optional<u64> magic = memory.try_load<u64>(address);
  if (!magic || *magic != descriptor_magic)
    return std::nullopt;
  auto flags = memory.try_load<u32>(address + 8), size = memory.try_load<u32>(address + 12),
       count = memory.try_load<u32>(address + 16 + p);
  auto json = memory.try_pointer(address + 16), pointers = memory.try_pointer(address + 24 + p);
  if (!flags || !size || !count || !json || !pointers)
    return std::nullopt;
  return Header{*flags, *size, *count, *json, *pointers};
}

std::vector<u64> read_pointers(const Memory &memory, const Header &header) {
  if (header.pointer_count > max_pointers)
    throw Error("it claims " + std::to_string(header.pointer_count) + " pointers");
  std::vector<u64> out(header.pointer_count);
  for (u64 i = 0; i < out.size(); ++i)
    out[i] = memory.pointer(header.pointers + i * memory.format().pointer_size, "its pointer data");
  return out;
}

class Parser {
public:
  explicit Parser(const Memory &memory) : memory_(memory) {}

  ContractDescriptor parse(Address address, const std::string &name) {
    try {
      return parse_unnamed(address, name);
    } catch (const Error &e) {
      std::string what = e.what();
      if (what.starts_with("contract descriptor"))
        throw;
      throw Error("contract descriptor " + (name.empty() ? "" : name + " ") + "at " + hex(address) + ": " + what);
    }
  }

private:
  ContractDescriptor parse_unnamed(Address address, const std::string &name) {
    std::optional<Header> header = read_header(memory_, address);
    if (!header)
      throw Error("no descriptor lies there");
    u32 expected = memory_.format().pointer_size == 4 ? 3 : 1;
    if ((header->flags & 3) != expected)
      throw Error("its flags " + hex(header->flags) + " do not fit a " +
                  std::to_string(memory_.format().pointer_size * 8) + "-bit target");
    if (header->json_size == 0 || header->json_size > max_json_size)
      throw Error("it claims " + std::to_string(header->json_size) + " bytes of JSON");
    std::string json(header->json_size, '\0');
    if (!memory_.read(header->json, std::as_writable_bytes(std::span(json))))
      throw Error("its JSON at " + hex(header->json) + " is not in this dump");
    ParsedJson parsed = parse_descriptor_json(json, read_pointers(memory_, *header));

    ContractDescriptor out = std::move(parsed.descriptor);
    out.sources.push_back(
        {name, address, header->json, header->json_size, parsed.version, parsed.baseline, header->pointer_count, ""});
    seen_.insert(address);
    for (const auto &[sub, variable] : parsed.sub_descriptors)
      add_sub_descriptor(out, sub, variable);
    return out;
  }

  // `variable` is the address of a pointer to another descriptor, which is null as long as the runtime has none.
  void add_sub_descriptor(ContractDescriptor &to, const std::string &name, Address variable) {
    auto absent = [&](const std::string &why) {
      DescriptorSource source;
      source.name = name;
      source.problem = why;
      to.sources.push_back(source);
    };
    std::optional<u64> address = variable ? memory_.try_pointer(variable) : std::nullopt;
    if (!variable)
      return absent("its variable has no address");
    if (!address)
      return absent("its variable at " + hex(variable) + " is not in this dump");
    if (!*address)
      return absent("the runtime has not set it");
    if (!seen_.insert(*address).second)
      throw Error("sub-descriptor " + in_quotes(name) + " is given twice or contains itself");
    if (seen_.size() > max_sub_descriptors)
      throw Error("it has more than " + std::to_string(max_sub_descriptors) + " sub-descriptors");
    if (!memory_.try_pointer(*address))
      return absent("the descriptor at " + hex(*address) + " is not in this dump");
    ContractDescriptor sub = parse(*address, name);
    to.sources.insert(to.sources.end(), sub.sources.begin(), sub.sources.end());
    merge(to, std::move(sub));
  }

  const Memory &memory_;
  std::set<Address> seen_;
};

} // namespace

bool is_descriptor(const Memory &memory, Address address) {
  std::optional<Header> header = read_header(memory, address);
  return header && (header->flags & 1) && header->json_size && header->json_size <= max_json_size && header->json;
}

std::vector<DescriptorExtent> descriptor_extents(const Memory &memory, Address address) {
  std::optional<Header> header = read_header(memory, address);
  if (!header || header->json_size > max_json_size || header->pointer_count > max_pointers)
    return {};
  u64 p = memory.format().pointer_size;
  return {{address, 24 + 2 * p}, {header->json, header->json_size}, {header->pointers, header->pointer_count * p}};
}

ParsedJson parse_descriptor_json(std::string_view json, std::span<const u64> pointer_data) {
  const Json root = parse_json(strip_comments(json));
  if (!root.is_object())
    throw Error("its JSON is not an object");
  ParsedJson out;
  const Json *stated = root.find("version");
  std::optional<u64> version = stated ? number_of(*stated) : std::nullopt;
  if (!version || (*version != 0 && *version != 2))
    throw Error((stated ? "its JSON is of version " + printable(stated->shown(), 40) : "its JSON states no version") +
                "; this program reads versions 0 and 2");
  out.version = *version;
  if (const Json &baseline = member(root, "baseline"); baseline.is_text())
    out.baseline = baseline.text();
  if (!out.baseline.empty() && out.baseline != "empty")
    throw Error("it builds on the baseline " + in_quotes(out.baseline) + ", which this program does not know");

  const Json &types = member(root, "types");
  types.is_object() ? add_compact_types(out.descriptor, types) : add_regular_types(out.descriptor, types);
  add_globals(out.descriptor, member(root, "globals"), pointer_data);
  if (const Json *contracts = root.find("contracts")) {
    if (!contracts->is_object())
      throw Error("in its JSON, \"contracts\" is not a JSON object");
    for (const auto &[name, value] : contracts->members())
      add_contract(out.descriptor, name, contract_version(name, value));
  }
  if (const Json *subs = root.find("subDescriptors")) {
    if (!subs->is_object())
      throw Error("in its JSON, \"subDescriptors\" is not a JSON object");
    for (const auto &[name, value] : subs->members()) {
      Global global = global_of(name, value, pointer_data);
      if (!global.indirect)
        throw Error("sub-descriptor " + in_quotes(name) + " is not a pointer");
      out.sub_descriptors.emplace_back(name, *global.number);
    }
  }
  return out;
}

ContractDescriptor parse_descriptor(const Memory &memory, Address address) { return Parser(memory).parse(address, ""); }

} // namespace dnheap
