#include "runtime/coreclr/types/assemblies.h"

#include "base/text.h"

#include <algorithm>

namespace dnheap {

namespace {

constexpr u64 most_types = 1 << 16; // types of one assembly that look like the framework's

// Public keys that sign .NET's assemblies: one word of each modulus. In the order of their tokens b03f5f7f11d50a3a,
// cc7b13ffcd2ddd51, 7cec85d7bea7798e, adb9793829ddae60, 31bf3856ad364e35.
constexpr u64 framework_keys[] = {0xf0d9aec457fad107, 0x349b5478cbc4864b, 0x3849869e6fc7568d, 0x40d7a94f04293af3,
                                  0x87677f02e790fcb5};
constexpr u64 key_size = 160, modulus_at = 32;

bool is_framework_key(Bytes key) {
  constexpr u8 ecma_key[16] = {0, 0, 0, 0, 0,
                               0, 0, 0, 4}; // token b77a5c561934e089, which stands for the platform's own key
  if (key.size() == sizeof(ecma_key))
    return std::equal(key.begin(), key.end(), std::begin(ecma_key),
                      [](std::byte a, u8 b) { return a == std::byte{b}; });
  if (key.size() != key_size)
    return false;
  const u64 word = load<u64>(key.data() + modulus_at, ByteOrder::little);
  return std::find(std::begin(framework_keys), std::end(framework_keys), word) != std::end(framework_keys);
}

// True for ".../shared/Microsoft.NETCore.App/10.0.1/System.Linq.dll", with either slash.
bool is_in_shared_framework(std::string path) {
  std::replace(path.begin(), path.end(), '\\', '/');
  const std::size_t at = path.rfind("/shared/Microsoft.");
  if (at == std::string::npos)
    return false;
  const std::string_view rest = std::string_view(path).substr(at + std::string_view("/shared/").size());
  return std::count(rest.begin(), rest.end(), '/') == 2 && rest.substr(0, rest.find('/')).ends_with(".App");
}

void set_origin(LoadedAssembly &assembly, const Metadata *metadata) {
  const std::optional<AssemblyRow> row = metadata ? metadata->assembly() : std::nullopt;
  if (is_in_shared_framework(assembly.path)) {
    assembly.is_framework = true;
    assembly.why = "in the folder of a shared framework";
  } else if (row && !row->public_key.empty()) {
    assembly.is_framework = is_framework_key(row->public_key);
    assembly.why = assembly.is_framework ? "signed with a key of .NET's" : "signed with a key that is not .NET's";
  } else if (row) {
    assembly.is_framework = row->name == "System.Private.CoreLib";
    assembly.why = assembly.is_framework ? "by its name" : "not signed";
  } else {
    assembly.is_framework = has_framework_namespace(assembly.name);
    assembly.why = "by its name: the dump lacks its metadata";
  }
}

// "Cache`1" becomes "Cache", as in names of types.
std::string full_name(const TypeDefRow &row) {
  return shortened(row.name_space, 500) + "." + shortened(row.name.substr(0, row.name.find('`')), 500);
}

std::vector<std::string> types_like_framework(const Metadata &metadata) {
  std::vector<std::string> out;
  for (u32 rid = 1; rid <= metadata.row_count(Table::TypeDef) && out.size() < most_types; ++rid)
    if (const std::optional<TypeDefRow> row = metadata.type_def(rid); row && !row->name_space.empty())
      if (std::string name = full_name(*row); has_framework_namespace(name))
        out.push_back(std::move(name));
  return out;
}

// The facts that the runtime publishes on an assembly.
class PublishedAssembly {
public:
  PublishedAssembly(const Memory &memory, const ContractDescriptor &descriptor)
      : memory_(memory), descriptor_(descriptor) {}

  void read(Address module, LoadedAssembly &to) const {
    const Address assembly = follow(module, "Module", "Assembly");
    to.is_collectible = flag(assembly, "IsCollectible");
    to.is_dynamic = flag(assembly, "IsDynamic");
    to.is_loaded = flag(assembly, "IsLoaded");
    const Address binder = follow(follow(module, "Module", "PEAssembly"), "PEAssembly", "AssemblyBinder"),
                  handle = follow(binder, "AssemblyBinder", "AssemblyLoadContext");
    to.context = handle ? memory_.try_pointer(handle).value_or(0) : 0;
  }

private:
  Address follow(Address from, const char *type, const char *field) const {
    const std::optional<i64> offset = from ? descriptor_.try_offset(type, field) : std::nullopt;
    return offset ? memory_.try_pointer(from + static_cast<u64>(*offset)).value_or(0) : 0;
  }
  std::optional<bool> flag(Address assembly, const char *field) const {
    const std::optional<i64> offset = assembly ? descriptor_.try_offset("Assembly", field) : std::nullopt;
    const std::optional<u8> byte = offset ? memory_.try_load<u8>(assembly + static_cast<u64>(*offset)) : std::nullopt;
    return byte ? std::optional(*byte != 0) : std::nullopt;
  }

  const Memory &memory_;
  const ContractDescriptor &descriptor_;
};

} // namespace

std::vector<LoadedAssembly> loaded_assemblies(const Target &target, const ContractDescriptor &descriptor,
                                              const LoadedTypes &loaded, Loader1 &loader, Notes &notes) {
  const PublishedAssembly published(target.memory, descriptor);
  std::vector<LoadedAssembly> out;
  for (Address module : loaded.modules(notes)) {
    LoadedAssembly one;
    one.module = module;
    one.name = loader.file_name(module);
    const auto bases = loader.image_bases(module);
    for (Address base : bases)
      if (const Module *mapped = target.find_module(base);
          mapped && one.path.empty() && mapped->file_name() == one.name &&
          mapped->path.find_first_of("/\\") != mapped->path.npos) // else the assembly was loaded from bytes
        one.path = mapped->path;
    const Metadata *metadata = loader.metadata(module);
    if (bases.empty() && metadata) // all assemblies without an image have one file name
      if (const std::optional<AssemblyRow> row = metadata->assembly(); row && !row->name.empty())
        one.name = row->name;
    set_origin(one, metadata);
    published.read(module, one);
    one.is_emitted = one.is_dynamic.value_or(bases.empty() && metadata);
    if (!one.is_framework && metadata)
      one.types_like_framework = types_like_framework(*metadata);
    out.push_back(std::move(one));
  }
  return out;
}

} // namespace dnheap
