#include "analysis/objects/address_meaning.h"

#include "analysis/objects/object_view.h"
#include "base/text.h"
#include "runtime/facts/il_code.h"
#include "runtime/object_1.h"
#include "runtime/thread_registers.h"

#include <algorithm>

namespace dnheap {

namespace {

std::string with_offset(std::string name, u64 offset) { return offset ? name + "+" + hex(offset) : name; }

// "poll+0x4f" is the function poll and 0x4f.
AddressMeaning native_meaning(const std::string &function, const std::string &module, Address address) {
  AddressMeaning out{"native function", address, function, module, 0};
  const std::size_t plus = function.rfind("+0x");
  if (plus == function.npos)
    return out;
  if (const std::optional<Address> offset = written_address(std::string_view(function).substr(plus + 1));
      offset && *offset <= address) {
    out.name.resize(plus);
    out.offset = *offset;
    out.start = address - *offset;
  }
  return out;
}

} // namespace

AddressMeanings::AddressMeanings(const Snapshot &snapshot)
    : snapshot_(snapshot), runtime_(snapshot.runtime()), objects_(snapshot.index(), snapshot.heap(), runtime_),
      il_(runtime_.il_code()), functions_(snapshot) {
  Notes ignored; // other verbs say why threads are unknown
  threads_ = runtime_.threads(ignored);
}

void AddressMeanings::add_object(Address address, std::vector<AddressMeaning> &to) {
  const Address object = objects_.find(address);
  if (!object)
    return;
  TypeSystem &types = runtime_.types();
  const Address type = method_table_of(runtime_.memory(), object);
  to.push_back({"object", object, types.name(type), types.assembly(type), address - object});
}

std::optional<std::string> AddressMeanings::module_called(Address address) const {
  if (!address)
    return std::nullopt;
  for (const LoadedAssembly &one : snapshot_.assemblies())
    if (one.module == address)
      return one.name;
  return std::nullopt;
}

void AddressMeanings::add_runtime_data(Address address, std::vector<AddressMeaning> &to) {
  if (is_method_table(snapshot_, address))
    to.push_back({"type", address, runtime_.types().name(address), runtime_.types().assembly(address), 0});
  if (il_ && il_->is_method(address)) {
    const MethodText text = runtime_.method_text(address);
    to.push_back({"method", address, text.name, text.module, 0});
  }
  if (const std::optional<std::string> module = module_called(address))
    to.push_back({"module", address, *module, *module, 0});
}

void AddressMeanings::add_code(Address address, std::vector<AddressMeaning> &to) {
  if (const Address method = runtime_.method_at(address)) {
    const MethodText text = runtime_.method_text(method);
    to.push_back({"code", method, text.name, text.module, 0});
  }
}

void AddressMeanings::add_native(Address address, std::vector<AddressMeaning> &to) {
  const Module *module = runtime_.target().find_module(address);
  if (!module)
    return;
  const std::string file(module->file_name());
  if (const std::string function = functions_.find(*module, address); !function.empty())
    to.push_back(native_meaning(function, file, address));
  to.push_back({"file", module->base, file, module->path, address - module->base});
}

void AddressMeanings::add_place(Address address, std::vector<AddressMeaning> &to) const {
  for (const ThreadData &thread : threads_)
    if (in_stack(thread, address) && thread.os_id.value_or(0)) {
      to.push_back(
          {"stack", *thread.stack_limit, "thread " + std::to_string(*thread.os_id), "", address - *thread.stack_limit});
      break;
    }
  if (const ObjectRange *range = range_of(snapshot_.heap(), address); range && address < range->end())
    to.push_back({"heap", range->address, name_of(range->generation), "", address - range->address});
}

std::vector<AddressMeaning> AddressMeanings::of(Address address) {
  std::vector<AddressMeaning> out;
  if (!address)
    return out;
  add_object(address, out);
  add_runtime_data(address, out);
  add_code(address, out);
  if (out.empty() || std::string_view(out.front().kind) != "object")
    add_native(address, out);
  add_place(address, out);
  return out;
}

std::string AddressMeanings::text(Address address) {
  const std::vector<AddressMeaning> all = of(address);
  if (all.empty())
    return "";
  const AddressMeaning &first = all.front();
  const std::string_view kind = first.kind;
  if (kind == "object" || kind == "file")
    return with_offset(first.name, first.offset);
  if (kind == "native function")
    return first.file + "!" + with_offset(first.name, first.offset);
  return (kind == "type"     ? "MethodTable of "
          : kind == "method" ? "MethodDesc of "
          : kind == "code"   ? "code of "
          : kind == "module" ? "Module of "
          : kind == "stack"  ? "stack of "
                             : "heap, ") +
         first.name;
}

} // namespace dnheap
