#include "analysis/export/reference_names.h"

#include "objects/heap_types.h"

#include <algorithm>

namespace dnheap {

namespace {

constexpr u64 most_slots = 65536; // named per type

// Returns the offsets of the references in [from, to) in an object without components, or in one element.
std::vector<u64> slots_of(const GCDesc &references, u64 from, u64 to, u64 pointer_size) {
  std::vector<u64> out;
  auto add = [&](u64 begin, u64 end) {
    for (u64 at = begin; at < std::min(end, to) && out.size() < most_slots; at += pointer_size)
      if (at >= from)
        out.push_back(at);
  };
  if (const std::optional<u32> repeats = references.repeats_from()) {
    u64 at = *repeats;
    while (at < to && out.size() < most_slots)
      for (const GCDesc::Run &run : references.runs()) {
        add(at, at + run.bytes);
        at += u64{run.bytes} + run.offset;
        if (at == *repeats)
          return out; // the pattern has no length
      }
  } else {
    for (const GCDesc::Run &run : references.runs())
      run.grows ? add(std::max<u64>(from, run.offset), to) : add(run.offset, u64{run.offset} + run.bytes);
  }
  std::sort(out.begin(), out.end());
  return out;
}

} // namespace

ReferenceNames::ReferenceNames(const Snapshot &snapshot) {
  for (const char *text : {"(dependent handle)", "(its assembly's LoaderAllocator)", "(unnamed)"})
    intern(text);
  const HeapTypes &types = snapshot.references().types();
  types_.resize(types.size());
  for (u32 i = 0; i < types.size(); ++i) {
    snapshot.watch().check();
    if (!types[TypeId{i}].references.empty())
      add(snapshot.runtime().fields(), snapshot.references().format().pointer_size, types[TypeId{i}], types_[i]);
  }
}

u32 ReferenceNames::intern(std::string_view text) {
  auto [at, is_new] = numbers_.emplace(text, static_cast<u32>(texts_.size()));
  if (is_new)
    texts_.emplace_back(text);
  return at->second;
}

void ReferenceNames::add(Fields &fields, u64 pointer_size, const ObjectType &type, OfType &out) {
  u64 from = 0, to = ~u32{0};
  if (const std::optional<ElementShape> elements = fields.elements(type.method_table);
      elements && elements->size >= pointer_size) {
    out.start = elements->start;
    out.size = elements->size;
    from = out.start, to = out.start + out.size;
  } else if (!type.references.runs().empty() && type.references.runs()[0].grows) { // an array of unknown shape
    out = {{{0, intern("[*]")}}, type.references.runs()[0].offset, pointer_size};
    return;
  }
  for (u64 offset : slots_of(type.references, from, to, pointer_size)) {
    std::string_view text = fields.text(fields.reference(type.method_table, offset));
    if (text.starts_with('.'))
      text.remove_prefix(1);
    out.slots.push_back({offset - out.start, intern(text)});
  }
}

ReferenceNames::Name ReferenceNames::at(TypeId type, u64 offset) const {
  const OfType &of = types_[static_cast<u32>(type)];
  Name out{unnamed, {}};
  if (of.size && offset >= of.start) {
    out.element = (offset - of.start) / of.size;
    offset = (offset - of.start) % of.size;
  }
  auto slot = std::lower_bound(of.slots.begin(), of.slots.end(), offset,
                               [](const Slot &one, u64 wanted) { return one.offset < wanted; });
  if (slot != of.slots.end() && slot->offset == offset)
    out.text = slot->text;
  return out;
}

void ReferenceNames::append(std::string &out, const Name &name) const {
  const std::string &text = texts_[name.text];
  const u64 star = name.element ? text.find('*') : text.npos;
  if (star == text.npos) {
    out += text;
    return;
  }
  out.append(text, 0, star);
  out += std::to_string(*name.element);
  out.append(text, star + 1);
}

} // namespace dnheap
