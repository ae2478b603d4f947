#include "runtime/coreclr/types/delegates.h"

#include "base/text.h"

#include <algorithm>

namespace dnheap {

namespace {

constexpr unsigned max_depth = 8, max_parents = 64; // `max_depth`: limit of delegates that wrap one another
constexpr u64 max_steps = 1 << 20;                  // limit of steps along the lists of one delegate

} // namespace

Delegates::Delegates(const Target &target, const ContractDescriptor &descriptor, RuntimeTypeSystem1 &types,
                     Loader1 &loader)
    : target_(&target), memory_(&target.memory), types_(&types), methods_(target, descriptor, types, loader),
      p_(target.format().pointer_size) {}

const std::optional<Delegates::Members> &Delegates::members(Address mt, Fields &fields) {
  auto it = members_.find(mt);
  if (it != members_.end())
    return it->second;
  // _invocationList and _invocationCount are called _helperObject and _extraData since .NET 11. list_of() checks what
  // they hold.
  constexpr struct {
    const char *name;
    std::optional<u64> Members::*member;
  } names[] = {{"_target", &Members::target},           {"_methodPtr", &Members::code},
               {"_methodPtrAux", &Members::other_code}, {"_invocationList", &Members::list},
               {"_invocationCount", &Members::count},   {"_helperObject", &Members::list},
               {"_extraData", &Members::count}};
  Members out;
  for (const InstanceField &field : fields.instance_fields(mt))
    if (const std::string &type = types_->name(field.declaring_type);
        type == "System.Delegate" || type == "System.MulticastDelegate")
      for (const auto &[name, member] : names)
        if (field.name == name)
          out.*member = field.offset;
  const bool is_delegate = out.target && out.code && out.other_code && out.list && out.count;
  return members_.emplace(mt, is_delegate ? std::optional(out) : std::nullopt).first->second;
}

std::vector<DelegateTarget> Delegates::targets(Address object, Address mt, u64 limit, Fields &fields) {
  std::vector<DelegateTarget> out;
  u64 steps = max_steps;
  if (members(mt, fields))
    collect(object, {&out, limit, 0, &steps}, fields);
  return out;
}

std::optional<DelegateList> Delegates::list(Address object, Address mt, Fields &fields) {
  const std::optional<Members> &found = members(mt, fields);
  return found ? std::optional(list_of(object, *found, fields).value_or(DelegateList())) : std::nullopt;
}

// Nullopt: it has no list. Up to .NET 10 the list is an array of delegates, later an array of structs that hold a
// delegate each; a part of it may be unused. If another object is in its place, that object keeps a dynamic method's
// code or a collectible type alive, and the other word is not a count.
std::optional<DelegateList> Delegates::list_of(Address object, const Members &m, Fields &fields) const {
  DelegateList out;
  out.array = word(object + *m.list);
  const std::optional<ElementShape> shape = out.array ? fields.elements(type_of(out.array)) : std::nullopt;
  const std::optional<u32> length = out.array ? memory_->try_load<u32>(out.array + p_) : std::nullopt;
  if (!shape || !length || shape->rank || shape->size != p_ ||
      (shape->type != ElementType::Class && shape->type != ElementType::ValueType))
    return std::nullopt;
  out.first = out.array + shape->start;
  const u64 count = word(object + *m.count);
  out.count = std::min<u64>(count, *length);
  out.is_cut = out.count < count;
  return out;
}

// If the list is itself a delegate, that delegate is the one called.
void Delegates::collect(Address object, const Collecting &into, Fields &fields) {
  const std::optional<Members> found = members(type_of(object), fields);
  if (!found || into.depth > max_depth || into.to->size() >= into.limit)
    return;
  const Collecting inner{into.to, into.limit, into.depth + 1, into.steps};
  if (const Address wrapped = word(object + *found->list); wrapped && members(type_of(wrapped), fields))
    return collect(wrapped, inner, fields);
  const std::optional<DelegateList> list = list_of(object, *found, fields);
  if (!list)
    return into.to->push_back(one(object, *found));
  for (u64 i = 0; i < list->count && into.to->size() < into.limit && *into.steps; ++i, --*into.steps)
    if (const Address part = word(list->first + i * p_))
      collect(part, inner, fields);
}

// The order of the checks matters: see COMDelegate in the source. A count of -1 marks a delegate for a native function.
// If a MethodDesc is in place of the count, it is more exact than the pointer to code, which may lead to a stub. If
// there is a second pointer to code, the first one leads to a stub that only moves arguments, and the delegate itself
// is in place of the target.
DelegateTarget Delegates::one(Address object, const Members &m) const {
  Address target = word(object + *m.target), code = word(object + *m.code), other = word(object + *m.other_code);
  u64 count = word(object + *m.count);
  const u64 minus_one = p_ == 8 ? ~u64{0} : 0xffffffff;
  if (count == minus_one)
    return {0, code_name(other ? other : code)};
  if (other || target == object)
    target = 0;
  if (count > 0xffff && methods_.is_method_desc(count))
    return {target, method_name(count, target)};
  if (other)
    code = other;
  Address method = methods_.of_code(code);
  return {target, method ? method_name(method, target) : code_name(code)};
}

// For shared generic code, the declaring type is the canonical one; the target's own type, or one of its parents, is
// more exact.
std::string Delegates::method_name(Address method, Address target) const {
  Address declaring = methods_.method_table_of(method);
  Address exact = type_of(target);
  for (unsigned i = 0; exact && i < max_parents && types_->canonical(exact) != types_->canonical(declaring); ++i)
    exact = types_->parent_of(exact);
  std::string name = methods_.name(method);
  if (name.empty())
    name = "<method " + hex(method) + ">";
  if (methods_.is_dynamic(method))
    return "DynamicClass." + name; // as stack traces have it
  const std::string &type =
      types_->name(exact && types_->canonical(exact) == types_->canonical(declaring) ? exact : declaring);
  return type + "." + name;
}

std::string Delegates::code_name(Address code) const {
  const Module *module = target_->find_module(code);
  return module ? shortened(module->file_name(), 200) + "+" + hex(code - module->base) : "<code " + hex(code) + ">";
}

} // namespace dnheap
