#include "base/text.h"
#include "runtime/nativeaot/method_table_flags.h"
#include "runtime/nativeaot/runtime_type_system_n1.h"

#include <algorithm>
#include <set>

// RuntimeTypeSystemN1, second part: names, and the definitions and arguments of generic types.
namespace dnheap {

namespace {

enum : u32 {
  element_boolean = 0x02,
  element_class = 0x14,
  element_array = 0x17,
  element_vector = 0x18,
  element_by_ref = 0x19,
  element_pointer = 0x1a
};

constexpr u32 most_arguments = 1024;
constexpr unsigned most_depth = 64;
constexpr u64 most_kept = 64 << 20, longest_name = 16384;
constexpr u64 most_parts = 4096; // types in one name
constexpr u64 largest_section = 256 << 20;

constexpr const char *why_lost =
    "the module's metadata types that are not in this dump: give the folder of the program's file with "
    "--modules";

} // namespace

// Every class leads to System.Object, whose hash shows which hash function the program uses.
void RuntimeTypeSystemN1::find_hashing(Address mt) {
  for (unsigned depth = 0; mt && depth < most_depth && !hashing_; ++depth, mt = related(mt))
    if (is_root(mt))
      for (const NativeHashing how : {NativeHashing::whole, NativeHashing::parts})
        if (load(mt, at_.hash) == native_type_hash({"System", {"Object"}}, how))
          hashing_ = how;
}

std::optional<NativeHashing> RuntimeTypeSystemN1::hashing(Address mt) {
  find_hashing(mt);
  return hashing_;
}

// Names such types as CoreCLR does: by how many bytes they add to their parent, and which of them are references.
std::string RuntimeTypeSystemN1::made_up_name(Address mt, u32 base_size) {
  if (!is_continuation(mt))
    return fail("types that the compiler made up to hold static fields: they have no name");
  const u64 before = load(related(mt), at_.base_size).value_or(base_size), data = before - p_;
  std::string out = "Continuation_" + std::to_string(base_size - before);
  for (const Series &s : series_of(mt, base_size))
    if (s.offset >= data)
      out += "_" + std::to_string(s.offset - data) + "_" + std::to_string(s.size / p_);
  return out;
}

Bytes RuntimeTypeSystemN1::section(u32 id) {
  ReadyToRun::Section s = ready_to_run_.section(id);
  u64 size = s.end - s.start;
  if (size == 0 || size > largest_section || memory_->known_bytes(s.start, s.end) < size)
    return {};
  if (Bytes whole = memory_->view(s.start, size); !whole.empty())
    return whole;
  std::vector<std::byte> copy(size);
  if (!memory_->read(s.start, copy))
    return {};
  return copies_.emplace_back(std::move(copy));
}

void RuntimeTypeSystemN1::read_map() {
  map_read_ = true;
  Bytes metadata = section(ReadyToRun::embedded_metadata);
  std::vector<NativeMapEntry> entries = native_map_entries(section(ReadyToRun::type_map));
  // Finds how many bits of a handle are its kind: with the wrong number, hardly any entry has a possible kind.
  auto kind = [](u32 handle, unsigned bits) { return static_cast<NativeHandleKind>(handle >> (32 - bits)); };
  auto fitting = [&](unsigned bits) {
    return std::count_if(entries.begin(), entries.end(), [&](const NativeMapEntry &e) {
      return kind(e.handle, bits) == NativeHandleKind::type_definition;
    });
  };
  const unsigned bits = fitting(8) >= fitting(7) ? 8 : 7;
  metadata_ = NativeMetadata(metadata, bits);
  for (const NativeMapEntry &entry : entries) {
    if (kind(entry.handle, bits) != NativeHandleKind::type_definition)
      continue;
    if (const Address mt = fixup(entry.index))
      definitions_.emplace(mt, entry.handle & ((u32{1} << (32 - bits)) - 1));
  }
}

bool RuntimeTypeSystemN1::has_continuations() {
  if (!map_read_)
    read_map();
  return std::any_of(definitions_.begin(), definitions_.end(),
                     [&](const auto &definition) { return is_continuation_parent(definition.first); });
}

void RuntimeTypeSystemN1::read_methods() {
  methods_read_ = true;
  if (!map_read_)
    read_map();
  const Address table = ready_to_run_.start_of(ReadyToRun::stack_trace_methods);
  for (const NativeMethod &method : native_methods(section(ReadyToRun::stack_trace_methods)))
    methods_.emplace(table + static_cast<u64>(method.code), method);
  for (const NativeInvokeEntry &entry : native_invoke_entries(section(ReadyToRun::invoke_map)))
    reflected_methods_.emplace(fixup(entry.entry_point), std::pair(fixup(entry.owner), entry.method));
}

// The section has distances of four bytes.
Address RuntimeTypeSystemN1::fixup(u32 index) const {
  const ReadyToRun::Section fixups = ready_to_run_.section(ReadyToRun::common_fixups);
  const Address at = fixups.start + u64{index} * 4;
  const std::optional<u32> distance = at + 4 <= fixups.end ? memory_->try_load<u32>(at) : std::nullopt;
  return distance ? at + static_cast<u64>(i64{static_cast<i32>(*distance)}) : 0;
}

std::optional<std::string> RuntimeTypeSystemN1::method_name(Address code) {
  if (!methods_read_)
    read_methods();
  const auto method = methods_.find(code);
  if (method == methods_.end()) {
    const auto reflected = reflected_methods_.find(code);
    if (reflected == reflected_methods_.end() || !object_layout(reflected->second.first))
      return std::nullopt;
    const std::optional<std::string_view> name = metadata_.method_name(reflected->second.second);
    return name && !name->empty() ? std::optional(this->name(reflected->second.first) + "." + std::string(*name))
                                  : std::nullopt;
  }
  const std::optional<NativeTypeName> owner = metadata_.token_name(method->second.owner);
  const std::optional<std::string_view> name = metadata_.string(method->second.name);
  if (!owner || !name || name->empty())
    return std::nullopt;
  return owner->format({}) + "." + std::string(*name);
}

std::string RuntimeTypeSystemN1::place(Address address) const {
  return in_module(address) ? std::string(module_->file_name()) + "!" + hex(address - start_) : hex(address);
}

std::string RuntimeTypeSystemN1::fail(const char *why) {
  ++problems_[why];
  return "";
}

// Returns the name of a type definition, if it has the hash of the type.
std::optional<NativeTypeName> RuntimeTypeSystemN1::definition(Address mt) {
  const std::optional<u32> hash = load(mt, at_.hash);
  if (auto it = definitions_.find(mt); it != definitions_.end())
    if (std::optional<NativeTypeName> out = metadata_.type_name(it->second);
        out && hashing_ && hash == native_type_hash(*out, *hashing_))
      return out;
  std::optional<std::string_view> symbol = symbols_.type_at(mt);
  if (!symbol || !hash || !hashing_)
    return std::nullopt;
  auto [it, is_new] = unmangled_.try_emplace(mt);
  if (is_new)
    it->second = unmangle_type_name(*symbol, *hash, *hashing_, steps_left_);
  return it->second ? std::optional(it->second->view()) : std::nullopt;
}

std::string RuntimeTypeSystemN1::name_or_place(Address mt, unsigned depth) {
  std::string name;
  if (depth <= most_depth && parts_left_ > 0) {
    --parts_left_;
    name = find_name(mt, depth);
  }
  // Even the mangled name says more than an address.
  if (std::optional<std::string_view> symbol = name.empty() ? symbols_.type_at(mt) : std::nullopt)
    name = *symbol;
  if (name.empty() || name.size() > longest_name)
    name = in_module(mt) ? place(mt) : "<unknown type " + hex(mt) + ">";
  return name;
}

std::optional<bool> RuntimeTypeSystemN1::is_value_type(Address mt) const {
  const std::optional<u32> flags = load(mt, at_.flags);
  const u32 element = (flags.value_or(0) & element_type_mask_) >> element_type_shift_;
  return element < element_boolean ? std::nullopt : std::optional(element < element_class);
}

// Builds the name from the element's name and the rank: the base size has two lengths per dimension.
std::string RuntimeTypeSystemN1::array_name(Address mt, u32 flags, unsigned depth) {
  u32 kind = (flags & element_type_mask_) >> element_type_shift_;
  Address element = related(mt);
  std::string name = name_or_place(element, depth + 1);
  if (kind == element_pointer || kind == element_by_ref)
    return name + (kind == element_pointer ? "*" : "&");
  u64 dimensions = (load(mt, at_.base_size).value_or(0) - 3 * p_) / 8;
  bool is_vector = kind == element_vector;
  u32 rank = is_vector ? 1 : static_cast<u32>(dimensions);
  if ((kind != element_array && !is_vector) || rank == 0 || rank > 32)
    return fail("types derived from another one in a way that this program does not know");
  const NativeHashing how = hashing_.value_or(NativeHashing::whole);
  if (load(mt, at_.hash) != native_array_hash(load(element, at_.hash).value_or(0), rank, is_vector, how))
    return fail("arrays whose hash does not match their element type");
  return array_type_name(name, rank, is_vector);
}

// Returns the places of the definition and of the list of arguments; 0: it is not a generic instantiation.
RuntimeTypeSystemN1::Instance RuntimeTypeSystemN1::instance_of(Address mt, u32 flags) const {
  if (!(flags & is_generic_) || (flags & kind_mask_) != MethodTableFlags::kind_canonical)
    return {};
  // The module, the writable data, and the parts that the flags announce lie in front of these two.
  unsigned index = 2;
  for (u32 flag : {u32{MethodTableFlags::has_dispatch_map}, has_finalizer_, has_optional_fields_,
                   u32{MethodTableFlags::has_sealed_slots}})
    index += (flags & flag) != 0;
  Instance out{optional_part(mt, flags, index), optional_part(mt, flags, index + 1), 0};
  out.count = load(out.definition, at_.generic_arity).value_or(0) & arity_mask_;
  return out;
}

std::vector<Address> RuntimeTypeSystemN1::arguments_of(Address mt) const {
  const u32 flags = load(mt, at_.flags).value_or(0);
  const Instance instance = instance_of(mt, flags);
  std::vector<Address> out;
  if (instance.count > most_arguments)
    return out;
  for (u64 i = 0; i < instance.count; ++i) {
    const Address at = instance.list + i * 4;
    std::optional<u32> distance = memory_->try_load<u32>(at);
    if (!distance) // a constant: the file has it, too
      distance = initial_->try_load<u32>(at);
    if (instance.count == 1)
      out.push_back(instance.list);
    else if (flags & MethodTableFlags::is_dynamic)
      out.push_back(memory_->try_pointer(instance.list + i * p_).value_or(0));
    else
      out.push_back(distance ? at + static_cast<u64>(i64{static_cast<i32>(*distance)}) : 0);
  }
  return out;
}

std::optional<u32> RuntimeTypeSystemN1::definition_hash(Address mt) const {
  const std::optional<u32> flags = load(mt, at_.flags);
  if (!flags || (*flags & kind_mask_) == MethodTableFlags::kind_parameterized || !has_module(mt, *flags))
    return std::nullopt;
  const Instance instance = instance_of(mt, *flags);
  return load(instance.count ? instance.definition : mt, at_.hash);
}

std::string RuntimeTypeSystemN1::instance_name(Address mt, u32 flags, unsigned depth) {
  const Instance instance = instance_of(mt, flags);
  std::optional<NativeTypeName> name = definition(instance.definition);
  if (!name)
    return fail("instantiations of generic types without metadata");
  if (instance.count == 0 || instance.count > most_arguments)
    return fail("instantiations of generic types with an unsound number of parameters");
  const std::vector<Address> arguments = arguments_of(mt);
  std::vector<u32> hashes;
  for (Address argument : arguments)
    hashes.push_back(load(argument, at_.hash).value_or(0));
  if (load(mt, at_.hash) != native_instance_hash(load(instance.definition, at_.hash).value_or(0), hashes))
    return fail("instantiations of generic types whose hash does not match their arguments");
  std::vector<std::string> texts;
  u64 size = 0;
  for (Address argument : arguments) {
    texts.push_back(size > longest_name ? "..." : name_or_place(argument, depth + 1));
    size += texts.back().size();
  }
  return name->format(texts);
}

std::string RuntimeTypeSystemN1::find_name(Address mt, unsigned depth) {
  if (auto known = names_.find(mt); known != names_.end())
    return known->second;
  std::optional<u32> flags = mt % p_ ? std::nullopt : load(mt, at_.flags), base = load(mt, at_.base_size);
  if (!flags || !base)
    return fail("types that are not in this dump");
  if (!has_module(mt, *flags))
    return is_made_up(mt, *flags, *base) ? made_up_name(mt, *base) : fail("MethodTables that are not sound");
  if ((*flags & kind_mask_) == MethodTableFlags::kind_parameterized)
    return array_name(mt, *flags, depth);
  if (*flags & is_generic_ && (*flags & kind_mask_) == MethodTableFlags::kind_canonical)
    return instance_name(mt, *flags, depth);
  std::optional<NativeTypeName> name = definition(mt);
  if (name)
    return name->format({});
  if (definitions_.contains(mt))
    return fail("types whose name in the metadata does not have their hash");
  return fail("types without metadata: the program was built without it, or trimmed");
}

const std::string &RuntimeTypeSystemN1::name(Address mt) {
  if (!map_read_) {
    read_map();
    ReadyToRun::Section metadata = ready_to_run_.section(ReadyToRun::embedded_metadata);
    if (memory_->known_bytes(metadata.start, metadata.end) < metadata.end - metadata.start)
      ++problems_[why_lost];
  }
  if (auto known = names_.find(mt); known != names_.end())
    return known->second;
  if (!hashing_)
    find_hashing(mt);
  parts_left_ = most_parts;
  std::string name = name_or_place(mt, 0);
  kept_ += name.size();
  if (kept_ > most_kept)
    name = "<unknown type " + hex(mt) + ">";
  return names_.emplace(mt, std::move(name)).first->second;
}

std::optional<std::string> RuntimeTypeSystemN1::statics_owner(Address cell) {
  std::optional<std::string_view> symbol = symbols_.statics_at(cell);
  return symbol ? std::optional(unmangled(*symbol)) : std::nullopt;
}

// A symbol is the owner's symbol and the method's name, joined by two underscores. Each character that C does not allow
// is an underscore, too, so only names without underscores are unambiguous.
std::optional<std::string> RuntimeTypeSystemN1::unmangled_method(std::string_view symbol) {
  const std::size_t at = symbol.rfind("__");
  const std::string_view name = at == symbol.npos ? std::string_view() : symbol.substr(at + 2);
  if (at == 0 || name.empty() || name.find_first_of("_<>") != name.npos)
    return std::nullopt;
  const std::string owner = unmangled(symbol.substr(0, at));
  return owner == symbol.substr(0, at) ? std::nullopt : std::optional(owner + "." + std::string(name));
}

std::string RuntimeTypeSystemN1::unmangled(std::string_view mangled) {
  auto by_symbol = [this](std::string_view symbol) {
    std::optional<Address> type = symbols_.find_type(symbol);
    if (!type)
      type = symbols_.find_type("Boxed_" + std::string(symbol));
    return type ? name(*type) : std::string();
  };
  std::string known = by_symbol(mangled);
  if (!known.empty())
    return known;
  auto [it, is_new] = owners_.try_emplace(std::string(mangled));
  if (is_new)
    it->second = owner_names().find(mangled, by_symbol).value_or(std::string(mangled));
  return it->second;
}

// The owner of a method in the stack-trace data may be a static class; all other types may have a definition.
const OwnerNames &RuntimeTypeSystemN1::owner_names() {
  if (owner_names_)
    return *owner_names_;
  if (!methods_read_)
    read_methods();
  owner_names_.emplace();
  for (const auto &[mt, offset] : definitions_)
    if (const std::optional<NativeTypeName> found = metadata_.type_name(offset)) {
      owner_names_->add(*found);
      if (const std::optional<std::string_view> symbol = symbols_.type_at(mt))
        owner_names_->add_symbol(*symbol, *found);
    }
  std::set<u32> tokens;
  for (const auto &[code, method] : methods_)
    if (tokens.insert(method.owner).second)
      if (const std::optional<NativeTypeName> found = metadata_.token_name(method.owner))
        owner_names_->add(*found);
  return *owner_names_;
}

Notes RuntimeTypeSystemN1::notes() const {
  Notes out;
  for (const auto &[why, count] : problems_)
    out.add(Subject::type_names, Effect::none, why + (count > 1 ? " (" + count_text(count) + " types)" : ""));
  return out;
}

} // namespace dnheap
