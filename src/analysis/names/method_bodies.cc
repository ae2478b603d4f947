#include "analysis/names/method_bodies.h"

#include "image/pe_image.h"

#include <algorithm>

namespace dnheap {

namespace {

constexpr u64 most_il = 1 << 20; // bytes of one method

} // namespace

MethodBodies::MethodBodies(const Runtime &runtime) : clr_(dynamic_cast<const CoreClr *>(&runtime)) {
  if (!clr_)
    return;
  methods_.emplace(clr_->target(), clr_->descriptor(), clr_->types(), clr_->loader());
  il_offsets_.emplace(clr_->memory(), clr_->code());
}

const std::vector<MethodBodies::Call> *MethodBodies::calls_of(Address method_desc) {
  if (!clr_ || !method_desc || !methods_->is_method_desc(method_desc) || methods_->is_dynamic(method_desc))
    return nullptr;
  return calls_at(clr_->types().module_of(methods_->method_table_of(method_desc)), methods_->row(method_desc));
}

const std::vector<MethodBodies::Call> *MethodBodies::calls_of_machine(Address machine_type) {
  const Address module = clr_ && machine_type ? clr_->types().module_of(machine_type) : 0;
  const Metadata *metadata = module ? clr_->loader().metadata(module) : nullptr;
  if (!metadata)
    return nullptr;
  for (u32 method : metadata->methods_of(clr_->types().type_def_rid(machine_type)))
    if (const std::optional<MethodDefRow> row = metadata->method(method); row && row->name == "MoveNext")
      return calls_at(module, method);
  return nullptr;
}

std::optional<bool> MethodBodies::calls_any(const std::vector<Call> *calls, std::string_view type,
                                            std::span<const std::string_view> methods) {
  if (!calls)
    return std::nullopt;
  return std::any_of(calls->begin(), calls->end(), [&](const Call &call) {
    return call.callee.type == type && std::find(methods.begin(), methods.end(), call.callee.method) != methods.end();
  });
}

std::optional<u32> MethodBodies::il_offset(const StackFrame &frame) {
  return clr_ ? il_offsets_->find(frame.ip, !frame.is_active) : std::nullopt;
}

const std::vector<MethodBodies::Call> *MethodBodies::calls_at(Address module, u32 row) {
  if (!module || !row)
    return nullptr;
  auto [known, is_new] = known_.try_emplace({module, row});
  if (is_new)
    known->second = read(module, row);
  return known->second ? &*known->second : nullptr;
}

// The image lies section by section, or as in its file: whichever has a body there that is IL to its end.
MethodBodies::Calls MethodBodies::read(Address module, u32 row) {
  const Metadata *metadata = clr_->loader().metadata(module);
  const std::optional<MethodDefRow> method = metadata ? metadata->method(row) : std::nullopt;
  if (!method || !method->rva)
    return std::nullopt;
  for (Address base : clr_->loader().image_bases(module))
    for (bool mapped : {true, false}) {
      const std::optional<PeImage> image = PeImage::at(clr_->memory(), base, mapped);
      const std::optional<PeBlock> place = image && image->metadata() ? image->find(method->rva, 1) : std::nullopt;
      if (!place)
        continue;
      const std::optional<IlPlace> il = find_il(clr_->memory().view_up_to(place->address, most_body_header));
      if (!il || il->size > most_il)
        continue;
      const Bytes body = clr_->memory().view_up_to(place->address + il->offset, il->size);
      const std::optional<std::vector<MethodCall>> calls = body.size() == il->size ? find_calls(body) : std::nullopt;
      if (!calls)
        continue;
      std::vector<Call> out;
      for (const MethodCall &call : *calls)
        out.push_back({call.il_offset, name_of_callee(*metadata, call.callee)});
      return out;
    }
  return std::nullopt;
}

} // namespace dnheap
