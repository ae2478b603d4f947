// describe(): signatures as text.
#include "metadata/signature.h"
#include "metadata/type_name.h"

namespace dnheap {

namespace {

constexpr unsigned deepest = 64;
constexpr std::size_t max_text = 16384;

// Damaged TypeSpecs may refer to each other in a circle (the depth limit ends that) or double at every step (the budget
// does).
class Writer {
public:
  Writer(const Metadata &metadata, GenericOwner owner, std::span<const std::string> arguments = {})
      : metadata_(metadata), owner_(owner), arguments_(arguments) {}

  std::string text(const SignatureType &type, unsigned depth = 0);
  std::vector<std::string> texts(std::span<const SignatureType> types, unsigned depth);

private:
  std::string named(Token type, std::span<const SignatureType> arguments, unsigned depth);
  std::string parameter(Token owner, std::string mark, u32 number);
  std::string charged(std::string text) {
    budget_ -= std::min(budget_, text.size() + 1);
    return text;
  }

  const Metadata &metadata_;
  GenericOwner owner_;
  std::span<const std::string> arguments_; // of the type
  std::size_t budget_ = max_text;
};

std::string Writer::text(const SignatureType &type, unsigned depth) {
  if (depth > deepest || budget_ == 0)
    return "...";
  std::span<const SignatureType> children = type.children;
  switch (type.kind) {
  case ElementType::Ptr: return text(children[0], depth + 1) + '*';
  case ElementType::ByRef: return text(children[0], depth + 1) + '&';
  case ElementType::SzArray: return array_type_name(text(children[0], depth + 1), 1, true);
  case ElementType::Array: return array_type_name(text(children[0], depth + 1), type.number, false);
  case ElementType::Class:
  case ElementType::ValueType: return named(type.token, {}, depth);
  case ElementType::GenericInst: return named(children[0].token, children.subspan(1), depth);
  case ElementType::Var:
    if (type.number < arguments_.size())
      return charged(arguments_[type.number]);
    return parameter(token(Table::TypeDef, owner_.type_rid), "!", type.number);
  case ElementType::MVar: return parameter(token(Table::MethodDef, owner_.method_rid), "!!", type.number);
  case ElementType::FnPtr:
    return function_pointer_type_name(text(children[0], depth + 1), texts(children.subspan(1), depth));
  default: {
    const char *name = core_type_name(type.kind);
    return charged(name ? name : "?");
  }
  }
}

std::vector<std::string> Writer::texts(std::span<const SignatureType> types, unsigned depth) {
  std::vector<std::string> out;
  for (const SignatureType &type : types) {
    out.push_back(text(type, depth + 1));
    if (budget_ == 0)
      break;
  }
  return out;
}

std::string Writer::named(Token type, std::span<const SignatureType> arguments, unsigned depth) {
  if (table_of(type) == Table::TypeSpec) {
    std::optional<SignatureType> specified = decode_type(metadata_.type_spec(rid_of(type)));
    return specified ? text(*specified, depth + 1) : charged("?");
  }
  std::vector<TypeNamePart> parts = type_name_parts(metadata_, type);
  if (parts.empty())
    return charged("?");
  for (const TypeNamePart &part : parts)
    budget_ -= std::min(budget_, part.name_space.size() + part.name.size() + 1);
  return format_type_name(parts, texts(arguments, depth));
}

std::string Writer::parameter(Token owner, std::string mark, u32 number) {
  if (number < metadata_.generic_parameter_count(owner))
    return charged(std::string(metadata_.generic_parameters(owner)[number]));
  return charged(mark + std::to_string(number));
}

} // namespace

std::string describe(const SignatureType &type, const Metadata &metadata, GenericOwner owner) {
  return Writer(metadata, owner).text(type);
}

std::string describe(const SignatureType &type, const Metadata &metadata, std::span<const std::string> arguments) {
  return Writer(metadata, {}, arguments).text(type);
}

std::string describe_parameters(const MethodSignature &method, const Metadata &metadata, GenericOwner owner) {
  return function_pointer_type_name({}, Writer(metadata, owner).texts(method.parameters, 0));
}

} // namespace dnheap
