#include "runtime/coreclr/delegates.h"

#include "base/text.h"

namespace dnheap {

namespace {

constexpr unsigned max_depth = 8, max_parents = 64; // of delegates that wrap one another
constexpr u64 max_steps = 1 << 20;                  // along the lists of one delegate

} // namespace

Delegates::Delegates(const Target &target, const ContractDescriptor &descriptor, RuntimeTypeSystem1 &types,
                     Loader1 &loader)
    : target_(&target), memory_(&target.memory), types_(&types), methods_(target, descriptor, types, loader),
      p_(target.format().pointer_size) {}

const std::optional<Delegates::Members> &Delegates::members(Address mt, Fields &fields) {
  auto it = members_.find(mt);
  if (it != members_.end())
    return it->second;
  Members out;
  for (const InstanceField &field : fields.instance_fields(mt)) {
    const std::string &type = types_->name(field.declaring_type);
    if (type == "System.Delegate" && field.name == "_target")
      out.target = field.offset;
    else if (type == "System.Delegate" && field.name == "_methodPtr")
      out.code = field.offset;
    else if (type == "System.Delegate" && field.name == "_methodPtrAux")
      out.other_code = field.offset;
    else if (type == "System.MulticastDelegate" && field.name == "_invocationList")
      out.list = field.offset;
    else if (type == "System.MulticastDelegate" && field.name == "_invocationCount")
      out.count = field.offset;
  }
  bool is_delegate = out.target && out.code && out.other_code && out.list && out.count;
  return members_.emplace(mt, is_delegate ? std::optional(out) : std::nullopt).first->second;
}

std::vector<DelegateTarget> Delegates::targets(Address object, Address mt, u64 limit, Fields &fields) {
  std::vector<DelegateTarget> out;
  u64 steps = max_steps;
  if (members(mt, fields))
    collect(object, {&out, limit, 0, &steps}, fields);
  return out;
}

// A list that is an array: its delegates in turn. A list that is itself a delegate: that one counts. Anything else in
// its place keeps a dynamic method's code or a collectible type alive.
void Delegates::collect(Address object, const Collecting &into, Fields &fields) {
  const std::optional<Members> found = members(type_of(object), fields);
  if (!found || into.depth > max_depth || into.to->size() >= into.limit)
    return;
  Address list = word(object + found->list);
  u64 count = word(object + found->count);
  Collecting inner{into.to, into.limit, into.depth + 1, into.steps};
  if (list && types_->is_method_table(type_of(list))) {
    if (members(type_of(list), fields))
      return collect(list, inner, fields);
    if (collect_list(list, count, inner, fields))
      return;
  }
  into.to->push_back(one(object, *found));
}

bool Delegates::collect_list(Address list, u64 count, const Collecting &into, Fields &fields) {
  std::optional<ElementShape> shape = fields.elements(type_of(list));
  std::optional<u32> length = memory_->try_load<u32>(list + p_);
  if (!shape || shape->type != ElementType::Class || !length)
    return false;
  for (u64 i = 0; i < std::min<u64>(count, *length) && into.to->size() < into.limit && *into.steps; ++i, --*into.steps)
    if (Address part = word(list + shape->start + i * p_))
      collect(part, into, fields);
  return true;
}

// In this order: see COMDelegate in the source. -1 marks a delegate for a native function; a large count is the
// MethodDesc of an open delegate for a virtual method; a second pointer means that the first one only moves arguments.
DelegateTarget Delegates::one(Address object, const Members &m) const {
  Address target = word(object + m.target), code = word(object + m.code), other = word(object + m.other_code);
  u64 count = word(object + m.count);
  const u64 minus_one = p_ == 8 ? ~u64{0} : 0xffffffff;
  if (count == minus_one)
    return {0, code_name(other ? other : code)};
  if (count > 0xffff && methods_.is_method_desc(count))
    return {0, method_name(count, 0)};
  if (other)
    code = other;
  if (other || target == object)
    target = 0;
  Address method = methods_.of_code(code);
  return {target, method ? method_name(method, target) : code_name(code)};
}

// Of shared generic code the declaring type is the canonical one; the target's own type, or one of its parents, is more
// exact.
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
