#include "analysis/waits/owner_fields.h"

#include "snapshot/snapshot.h"

#include <algorithm>

namespace dnheap {

namespace {

constexpr u64 most_words = 1024; // of one object; larger ones are passed over

} // namespace

std::string_view type_of_member(std::string_view member) {
  member = member.substr(0, member.find('('));
  if (const u64 made = member.find("+<"); made != member.npos)
    return member.substr(0, made);
  u64 depth = 0, last = 0;
  for (u64 i = 0; i < member.size(); ++i) {
    depth += member[i] == '<';
    depth -= member[i] == '>' && depth;
    if (member[i] == '.' && !depth && i && member[i - 1] != '.')
      last = i;
  }
  return member.substr(0, last);
}

OwnerFields::OwnerFields(const Snapshot &snapshot, std::vector<Address> objects)
    : runtime_(snapshot.runtime()), fields_(runtime_), reader_(snapshot.references()), objects_(std::move(objects)) {
  const RootSet &roots = snapshot.roots();
  for (const bool by_object : {false, true})
    for (const Root &root : roots.roots) {
      if (root.kind != RootKind::static_field || roots.name(root).empty() || roots.name(root) == unnamed_static)
        continue;
      const std::string &name = roots.name(root);
      const std::string type(type_of_member(name));
      if (by_object)
        add_field(root.object, name, &type);
      else if (std::binary_search(objects_.begin(), objects_.end(), root.object)) {
        Owner &to = owners_[root.object];
        if (to.text.empty())
          to.text = name;
        to.is_static = true;
        to.types.push_back(type);
      }
    }
}

const OwnerFields::Owner *OwnerFields::find(Address object) const {
  auto found = owners_.find(object);
  return found != owners_.end() ? &found->second : nullptr;
}

void OwnerFields::add(Address holder) {
  const Address type = fields_.type_of(holder);
  if (type && runtime_.types().object_layout(type))
    add_field(holder, runtime_.types().name(type), nullptr);
}

// Records which fields of `holder` hold the wanted objects. `type`: declares the static field that holds `holder`;
// null: none is known.
void OwnerFields::add_field(Address holder, const std::string &name, const std::string *type) {
  OpenedObject opened;
  if (!reader_.open(holder, opened) || opened.type->references.empty() ||
      opened.size > most_words * fields_.pointer_size())
    return;
  opened.type->references.for_each_slot(
      opened.bytes, opened.size, fields_.memory().format(), [&](const std::byte *slot) {
        const Address object = load_pointer(slot, fields_.memory().format());
        if (!object || !std::binary_search(objects_.begin(), objects_.end(), object))
          return;
        auto [known, is_new] = owners_.try_emplace(object);
        Owner &to = known->second;
        if (type && (is_new || to.is_static)) {
          to.is_static = true;
          to.types.push_back(runtime_.types().name(opened.type->method_table));
        }
        if (!is_new)
          return;
        const u64 at = static_cast<u64>(slot - opened.bytes);
        for (const InstanceField &field : runtime_.fields().instance_fields(opened.type->method_table))
          if (field.is_reference() && field.offset == at)
            to.text = name + "." + field.name;
        if (to.text.empty())
          to.text = name;
      });
}

} // namespace dnheap
