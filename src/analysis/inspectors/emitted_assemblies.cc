#include "analysis/inspectors/emitted_assemblies.h"

#include "analysis/inspectors/allocator_contents.h"
#include "analysis/shapes/field_reader.h"
#include "analysis/shapes/holding_fields.h"
#include "analysis/shapes/typed_objects.h"
#include "base/text.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace dnheap {

namespace {

constexpr const char *module_type = "System.Reflection.RuntimeModule";
constexpr const char *allocator_type = "System.Reflection.LoaderAllocator";

// Names that libraries give to what they make.
struct AssemblyMaker {
  const char *name, *maker;
};
constexpr AssemblyMaker assembly_makers[] = {
    {"Microsoft.GeneratedCode", "XmlSerializer"},
    {"ProxyBuilder", "DispatchProxy"},
    {"Anonymously Hosted DynamicMethods Assembly", "DynamicMethod"}, // of expressions and regular expressions, too
    {"DynamicProxyGenAssembly*", "Castle DynamicProxy"}};

std::string maker_of(const std::string &pattern) {
  for (const AssemblyMaker &known : assembly_makers)
    if (pattern == known.name)
      return known.maker;
  return "";
}

struct ManagedAssembly {
  Address allocator = 0; // 0: the assembly is not collectible
};

// Reads what the managed objects of modules know. .NET 8 publishes nothing else on whether an assembly is collectible.
std::map<Address, ManagedAssembly> managed_assemblies(const Snapshot &snapshot, FieldReader &fields) {
  TypeSystem &types = snapshot.runtime().types();
  std::map<Address, ManagedAssembly> out; // by the runtime's Module
  for (const TypedObject &one : objects_called(snapshot, module_type)) {
    const Address module = fields.reference_or_null(one.address, "m_pData"),
                  assembly = fields.reference_or_null(one.address, "m_runtimeAssembly");
    const std::optional<Address> kept = fields.reference(assembly, "m_syncRoot");
    if (module && kept)
      out[module].allocator = *kept && types.name(fields.type_of(*kept)) == allocator_type ? *kept : 0;
  }
  return out;
}

bool is_hex(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Returns the length of a number at the start of the text, or of a GUID or the like; 0: there is none.
std::size_t number_length(std::string_view text) {
  constexpr std::size_t least_hex = 8;
  std::size_t hex = 0, digits = 0, known_digits = 0;
  while (hex < text.size() && (is_hex(text[hex]) || (hex && text[hex] == '-')))
    known_digits += is_digit(text[hex++]);
  while (digits < text.size() && is_digit(text[digits]))
    ++digits;
  return hex >= least_hex && known_digits ? hex : digits;
}

} // namespace

std::string name_pattern(std::string_view name) {
  std::string out;
  for (name = name.substr(0, 500); !name.empty();) {
    const std::size_t length = number_length(name);
    if (!length)
      out += name.front();
    else if (out.empty() || out.back() != '*')
      out += '*';
    name.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return out;
}

std::vector<EmittedAssemblies> find_emitted_assemblies(const Snapshot &snapshot) {
  FieldReader fields(snapshot.runtime());
  std::vector<const LoadedAssembly *> emitted;
  for (const LoadedAssembly &one : snapshot.assemblies())
    if (one.is_emitted)
      emitted.push_back(&one);
  if (emitted.empty())
    return {};
  const std::map<Address, ManagedAssembly> managed = managed_assemblies(snapshot, fields);
  auto allocator_of = [&](const LoadedAssembly &assembly) {
    const auto found = managed.find(assembly.module);
    return found == managed.end() ? 0 : found->second.allocator;
  };
  auto native_of = [&](Address allocator) {
    return fields.reference_or_null(fields.reference_or_null(allocator, "m_scout"), "m_nativeLoaderAllocator");
  };
  std::vector<Address> allocators, natives;
  for (const LoadedAssembly *one : emitted)
    if (const Address allocator = allocator_of(*one)) {
      natives.push_back(native_of(allocator));
      if (allocators.size() < most_allocator_paths)
        allocators.push_back(allocator);
    }
  const std::unordered_map<Address, std::string> ways = ways_to_allocators(snapshot, allocators);
  const std::unordered_map<Address, Tally> objects = objects_by_allocator(snapshot);
  const std::unordered_map<Address, u64> loaders = loader_bytes(snapshot.runtime(), natives);
  std::ranges::sort(allocators);
  std::map<std::tuple<std::string, std::optional<bool>, std::string>, EmittedAssemblies> groups;
  for (const LoadedAssembly *one : emitted) {
    const Address allocator = allocator_of(*one);
    EmittedAssemblies found;
    found.name = name_pattern(one->name);
    found.is_collectible = one->is_collectible;
    if (managed.contains(one->module))
      found.is_collectible = allocator != 0;
    if (const auto way = ways.find(allocator); way != ways.end())
      found.kept_by = way->second;
    else if (std::ranges::binary_search(allocators, allocator))
      found.kept_by = HoldingFields::nobody_text;
    EmittedAssemblies &group =
        groups.emplace(std::tuple(found.name, found.is_collectible, found.kept_by), found).first->second;
    ++group.count;
    group.maker = maker_of(group.name);
    group.allocator = group.allocator ? group.allocator : allocator;
    if (const auto of = objects.find(allocator); of != objects.end())
      group.objects += of->second.count, group.object_bytes += of->second.bytes;
    if (const auto of = allocator ? loaders.find(native_of(allocator)) : loaders.end(); of != loaders.end())
      group.loader_bytes += of->second;
  }
  std::vector<EmittedAssemblies> out;
  for (auto &[key, group] : groups)
    out.push_back(std::move(group));
  std::ranges::stable_sort(out, std::greater(), &EmittedAssemblies::count);
  return out;
}

} // namespace dnheap
