#include "runtime/coreclr/types/runtime_type_system_1.h"

#include "base/text.h"
#include "metadata/evidence.h"
#include "runtime/vm/method_table_flags.h"

#include <algorithm>
#include <bit>

namespace dnheap {

namespace {

constexpr unsigned max_depth = 32; // limit of nested generic arguments and element types
constexpr u32 max_arguments = 1024;
constexpr u64 max_name = 8192;      // characters; deep nesting multiplies lengths
constexpr u64 max_names = 64 << 20; // characters of all names kept; beyond it, names are cut to short ones
constexpr u64 short_name = 256;
constexpr u64 max_base_size = 1u << 30;
constexpr u64 type_desc_bit = 2; // in a TypeHandle: a TypeDesc, not a MethodTable

// TypeDesc.TypeAndFlags, low byte: CorElementType.
enum Element : u8 {
  pointer = 0x0f,
  by_ref = 0x10,
  type_variable = 0x13,
  function_pointer = 0x1b,
  method_variable = 0x1e
};

} // namespace

RuntimeTypeSystem1::RuntimeTypeSystem1(const Memory &memory, const ContractDescriptor &descriptor, Loader1 &loader)
    : memory_(&memory), descriptor_(&descriptor), loader_(&loader), p_(memory.format().pointer_size),
      continuations_(memory, descriptor) {
  auto offset = [&](const char *type, const char *field) { return static_cast<u64>(descriptor.offset(type, field)); };
  auto optional = [&](const char *type, const char *field) -> std::optional<u64> {
    std::optional<i64> found = descriptor.try_offset(type, field);
    return found ? std::optional(static_cast<u64>(*found)) : std::nullopt;
  };
  at_.flags = offset("MethodTable", "MTFlags");
  at_.base_size = offset("MethodTable", "BaseSize");
  at_.flags2 = optional("MethodTable", "MTFlags2");
  at_.parent = optional("MethodTable", "ParentMethodTable");
  at_.module = optional("MethodTable", "Module");
  at_.class_or_canonical = offset("MethodTable", "EEClassOrCanonMT");
  at_.per_inst_info = optional("MethodTable", "PerInstInfo");
  at_.virtuals = optional("MethodTable", "NumVirtuals");
  at_.token = optional("MethodTable", "Token");
  at_.class_method_table = offset("EEClass", "MethodTable");
  at_.normal_type = optional("EEClass", "InternalCorElementType");
  at_.num_dicts = optional("GenericsDictInfo", "NumDicts");
  at_.num_type_args = optional("GenericsDictInfo", "NumTypeArgs");
  free_ = memory.pointer(descriptor.number("FreeObjectMethodTable"), "the MethodTable of free objects");
  if (free_ < 0x1000 || free_ % p_)
    throw Error("the MethodTable of free objects cannot be " + hex(free_));
  names_.emplace(free_, "Free");
  // System.String gets its name here, since its metadata may not be in the dump.
  if (std::optional<u64> string = descriptor.try_number("StringMethodTable"))
    if (Address mt = memory.try_pointer(*string).value_or(0))
      names_.emplace(mt, "System.String");
}

// EEClassOrCanonMT: bit 0 set = the canonical MethodTable of a generic instantiation, else the EEClass.
Address RuntimeTypeSystem1::canonical(Address mt) const {
  std::optional<u64> word = memory_->try_pointer(mt + at_.class_or_canonical);
  return word && (*word & 1) ? *word & ~u64{1} : mt;
}

bool RuntimeTypeSystem1::is_method_table(Address mt) const {
  if (mt < 0x1000 || mt % p_)
    return false;
  std::optional<u64> word = memory_->try_pointer(mt + at_.class_or_canonical);
  if (!word || !*word)
    return false;
  if (*word & 1) {
    mt = *word & ~u64{1};
    word = memory_->try_pointer(mt + at_.class_or_canonical);
    if (!word || !*word || (*word & 1))
      return false;
  }
  return memory_->try_pointer(*word + at_.class_method_table) == mt || continuations_.contains(mt);
}

Address RuntimeTypeSystem1::class_of(Address mt) const {
  return is_method_table(mt) ? memory_->try_pointer(canonical(mt) + at_.class_or_canonical).value_or(0) : 0;
}

Address RuntimeTypeSystem1::parent_of(Address mt) const {
  Address parent = at_.parent ? memory_->try_pointer(mt + *at_.parent).value_or(0) : 0;
  return is_method_table(parent) ? parent : 0;
}

ElementType RuntimeTypeSystem1::normal_type(Address mt) const {
  Address own_class = at_.normal_type ? class_of(mt) : 0;
  std::optional<u8> type = own_class ? memory_->try_load<u8>(own_class + *at_.normal_type) : std::nullopt;
  return type && *type ? static_cast<ElementType>(*type) : ElementType::ValueType;
}

std::optional<ObjectLayout> RuntimeTypeSystem1::object_layout(Address mt) const {
  if (mt == free_)
    return ObjectLayout{static_cast<u32>(3 * p_), 1, false};
  if (!is_method_table(mt))
    return std::nullopt;
  auto f = flags(mt), base = memory_->try_load<u32>(mt + at_.base_size);
  // The smallest base size is 3 pointers, except for strings, whose base is not rounded up.
  if (!f || !base || *base < 2 * p_ + 4 || *base > max_base_size)
    return std::nullopt;
  u32 component = *f & mt_has_component_size ? *f & 0xffff : 0;
  if (*base % p_ && component != 2)
    return std::nullopt;
  return ObjectLayout{*base, component, (*f & mt_contains_gc_pointers) != 0};
}

// Object and String stand for all of .NET's own types.
bool RuntimeTypeSystem1::knows_framework() {
  for (const char *type : {"ObjectMethodTable", "StringMethodTable"}) {
    const std::optional<u64> variable = descriptor_->try_number(type);
    const Address mt = variable ? memory_->try_pointer(*variable).value_or(0) : 0;
    if (const Address module = mt && object_layout(mt) ? module_of(mt) : 0)
      return loader_->metadata(module);
  }
  return true; // assumed, without evidence
}

// The module that loaded the type (in 8.0 MethodTable.Module, later a field of the auxiliary data) leads to its
// LoaderAllocator, which has a handle of the managed one. Types that are not collectible cost one load.
Address RuntimeTypeSystem1::loader_allocator_object(Address mt) const {
  if (!is_collectible(mt))
    return 0;
  auto follow = [&](Address from, const char *type, const char *field) -> Address {
    std::optional<i64> offset = from ? descriptor_->try_offset(type, field) : std::nullopt;
    return offset ? memory_->try_pointer(from + static_cast<u64>(*offset)).value_or(0) : 0;
  };
  Address module = at_.token
                       ? follow(mt, "MethodTable", "Module")
                       : follow(follow(mt, "MethodTable", "AuxiliaryData"), "MethodTableAuxiliaryData", "LoaderModule");
  Address handle = follow(follow(module, "Module", "LoaderAllocator"), "LoaderAllocator", "ObjectHandle");
  return handle ? memory_->try_pointer(handle).value_or(0) : 0;
}

// .NET 9 and later have the row above eight bits of flags; 8.0 has 16 bits for it, all set if the row does not fit.
u32 RuntimeTypeSystem1::type_def_rid(Address mt) const {
  if (at_.token) {
    u32 rid = memory_->try_load<u16>(mt + *at_.token).value_or(0);
    return rid == 0xffff ? 0 : rid;
  }
  return at_.flags2 ? memory_->try_load<u32>(mt + *at_.flags2).value_or(0) >> 8 : 0;
}

// In .NET 9 and later, MethodTable.Module is the module that defines the type. In 8.0 it is the one that *loaded* it;
// if the two differ (instantiations over types of collectible or other modules), the canonical MethodTable has an
// optional slot with the defining module. Its 16-bit flags identify the slot: bits 0-3 mark the slots before it, bit 4
// the slot itself; the first two lie at the end of the fixed part, the others behind the vtable's indirections (eight
// methods each).
Address RuntimeTypeSystem1::module_of(Address mt) const {
  Address owner = canonical(mt);
  if (!at_.module)
    return 0;
  if (!at_.token)
    return memory_->try_pointer(mt + *at_.module).value_or(0);
  u32 f = flags(owner).value_or(0);
  u16 flags2 = at_.flags2 ? memory_->try_load<u16>(owner + *at_.flags2).value_or(0) : 0;
  if ((f & mt_has_component_size) || !(f & mt_generics_mask) || !(flags2 & 0x10))
    return memory_->try_pointer(owner + *at_.module).value_or(0);
  if (!at_.virtuals || !at_.per_inst_info)
    return 0;
  u64 slot = static_cast<u64>(std::popcount(static_cast<unsigned>(flags2 & 0x0f)));
  u64 virtuals = memory_->try_load<u16>(owner + *at_.virtuals).value_or(0);
  u64 fixed = *at_.per_inst_info + 2 * p_; // two slots, one of them PerInstInfo's, end the fixed part
  Address at =
      slot < 2 ? owner + *at_.per_inst_info + slot * p_ : owner + fixed + p_ * ((virtuals + 7) / 8) + p_ * (slot - 2);
  return memory_->try_pointer(at).value_or(0);
}

const std::string &RuntimeTypeSystem1::name(Address mt) {
  auto it = names_.find(mt);
  if (it == names_.end())
    it = keep(mt, method_table_name(mt, 0));
  return it->second;
}

std::unordered_map<Address, std::string>::iterator RuntimeTypeSystem1::keep(Address handle, std::string name) {
  if (kept_ > max_names && name.size() > short_name) {
    ++problems_["names that were cut short, as all together were too long"];
    name = shortened(name, short_name);
  }
  kept_ += name.size();
  return names_.emplace(handle, std::move(name)).first;
}

Notes RuntimeTypeSystem1::notes() const {
  Notes out;
  for (const auto &[why, times] : problems_)
    out.add(Subject::type_names, Effect::none, why + (times > 1 ? " (" + count_text(times) + " types)" : ""));
  constexpr u64 shown = 4;
  for (const auto &[why, modules] : module_problems_) {
    std::vector<std::pair<u64, std::string>> most;
    for (const auto &[name, times] : modules)
      most.emplace_back(times, name);
    std::sort(most.begin(), most.end(), std::greater<>());
    std::string line = why + ": ";
    for (u64 i = 0; i < std::min<u64>(shown, most.size()); ++i)
      line += (i ? ", " : "") + most[i].second + " (" + count_text(most[i].first) +
              (most[i].first == 1 ? " type)" : " types)");
    if (most.size() > shown)
      line += " and " + count_text(most.size() - shown) + " more";
    out.add(Subject::type_names, Effect::none, line);
  }
  return out;
}

// Returns the first of these values that was not found, and what was tried.
std::string RuntimeTypeSystem1::why_missing(std::initializer_list<const char *> values) const {
  for (const char *value : values)
    if (auto why = descriptor_->missing.find(value); why != descriptor_->missing.end())
      return std::string(" (") + value + " was not found: " + why->second + ")";
  return "";
}

std::string RuntimeTypeSystem1::unknown(Address handle, const std::string &why) {
  ++problems_[why];
  return "<unknown type " + hex(handle) + ">";
}

std::string RuntimeTypeSystem1::type_handle_name(Address handle, unsigned depth) {
  if (depth > max_depth)
    return unknown(handle, "type names nested deeper than " + std::to_string(max_depth));
  if (handle & type_desc_bit)
    return type_desc_name(handle & ~type_desc_bit, depth);
  if (auto it = names_.find(handle); it != names_.end())
    return it->second;
  std::string out = method_table_name(handle, depth);
  if (out.size() <= max_name)
    keep(handle, out);
  return out;
}

std::string RuntimeTypeSystem1::method_table_name(Address mt, unsigned depth) {
  std::optional<u32> f = flags(mt);
  if (!f || !is_method_table(mt))
    return unknown(mt, "MethodTables that are damaged or not in this dump");
  if ((*f & mt_has_component_size) && is_array(*f))
    return array_name(mt, *f, depth);
  if (continuations_.contains(mt))
    return continuations_.name(mt);
  Address module = module_of(mt);
  if (!module)
    return unknown(mt, "types whose module is unknown" + why_missing({"MethodTable.Module"}));
  u32 rid = type_def_rid(mt);
  const Metadata *metadata = loader_->metadata(module);
  std::vector<TypeNamePart> parts;
  if (metadata && rid)
    parts = type_name_parts(*metadata, token(Table::TypeDef, rid));
  if (parts.empty() || parts.back().name.empty()) {
    ++module_problems_[rid ? loader_->why_no_metadata(module)
                           : "types whose row number is unknown" + why_missing({"MethodTable.MTFlags2"})]
                      [loader_->file_name(module)];
    char row[32];
    std::snprintf(row, sizeof row, rid ? "!0x02%06llx" : "!<type 0x%llx>",
                  static_cast<unsigned long long>(rid ? rid : mt));
    return loader_->file_name(module) + row;
  }
  u32 arity = metadata->generic_parameter_count(token(Table::TypeDef, rid));
  if (!is_plausible(parts))
    ++problems_["names that no compiler writes, so their metadata may be damaged"];
  check_relations(mt, *metadata, rid, arity);
  std::string out = format_type_name(parts, arity ? arguments(mt, arity, depth) : std::vector<std::string>());
  return shortened(out, max_name);
}

// Checks a type's other data in memory against its row of metadata; if they differ, the row or the name is wrong.
void RuntimeTypeSystem1::check_relations(Address mt, const Metadata &metadata, u32 rid, u32 arity) {
  if (Address parent = parent_of(mt))
    if (const Metadata *of_parent = loader_->metadata(module_of(parent));
        of_parent && !may_extend(metadata, rid, *of_parent, type_def_rid(parent)))
      ++problems_["types whose base type is not the one that their metadata names"];
  if (arity == 0 && canonical(mt) == mt)
    if (auto it = rows_.emplace(std::pair(&metadata, rid), mt).first; it->second != mt)
      ++problems_["types that have the same row of metadata as another one"];
}

std::string RuntimeTypeSystem1::array_name(Address mt, u32 f, unsigned depth) {
  std::optional<u64> element = at_.per_inst_info ? memory_->try_pointer(mt + *at_.per_inst_info) : std::nullopt;
  std::string name =
      element ? type_handle_name(*element, depth + 1) : unknown(mt, "arrays whose element type is missing");
  u64 base = memory_->try_load<u32>(mt + at_.base_size).value_or(0);
  // A vector has header, MethodTable and length; other arrays have two more u32 per dimension.
  u64 rank = is_sz_array(f) ? 1 : std::clamp<u64>((base - 3 * p_) / 8, 1, 32);
  return array_type_name(name, static_cast<u32>(rank), is_sz_array(f));
}

// Returns the generic arguments, from the type's own dictionary: the *last* one, since those before it belong to its
// generic ancestors. (RuntimeTypeSystem.md takes the first.) The number of dictionaries and that of arguments lie in
// front of the dictionaries.
std::vector<Address> RuntimeTypeSystem1::instantiation(Address mt) const {
  std::vector<Address> out;
  std::optional<u64> per_inst = at_.per_inst_info ? memory_->try_pointer(mt + *at_.per_inst_info) : std::nullopt;
  if (!per_inst || !*per_inst || !at_.num_dicts || !at_.num_type_args)
    return out;
  auto dicts = memory_->try_load<u16>(*per_inst - p_ + *at_.num_dicts),
       count = memory_->try_load<u16>(*per_inst - p_ + *at_.num_type_args);
  std::optional<u64> own = dicts && *dicts ? memory_->try_pointer(*per_inst + (*dicts - 1u) * p_) : std::nullopt;
  if (own && count && *count <= max_arguments)
    for (u64 i = 0; i < *count; ++i)
      out.push_back(memory_->try_pointer(*own + i * p_).value_or(0));
  return out;
}

std::vector<std::string> RuntimeTypeSystem1::arguments(Address mt, u32 expected, unsigned depth) {
  std::vector<std::string> out;
  std::optional<u64> per_inst = at_.per_inst_info ? memory_->try_pointer(mt + *at_.per_inst_info) : std::nullopt;
  if (!per_inst || !*per_inst || !at_.num_dicts || !at_.num_type_args) {
    ++problems_["generic types whose arguments could not be found" +
                why_missing({"MethodTable.PerInstInfo", "GenericsDictInfo.NumDicts", "GenericsDictInfo.NumTypeArgs"})];
    return out;
  }
  std::vector<Address> handles = instantiation(mt);
  if (handles.size() != expected) {
    ++problems_["generic types for which GenericsDictInfo.NumDicts and NumTypeArgs do not fit their metadata"];
    return out;
  }
  u64 length = 0;
  for (Address handle : handles) {
    out.push_back(handle ? type_handle_name(handle, depth + 1)
                         : unknown(mt, "generic arguments that are not in this dump"));
    length += out.back().size();
    if (length > max_name)
      break;
  }
  return out;
}

std::string RuntimeTypeSystem1::type_desc_name(Address desc, unsigned depth) {
  u64 type_offset = static_cast<u64>(descriptor_->try_offset("TypeDesc", "TypeAndFlags").value_or(0));
  std::optional<u32> type = memory_->try_load<u32>(desc + type_offset);
  switch (type.value_or(0) & 0xff) {
  case pointer:
  case by_ref: {
    // In .NET 9 and later, the flags are followed by the managed Type object's handle, then by the target type. Only
    // one of the two words is a type.
    std::vector<u64> places = {2 * p_, p_};
    if (std::optional<i64> published = descriptor_->try_offset("ParamTypeDesc", "TypeArg"))
      places = {static_cast<u64>(*published)};
    for (u64 place : places) {
      u64 handle = memory_->try_pointer(desc + place).value_or(0);
      if (is_type_handle(handle))
        return type_handle_name(handle, depth + 1) + ((*type & 0xff) == pointer ? "*" : "&");
    }
    return unknown(desc, "pointer types whose ParamTypeDesc.TypeArg is not a type");
  }
  case function_pointer: return function_pointer_name(desc, depth);
  case type_variable:
  case method_variable: return variable_name(desc);
  default: return unknown(desc, "type handles that are neither MethodTable nor TypeDesc");
  }
}

// {…, u32 NumArgs, u32 CallConv, TypeHandle RetAndArgTypes[1 + NumArgs]}; the part in front grew by a word after 8.0.
std::string RuntimeTypeSystem1::function_pointer_name(Address desc, unsigned depth) {
  std::vector<u64> places = {3 * p_, 2 * p_, p_};
  if (std::optional<i64> published = descriptor_->try_offset("FnPtrTypeDesc", "NumArgs"))
    places = {static_cast<u64>(*published)};
  for (u64 place : places) {
    std::optional<u32> count = memory_->try_load<u32>(desc + place);
    if (!count || *count > max_arguments)
      continue;
    std::vector<u64> handles(*count + 1);
    bool all = true;
    for (u64 i = 0; i < handles.size() && all; ++i) {
      handles[i] = memory_->try_pointer(desc + place + 8 + i * p_).value_or(0);
      all = is_type_handle(handles[i]);
    }
    if (!all)
      continue;
    std::vector<std::string> names;
    u64 length = 0;
    for (u64 handle : handles) {
      names.push_back(type_handle_name(handle, depth + 1));
      if ((length += names.back().size()) > max_name)
        break;
    }
    return function_pointer_type_name(names[0], std::span(names).subspan(1));
  }
  return unknown(desc, "function pointer types whose FnPtrTypeDesc.RetAndArgTypes are not types");
}

bool RuntimeTypeSystem1::is_type_handle(Address handle) const {
  return handle & type_desc_bit ? memory_->try_pointer(handle & ~type_desc_bit).has_value() : is_method_table(handle);
}

// Names T of an open type; such types have no objects, but can be arguments of arrays and dictionaries that the runtime
// keeps.
std::string RuntimeTypeSystem1::variable_name(Address desc) {
  // {module, token}: in .NET 9 and later, in 8.0.
  std::vector<std::pair<u64, u64>> places = {{2 * p_, 5 * p_}, {p_, 5 * p_}};
  std::optional<i64> module_offset = descriptor_->try_offset("TypeVarTypeDesc", "Module"),
                     token_offset = descriptor_->try_offset("TypeVarTypeDesc", "Token");
  if (module_offset && token_offset)
    places = {{static_cast<u64>(*module_offset), static_cast<u64>(*token_offset)}};
  for (auto [module, token] : places) {
    std::optional<u64> address = memory_->try_pointer(desc + module);
    std::optional<u32> parameter = memory_->try_load<u32>(desc + token);
    if (!address || !parameter || table_of(*parameter) != Table::GenericParam)
      continue;
    const Metadata *metadata = loader_->metadata(*address);
    std::optional<u32> name = metadata ? metadata->column(Table::GenericParam, rid_of(*parameter), 3) : std::nullopt;
    if (name)
      return shortened(metadata->string(*name), 200);
  }
  return unknown(desc, "type variables whose name is not in this dump");
}

} // namespace dnheap
