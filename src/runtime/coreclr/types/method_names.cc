#include "runtime/coreclr/types/method_names.h"

#include "base/text.h"
#include "metadata/parameter_text.h"

namespace dnheap {

namespace {

constexpr u64 max_name = 4096, max_arguments = 256, max_signature = 4096;

std::string argument_list(const std::vector<std::string> &names) {
  std::string out;
  for (const std::string &name : names)
    out += (out.empty() ? "<" : ", ") + name;
  return out.empty() ? out : out + ">";
}

} // namespace

// If the target does not publish a value, that of .NET 8 to 10 is used. .NET 9 and later have one word more in a
// MethodDesc; only 8.0 has MethodTable.Token.
MethodNames::MethodNames(const Target &target, const ContractDescriptor &d, RuntimeTypeSystem1 &types, Loader1 &loader)
    : memory_(&target.memory), types_(&types), loader_(&loader), methods_(target, d, types, loader),
      p_(target.format().pointer_size) {
  auto offset = [&](const char *type, const char *field, u64 otherwise) {
    return static_cast<u64>(d.try_offset(type, field).value_or(static_cast<i64>(otherwise)));
  };
  const u64 own = d.try_offset("MethodTable", "Token") ? 8 : 8 + p_; // size of a MethodDesc
  arguments_ = offset("InstantiatedMethodDesc", "PerInstInfo", own + p_);
  argument_count_ = offset("InstantiatedMethodDesc", "NumGenericArgs", own + 2 * p_ + 2);
  signature_ = offset("StoredSigMethodDesc", "Sig", own);
  signature_size_ = offset("StoredSigMethodDesc", "cSig", own + p_);
}

std::vector<Address> MethodNames::method_arguments(Address method) const {
  std::vector<Address> out;
  if (!methods_.is_instantiated(method))
    return out;
  const std::optional<u16> count = memory_->try_load<u16>(method + argument_count_);
  const std::optional<u64> arguments = memory_->try_pointer(method + arguments_);
  if (!count || !arguments || !*arguments || *count > max_arguments)
    return out;
  for (u64 i = 0; i < *count; ++i)
    out.push_back(memory_->try_pointer(*arguments + i * p_).value_or(0));
  return out;
}

std::vector<std::string> MethodNames::names_of(const std::vector<Address> &handles) const {
  std::vector<std::string> out;
  u64 length = 0;
  for (Address handle : handles) {
    out.push_back(handle ? types_->handle_name(handle) : "?");
    if ((length += out.back().size()) > max_name)
      break;
  }
  return out;
}

// A dynamic method has no row. Some are stubs that the runtime generates, which it names IL_STUB….
MethodText MethodNames::dynamic_text(Address method) const {
  std::string name = methods_.name(method);
  if (name.empty())
    name = "<method " + hex(method) + ">";
  MethodText out;
  out.qualified = std::string(name.starts_with("IL_STUB") ? stub_class : "DynamicClass.") + name;
  const Address type = methods_.method_table_of(method); // for a delegate's stub, the delegate's type
  const std::vector<std::string> of_type = names_of(types_->instantiation(type));
  const Metadata *metadata = loader_->metadata(types_->module_of(type));
  const std::optional<u64> at = memory_->try_pointer(method + signature_);
  const std::optional<u32> size = memory_->try_load<u32>(method + signature_size_);
  std::optional<MethodSignature> signature;
  if (metadata && at && size && *size <= max_signature)
    signature = decode_method(memory_->view(*at, *size), static_cast<u8>(p_));
  const SignatureNames names{.type_arguments = of_type,
                             .handle = [this](Address handle) { return types_->handle_name(handle); }};
  out.name = shortened(out.qualified + (signature ? parameter_text(*signature, *metadata, names) : "()"), max_name);
  return out;
}

MethodText MethodNames::text(Address method) const {
  MethodText out;
  if (!methods_.is_method_desc(method)) {
    out.name = out.qualified = "<method " + hex(method) + ">";
    return out;
  }
  if (methods_.is_dynamic(method))
    return dynamic_text(method);
  const Address type = methods_.method_table_of(method);
  const Address module = types_->module_of(type);
  out.module = loader_->file_name(module);
  std::string name = methods_.name(method);
  if (name.empty())
    name = "<method " + hex(method) + ">";
  const std::vector<std::string> arguments = names_of(method_arguments(method));
  out.qualified = shortened(types_->name(type) + "." + name + argument_list(arguments), max_name);
  const Metadata *metadata = loader_->metadata(module);
  const std::optional<MethodDefRow> row = metadata ? metadata->method(methods_.row(method)) : std::nullopt;
  const std::optional<MethodSignature> signature = row ? decode_method(row->signature) : std::nullopt;
  out.name = out.qualified;
  if (signature) {
    const std::vector<std::string> of_type = names_of(types_->instantiation(type));
    out.name = shortened(out.name + parameter_text(*signature, *metadata, {of_type, arguments, {}}), max_name);
  }
  return out;
}

} // namespace dnheap
