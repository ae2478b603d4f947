#include "analysis/waits/passed_waits.h"

#include "analysis/shapes/typed_objects.h"
#include "analysis/waits/owner_fields.h"

#include <algorithm>

namespace dnheap {

namespace {

constexpr u64 most_owners = 4096; // objects of one type
constexpr std::string_view semaphore = "System.Threading.SemaphoreSlim";

} // namespace

std::set<std::string> fields_waited_for(const std::vector<MethodBodies::Call> &calls, u32 il_offset) {
  std::set<std::string> out;
  for (const MethodBodies::Call &call : calls) {
    if (call.il_offset >= il_offset)
      break;
    if (call.callee.type != semaphore)
      continue;
    if (call.callee.method == "Wait")
      out.insert(call.fields.begin(), call.fields.end());
    else if (call.callee.method == "Release")
      for (const std::string &field : call.fields)
        out.erase(field);
  }
  out.erase("");
  return out;
}

PassedWaits::PassedWaits(const Snapshot &snapshot, MethodBodies &bodies)
    : snapshot_(snapshot), runtime_(snapshot.runtime()), bodies_(bodies), fields_(runtime_) {}

// The call in which the frame is does not begin before its place.
std::vector<PassedWaits::Passed> PassedWaits::by(const StackFrame &frame) {
  std::vector<Passed> out;
  const std::vector<MethodBodies::Call> *calls = bodies_.calls_of(frame.method_desc);
  const std::optional<u32> at = calls ? bodies_.il_offset(frame) : std::nullopt;
  if (!at)
    return out;
  const std::set<std::string> fields = fields_waited_for(*calls, *at);
  if (fields.empty())
    return out;
  const MethodText method = runtime_.method_text(frame.method_desc);
  const std::string outer(type_of_member(method.qualified));
  const std::string own = method.qualified.substr(0, method.qualified.rfind('.'));
  for (const std::string &field : fields) {
    out.push_back({outer, field, method.name});
    if (own != outer)
      out.push_back({own, field, method.name});
  }
  return out;
}

std::map<std::string, std::vector<PassedWaits::Owner>> PassedWaits::owners(const std::set<std::string> &types) {
  std::map<std::string, u64> counts;
  std::map<std::string, std::vector<Owner>> out;
  auto name_of = [&](Address type) -> const std::string & { return runtime_.types().name(type); };
  for (const TypeTally &type : snapshot_.tally().types)
    if (types.contains(name_of(type.method_table)))
      counts[name_of(type.method_table)] += type.total().count;
  std::erase_if(counts, [](const auto &one) { return one.second > most_owners; });
  if (counts.empty())
    return out;
  for (const TypedObject &object :
       objects_that(snapshot_, [&](Address type) { return counts.contains(name_of(type)); })) {
    const std::string &type = name_of(object.method_table);
    out[type].push_back({object.address, counts[type] == 1});
  }
  return out;
}

bool PassedWaits::has(Address object, Address other) {
  if (object == other)
    return true;
  const Address type = fields_.type_of(object);
  if (!other || !type || !runtime_.types().object_layout(type))
    return false;
  return std::ranges::any_of(runtime_.fields().instance_fields(type), [&](const InstanceField &field) {
    return field.is_reference() && fields_.memory().try_pointer(object + field.offset) == other;
  });
}

} // namespace dnheap
