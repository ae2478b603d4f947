#include "runtime/nativeaot/runtime_type_system_n1.h"

#include "base/text.h"
#include "image/module_image.h"

#include <algorithm>

namespace dnheap {

namespace {

// MethodTable.Flags: src/coreclr/nativeaot/Runtime/inc/MethodTable.h. Those that no version publishes; those that one
// does are members, with these values unless it says otherwise.
enum : u32 {
  kind_canonical = 0,
  kind_parameterized = 0x00020000,
  has_dispatch_map = 0x00040000,
  is_dynamic = 0x00080000,
  has_sealed_slots = 0x00400000,
};
enum : u32 {
  usual_has_component_size = 0x80000000, // the low 16 bits are then the component size
  usual_kind_mask = 0x00030000,
  usual_has_finalizer = 0x00100000,
  usual_is_generic = 0x02000000,
  usual_element_type_shift = 26,
  usual_element_type_mask = 0x7c000000,
};
enum : u32 {
  element_boolean = 0x02,
  element_class = 0x14,
  element_array = 0x17,
  element_vector = 0x18,
  element_by_ref = 0x19,
  element_pointer = 0x1a
};

constexpr u32 largest_base_size = 1 << 30;
constexpr u32 most_series = 512;
constexpr u32 most_arguments = 1024;
constexpr unsigned most_depth = 64;
constexpr u64 most_kept = 64 << 20, longest_name = 16384;
constexpr u64 most_parts = 4096; // types that one name is made of
constexpr u64 largest_section = 256 << 20;

constexpr const char *why_lost =
    "the module's metadata types that are not in this dump: give the folder of the program's file with "
    "--modules";

} // namespace

RuntimeTypeSystemN1::RuntimeTypeSystemN1(const Target &target, const Module &module, const ContractDescriptor &d)
    : memory_(&target.memory), initial_(&target.initial), module_(&module), p_(target.format().pointer_size) {
  auto at = [&](const char *field) { return static_cast<u64>(d.offset("MethodTable", field)); };
  at_ = {at("Flags"),         at("BaseSize"), at("RelatedType"), at("NumVtableSlots"),
         at("NumInterfaces"), at("HashCode"), at("VTable"),      at("GenericArity")};
  auto flag = [&](const char *name, u32 usual) { return static_cast<u32>(d.try_number(name).value_or(usual)); };
  kind_mask_ = flag("MethodTableEETypeKindMask", usual_kind_mask);
  has_component_size_ = flag("MethodTableHasComponentSizeFlag", usual_has_component_size);
  has_finalizer_ = flag("MethodTableHasFinalizerFlag", usual_has_finalizer);
  is_generic_ = flag("MethodTableIsGenericFlag", usual_is_generic);
  element_type_shift_ = flag("MethodTableElementTypeShift", usual_element_type_shift) & 31;
  element_type_mask_ = flag("MethodTableElementTypeMask", usual_element_type_mask);
  has_pointers_ = static_cast<u32>(d.number("MethodTableHasPointersFlag"));
  has_optional_fields_ = static_cast<u32>(d.number("MethodTableHasOptionalFieldsFlag"));
  arity_mask_ = static_cast<u32>(d.number("MethodTableGenericArityMask"));
  free_ = d.number("FreeObjectMethodTable");
  if (d.find_global("FreeObjectMethodTable")->indirect)
    free_ = memory_->pointer(free_, "the type of free objects");
  if (std::optional<ModuleImage> image = ModuleImage::at(*memory_, module.base)) {
    start_ = image->base();
    end_ = image->end();
  }
  std::optional<ReadyToRun> header = find_ready_to_run(target, module);
  if (!header)
    throw Error("the tables of " + module.path + ", by which its types are known, are not in this dump: give the " +
                "folder of the program's file with --modules");
  ready_to_run_ = std::move(*header);
  cell_ = ready_to_run_.start_of(ReadyToRun::type_manager_indirection);
  std::optional<u32> flags = load(free_, at_.flags), base = load(free_, at_.base_size);
  if (!flags || !base || (*flags & (has_component_size_ | 0xffff)) != (has_component_size_ | 1) || *base != 3 * p_)
    throw Error("the type of free objects is not at " + hex(free_) + ", where " + module.path + " says it is");
  names_.emplace(free_, "Free");
}

// Behind the virtual methods and interfaces: pointers of four bytes to what lies at that distance; whole ones in types
// that the runtime made while it ran.
Address RuntimeTypeSystemN1::optional_part(Address mt, u32 flags, unsigned index) const {
  std::optional<u16> slots = memory_->try_load<u16>(mt + at_.vtable_slots),
                     interfaces = memory_->try_load<u16>(mt + at_.interfaces);
  if (!slots || !interfaces)
    return 0;
  Address at = mt + at_.vtable + (u64{*slots} + *interfaces) * p_;
  if (flags & is_dynamic)
    return memory_->try_pointer(at + index * p_).value_or(0);
  at += u64{index} * 4;
  std::optional<u32> distance = memory_->try_load<u32>(at);
  return distance ? at + static_cast<u64>(i64{static_cast<i32>(*distance)}) : 0;
}

bool RuntimeTypeSystemN1::has_module(Address mt, u32 flags) const { return optional_part(mt, flags, 0) == cell_; }

// One or more runs of references inside the object: {size − base size, offset} each, the first one last, then how many.
std::vector<RuntimeTypeSystemN1::Series> RuntimeTypeSystemN1::series_of(Address mt, u32 base_size) const {
  std::optional<u64> count = memory_->try_pointer(mt - p_);
  if (!count || *count == 0 || *count > most_series || *count > base_size / p_)
    return {};
  std::vector<Series> out;
  u64 last = 0;
  for (u64 i = 1; i <= *count; ++i) {
    std::optional<u64> offset = memory_->try_pointer(mt - 2 * i * p_),
                       less = memory_->try_pointer(mt - (2 * i + 1) * p_);
    if (!offset || !less)
      return {};
    u64 size = *less + base_size;
    if (p_ == 4)
      size &= 0xffffffff;
    if (*offset < std::max(last, p_) || *offset % p_ || size == 0 || size % p_ || size > base_size - p_ ||
        *offset > base_size - p_ - size)
      return {};
    last = *offset + size;
    out.push_back({*offset, size});
  }
  return out;
}

bool RuntimeTypeSystemN1::is_made_up(Address mt, u32 flags, u32 base_size) const {
  if ((flags & ~has_pointers_) != 0 || !in_module(mt) || base_size % p_)
    return false;
  Address object = related(mt);
  std::optional<u32> of_object = object ? load(object, at_.flags) : std::nullopt;
  return of_object && related(object) == 0 && (*of_object & kind_mask_) == kind_canonical &&
         load(object, at_.base_size) == 3 * p_ && has_module(object, *of_object) &&
         (!(flags & has_pointers_) || !series_of(mt, base_size).empty());
}

std::vector<RuntimeTypeSystemN1::Series> RuntimeTypeSystemN1::made_up_series(Address mt) const {
  std::optional<u32> flags = mt % p_ ? std::nullopt : load(mt, at_.flags), base = load(mt, at_.base_size);
  if (!flags || !base || !(*flags & has_pointers_) || has_module(mt, *flags) || !is_made_up(mt, *flags, *base))
    return {};
  return series_of(mt, *base);
}

Address RuntimeTypeSystemN1::parent_of(Address mt) const {
  return (load(mt, at_.flags).value_or(kind_parameterized) & kind_mask_) == kind_canonical ? related(mt) : 0;
}

Address RuntimeTypeSystemN1::element_of(Address mt) const {
  return (load(mt, at_.flags).value_or(0) & kind_mask_) == kind_parameterized ? related(mt) : 0;
}

std::optional<ObjectLayout> RuntimeTypeSystemN1::object_layout(Address mt) const {
  std::optional<u32> flags = mt % p_ ? std::nullopt : load(mt, at_.flags), base = load(mt, at_.base_size);
  if (!flags || !base || *base < 2 * p_ + 4 || *base > largest_base_size)
    return std::nullopt;
  u32 component = *flags & has_component_size_ ? *flags & 0xffff : 0;
  u32 kind = *flags & kind_mask_;
  bool is_object = kind == kind_canonical || (kind == kind_parameterized && *flags & has_component_size_);
  if (mt != free_ && !(is_object && (has_module(mt, *flags) || is_made_up(mt, *flags, *base))))
    return std::nullopt;
  return ObjectLayout{*base, component, mt != free_ && (*flags & has_pointers_) != 0};
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
  // Which bits of a handle are its kind: with the wrong number hardly any entry is of a kind that it may be.
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

// Distances of four bytes.
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

// The name of a type definition, if it has the hash of the type.
std::optional<NativeTypeName> RuntimeTypeSystemN1::definition(Address mt) {
  const std::optional<u32> hash = load(mt, at_.hash);
  if (auto it = definitions_.find(mt); it != definitions_.end())
    if (std::optional<NativeTypeName> out = metadata_.type_name(it->second); out && hash == native_type_hash(*out))
      return out;
  std::optional<std::string_view> symbol = symbols_.type_at(mt);
  if (!symbol || !hash)
    return std::nullopt;
  auto [it, is_new] = unmangled_.try_emplace(mt);
  if (is_new)
    it->second = unmangle_type_name(*symbol, *hash, steps_left_);
  return it->second ? std::optional(it->second->view()) : std::nullopt;
}

std::string RuntimeTypeSystemN1::name_or_place(Address mt, unsigned depth) {
  std::string name;
  if (depth <= most_depth && parts_left_ > 0) {
    --parts_left_;
    name = find_name(mt, depth);
  }
  // Mangled as it is, it tells more than a place.
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

// An element's name and its rank: the base size has two lengths per dimension.
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
  if (load(mt, at_.hash) != native_array_hash(load(element, at_.hash).value_or(0), rank, is_vector))
    return fail("arrays that have not the hash of their element's type");
  return array_type_name(name, rank, is_vector);
}

std::string RuntimeTypeSystemN1::instance_name(Address mt, u32 flags, unsigned depth) {
  // Module, writable data, and what the flags say.
  unsigned index = 2;
  for (u32 flag : {u32{has_dispatch_map}, has_finalizer_, has_optional_fields_, u32{has_sealed_slots}})
    index += (flags & flag) != 0;
  Address generic = optional_part(mt, flags, index), list = optional_part(mt, flags, index + 1);
  u32 count = load(generic, at_.generic_arity).value_or(0) & arity_mask_;
  std::optional<NativeTypeName> name = definition(generic);
  if (!name)
    return fail("instances of generic types without metadata");
  if (count == 0 || count > most_arguments)
    return fail("instances of generic types with an unsound number of parameters");
  std::vector<Address> arguments;
  for (u64 i = 0; i < count; ++i) {
    Address at = list + i * 4;
    std::optional<u32> distance = memory_->try_load<u32>(at);
    if (!distance) // compiled in, and never written to
      distance = initial_->try_load<u32>(at);
    if (count == 1)
      arguments.push_back(list);
    else if (flags & is_dynamic)
      arguments.push_back(memory_->try_pointer(list + i * p_).value_or(0));
    else
      arguments.push_back(distance ? at + static_cast<u64>(i64{static_cast<i32>(*distance)}) : 0);
  }
  std::vector<u32> hashes;
  for (Address argument : arguments)
    hashes.push_back(load(argument, at_.hash).value_or(0));
  if (load(mt, at_.hash) != native_instance_hash(load(generic, at_.hash).value_or(0), hashes))
    return fail("instances of generic types that have not the hash of their arguments");
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
    return fail(is_made_up(mt, *flags, *base)
                    ? "types that the compiler made up to hold static fields: they have no name"
                    : "what is no sound type");
  if ((*flags & kind_mask_) == kind_parameterized)
    return array_name(mt, *flags, depth);
  if (*flags & is_generic_ && (*flags & kind_mask_) == kind_canonical)
    return instance_name(mt, *flags, depth);
  std::optional<NativeTypeName> name = definition(mt);
  if (name)
    return name->format({});
  if (definitions_.contains(mt))
    return fail("types whose name in the metadata has not their hash");
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

std::string RuntimeTypeSystemN1::unmangled(std::string_view mangled) {
  std::optional<Address> type = symbols_.find_type(mangled);
  if (!type)
    type = symbols_.find_type("Boxed_" + std::string(mangled));
  return type ? name(*type) : std::string(mangled);
}

std::vector<std::string> RuntimeTypeSystemN1::problems() const {
  std::vector<std::string> out;
  for (const auto &[why, count] : problems_)
    out.push_back(why + (count > 1 ? " (" + count_text(count) + " types)" : ""));
  return out;
}

} // namespace dnheap
