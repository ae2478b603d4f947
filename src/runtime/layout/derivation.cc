#include "runtime/layout/derivation.h"

#include "base/text.h"
#include "image/module_image.h"

#include <algorithm>
#include <charconv>

namespace dnheap {

namespace {

// Generated at build time from shipped/*.layout: pairs of name and text.
extern "C" const char *const dnheap_shipped_layouts[];

std::string list_text(const std::vector<i64> &values) {
  std::string out;
  for (u64 i = 0; i < values.size() && i < 8; ++i)
    out += (i ? ", " : "") + std::to_string(values[i]);
  if (values.size() > 8)
    out += ", …";
  return values.empty() ? "none" : out;
}

// Returns the memory in which the runtime's module keeps addresses: its writable sections. If its headers are missing,
// or the loader changes constants as well: the whole module and what may follow as .bss. Memory that is not in the dump
// has no range.
std::vector<Range> data_of(const Memory &memory, const Module &module) {
  if (std::optional<ModuleImage> image = ModuleImage::at(memory, module.base);
      image && !image->relocates_constants() && image->has_writable_sections())
    return image->writable_bytes(memory);
  const Address end = add_clamped(module.end(), 1 << 20);
  std::vector<Range> out;
  for (const Range &range : memory.ranges()) {
    Address from = std::max(module.base, range.address), to = std::min(end, range.end());
    if (from < to)
      out.push_back({from, memory.fetched(range.bytes.subspan(from - range.address, to - from))});
  }
  return out;
}

} // namespace

ShippedTable parse_shipped_table(const std::string &name, std::string_view text) {
  ShippedTable out;
  out.name = name;
  while (!text.empty()) {
    std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
    line = line.substr(0, line.find('#'));
    std::size_t first = line.find_first_not_of(" \t\r");
    if (first == line.npos)
      continue;
    line = line.substr(first, line.find_last_not_of(" \t\r") - first + 1);
    std::size_t space = line.find(' ');
    std::string_view key = line.substr(0, space), number = space == line.npos ? "" : line.substr(space + 1);
    i64 value = 0;
    auto [stop, error] = std::from_chars(number.data(), number.data() + number.size(), value);
    if (error != std::errc() || stop != number.data() + number.size() || number.empty())
      throw Error("layout table " + name + ": malformed line: " + std::string(line));
    if (key == "pointer_size")
      out.pointer_size = static_cast<unsigned>(value);
    else
      out.values[std::string(key)] = value;
  }
  return out;
}

const std::vector<ShippedTable> &shipped_tables() {
  static const std::vector<ShippedTable> tables = [] {
    std::vector<ShippedTable> out;
    for (const char *const *at = dnheap_shipped_layouts; *at; at += 2)
      out.push_back(parse_shipped_table(at[0], at[1]));
    return out;
  }();
  return tables;
}

Derivation::Derivation(const Target &t, const Module &m, ContractDescriptor &d, std::span<const ShippedTable> tables)
    : target(t), memory(t.memory), module(m), pointer_size(t.format().pointer_size), descriptor(d), tables_(tables),
      data_(data_of(t.memory, m)) {
  memory.as_searched([&] {
    for (const Range &range : data_)
      memory.note_read(range.address, range.bytes.size());
  });
}

std::vector<i64> Derivation::table_values(const std::string &name) const {
  std::vector<i64> out;
  for (const ShippedTable &table : tables_)
    if (auto it = table.values.find(name); table.pointer_size == pointer_size && it != table.values.end())
      if (std::find(out.begin(), out.end(), it->second) == out.end())
        out.push_back(it->second);
  return out;
}

bool Derivation::choose(const std::string &type, const std::string &field,
                        const std::function<std::vector<i64>()> &discover, const Predicate &passes,
                        const std::string &predicate, const Answers &leads_to) {
  std::string name = type + "." + field;
  std::string tried;
  const std::optional<i64> published = descriptor.try_offset(type, field);
  auto is_found = [&](i64 offset) { // counts the reads for this offset, but not those for rejected ones
    memory.as_found([&] { passes(offset); });
    return true;
  };
  if (published && !passes(*published).fails())
    return is_found(*published);
  std::vector<i64> found;
  memory.as_searched([&] {
    found = discover();
    std::erase_if(found, [&](i64 offset) { return !passes(offset).passes(); });
  });
  if (published) {
    descriptor.doubted[name] = "published " + std::to_string(*published) + ", discovered " + list_text(found) +
                               "; the published one fails the test: " + predicate;
    return true;
  }
  if (found.size() > 1 && leads_to) {
    const std::vector<u64> first = leads_to(found[0]);
    auto agrees = [&](i64 offset) { return !first.empty() && leads_to(offset) == first; };
    if (std::all_of(found.begin() + 1, found.end(), agrees))
      found.resize(1);
  }
  if (found.size() == 1) {
    descriptor.set_field(type, field, found[0], Origin::discovered);
    return is_found(found[0]);
  }
  tried += "discovered " + list_text(found) + "; ";
  if (found.empty()) {
    std::vector<i64> values = table_values(name);
    for (i64 offset : values)
      if (bool fits = false; memory.as_searched([&] { fits = passes(offset).passes(); }), fits) {
        descriptor.set_field(type, field, offset, Origin::table);
        return is_found(offset);
      }
    tried += "tables " + list_text(values) + "; ";
  }
  descriptor.missing[name] = tried + "exactly one must pass: " + predicate;
  return false;
}

bool Derivation::table_fits(const std::string &name, i64 value, std::initializer_list<const char *> others) const {
  auto has = [](const ShippedTable &table, std::string_view field, std::optional<i64> known) {
    auto it = table.values.find(field);
    return it != table.values.end() && known == it->second;
  };
  auto is_known = [&](const ShippedTable &table, std::string_view field) {
    const std::size_t dot = field.find('.');
    return has(table, field, descriptor.try_offset(field.substr(0, dot), field.substr(dot + 1)));
  };
  return std::any_of(tables_.begin(), tables_.end(), [&](const ShippedTable &table) {
    return table.pointer_size == pointer_size && has(table, name, value) &&
           std::all_of(others.begin(), others.end(), [&](const char *field) { return is_known(table, field); });
  });
}

i64 Derivation::fixed(const std::string &type, const std::string &field, i64 offset) {
  if (std::optional<i64> known = descriptor.try_offset(type, field))
    return *known;
  descriptor.set_field(type, field, offset, Origin::discovered);
  return offset;
}

// A block of glibc's allocator (malloc/malloc.c, malloc_chunk) begins a word before the program's part. That word is
// the block's size with three flags: bit 0 means that the block before it is in use, bit 1 that the block has a mapping
// of its own, bit 2 that it is of another arena. So the next block has bit 0 set. Memory of other allocators does not
// continue like that.
u64 Derivation::room(Address structure, u64 most) const {
  constexpr u64 flags = 7, previous_in_use = 1, mapped = 2;
  const u64 unit = 2 * pointer_size;
  Address at = structure - pointer_size;
  u64 own = 0;
  for (u64 i = 0; i < 3; ++i) {
    const std::optional<u64> header = word(at);
    if (!header && i == 2) // the last one may be the allocator's unused rest
      break;
    const u64 size = header.value_or(0) & ~flags;
    if (size < 2 * unit || size % unit || (*header & mapped) || (i == 1 && !(*header & previous_in_use)))
      return most;
    own = i ? own : size;
    at += size;
  }
  return std::min(most, own - pointer_size);
}

namespace {

// Calls visit(address, word) for each word of the ranges, until it returns false.
template <class Visit> void for_each_word(std::span<const Range> ranges, Format format, Visit visit) {
  const u64 size = format.pointer_size;
  for (const Range &range : ranges)
    for (u64 at = align_up(range.address, size) - range.address; at + size <= range.bytes.size(); at += size)
      if (!visit(range.address + at, load_pointer(range.bytes.data() + at, format)))
        return;
}

} // namespace

void Derivation::scan_data(const std::function<void(Address, u64)> &visit) const {
  for_each_word(data_, memory.format(), [&](Address at, u64 word) {
    visit(at, word);
    return true;
  });
}

std::optional<Address> Derivation::find_last_in_data(u64 value) const {
  std::optional<Address> out;
  for_each_word(data_, memory.format(), [&](Address at, u64 word) {
    if (word == value)
      out = at;
    return true;
  });
  return out;
}

std::vector<i64> Derivation::offsets(i64 first, i64 end, i64 step) {
  std::vector<i64> out;
  for (i64 at = first; at < end; at += step)
    out.push_back(at);
  return out;
}

std::vector<i64> Derivation::search(i64 first, i64 end, i64 step, const Predicate &passes) const {
  std::vector<i64> out;
  memory.as_searched([&] {
    for (i64 at = first; at < end; at += step)
      if (passes(at).passes())
        out.push_back(at);
  });
  memory.as_found([&] { std::for_each(out.begin(), out.end(), passes); });
  return out;
}

std::optional<u64> Derivation::follow(Address address, std::initializer_list<i64> offsets) const {
  for (i64 offset : offsets) {
    std::optional<u64> next = word(address + static_cast<u64>(offset));
    if (!next || *next == 0)
      return std::nullopt;
    address = *next;
  }
  return address;
}

} // namespace dnheap
