#include "snapshot/program_il.h"

#include "metadata/signature.h"
#include "metadata/type_name.h"
#include "snapshot/snapshot.h"

#include <algorithm>

namespace dnheap {

namespace {

constexpr u64 most_uses = 1 << 25; // of one module: 16 bytes each, while they are sorted
constexpr u32 checked_methods = 1024;

bool is_pointer(const SignatureType &type) {
  return type.kind == ElementType::I || type.kind == ElementType::U || type.kind == ElementType::Ptr ||
         type.kind == ElementType::Class; // a SafeHandle
}

// Rows of ImplMap (II.22.22): flags, method, name of the function, library.
std::vector<NativeCall> natives_of(const Metadata &metadata) {
  std::vector<NativeCall> out;
  for (u32 row = 1; row <= metadata.row_count(Table::ImplMap); ++row) {
    const Token method = metadata.token_column(Table::ImplMap, row, 1);
    const std::optional<u32> name = metadata.column(Table::ImplMap, row, 2),
                             library = metadata.column(Table::ImplMap, row, 3);
    const std::optional<MethodDefRow> declared =
        table_of(method) == Table::MethodDef ? metadata.method(rid_of(method)) : std::nullopt;
    if (!declared || !name || !library)
      continue;
    const std::optional<MethodSignature> signature = decode_method(declared->signature);
    out.push_back({rid_of(method), std::string(metadata.module_ref_name(*library)), std::string(metadata.string(*name)),
                   signature && is_pointer(signature->returns)});
  }
  std::ranges::sort(out, std::less(), &NativeCall::method);
  return out;
}

struct ProgramUse {
  u32 method = 0;
  NamedInIl named;
};

// Marks the module as not whole if some of its IL is missing, or beyond the limit.
std::vector<ProgramUse> read_uses(const Snapshot &snapshot, MethodBodies &bodies, ProgramModule &module) {
  std::vector<ProgramUse> out;
  const u32 methods = module.metadata->row_count(Table::MethodDef);
  for (u32 row = 1; row <= methods; ++row) {
    if (row % checked_methods == 0)
      snapshot.watch().check();
    const std::optional<MethodDefRow> method = module.metadata->method(row);
    if (method && !method->rva) // abstract, or native
      continue;
    const std::optional<Bytes> il = bodies.il_of(module.module, row);
    const std::optional<std::vector<NamedInIl>> uses = il ? find_uses(*il) : std::nullopt;
    if (!uses || uses->size() > most_uses - out.size()) {
      module.is_whole = false;
      continue;
    }
    for (const NamedInIl &one : *uses)
      out.push_back({row, one});
  }
  return out;
}

void read_members(std::vector<ProgramUse> uses, ProgramModule &to) {
  std::ranges::stable_sort(uses, {}, [](const ProgramUse &one) { return std::pair(one.named.token, one.named.use); });
  for (u64 i = 0, end = 0; i < uses.size(); i = end) {
    const NamedInIl &named = uses[i].named;
    std::vector<u32> methods;
    for (end = i; end < uses.size() && uses[end].named.token == named.token && uses[end].named.use == named.use; ++end)
      if (methods.empty() || methods.back() != uses[end].method)
        methods.push_back(uses[end].method);
    if (const Token type = type_of_member(*to.metadata, named.token))
      to.members.push_back({named.token, named.use, type_name(*to.metadata, type),
                            name_of_member(*to.metadata, named.token), std::move(methods)});
  }
}

void read_compiled(MethodBodies &bodies, std::vector<ProgramModule> &modules) {
  const IlCode &code = *bodies.code();
  const std::optional<std::vector<Address>> all = code.compiled_methods();
  if (!all)
    return;
  for (Address method : *all)
    if (const std::optional<MetadataRow> row = code.find_method(method))
      for (ProgramModule &one : modules)
        if (one.module == row->module)
          one.compiled.push_back(row->row);
  for (ProgramModule &one : modules) {
    std::ranges::sort(one.compiled);
    one.compiled.erase(std::ranges::unique(one.compiled).begin(), one.compiled.end());
    one.knows_run = !all->empty() && bodies.is_compiled_ahead(one.module) == false;
  }
}

} // namespace

bool ProgramIl::is_whole() const { return std::ranges::all_of(modules_, &ProgramModule::is_whole); }

bool ProgramIl::is_run_known() const { return std::ranges::any_of(modules_, &ProgramModule::knows_run); }

bool ProgramModule::has_run(u32 method) const { return !knows_run || std::ranges::binary_search(compiled, method); }

std::string ProgramModule::name_of(u32 method) const {
  const std::optional<MethodDefRow> row = metadata->method(method);
  const u32 type = metadata->type_of_method(method);
  return row && type ? type_name(*metadata, token(Table::TypeDef, type)) + "." + std::string(row->name) : "";
}

std::shared_ptr<const ProgramIl> ProgramIl::of(const Snapshot &snapshot) {
  return snapshot.kept<ProgramIl>([&] { return std::make_shared<ProgramIl>(snapshot); });
}

ProgramIl::ProgramIl(const Snapshot &snapshot) : bodies_(std::make_unique<MethodBodies>(snapshot)) {
  IlCode *code = bodies_->code();
  if (!code)
    return;
  for (const LoadedAssembly &assembly : snapshot.assemblies()) {
    if (assembly.is_framework || assembly.is_emitted || !assembly.module)
      continue;
    const Metadata *metadata = code->metadata(assembly.module);
    if (!metadata)
      continue;
    modules_.push_back({assembly.module, metadata, {}, natives_of(*metadata), {}});
    read_members(read_uses(snapshot, *bodies_, modules_.back()), modules_.back());
  }
  read_compiled(*bodies_, modules_);
}

} // namespace dnheap
