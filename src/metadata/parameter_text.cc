#include "metadata/parameter_text.h"

#include "metadata/type_name.h"

#include <algorithm>

namespace dnheap {

namespace {

constexpr unsigned max_depth = 64;
constexpr std::size_t max_text = 4096;

class ParameterWriter {
public:
  ParameterWriter(const Metadata &metadata, const SignatureNames &names) : metadata_(metadata), names_(names) {}

  std::string text(const SignatureType &type, unsigned depth = 0) {
    if (depth > max_depth || left_ == 0)
      return "...";
    const std::span<const SignatureType> children = type.children;
    switch (type.kind) {
    case ElementType::Ptr: return text(children[0], depth + 1) + "*";
    case ElementType::ByRef: return text(children[0], depth + 1) + " ByRef";
    case ElementType::SzArray: return array_type_name(text(children[0], depth + 1), 1, true);
    case ElementType::Array: return array_type_name(text(children[0], depth + 1), type.number, false);
    case ElementType::GenericInst: return instance(children, depth);
    case ElementType::Var: return argument(names_.type_arguments, "!", type.number);
    case ElementType::MVar: return argument(names_.method_arguments, "!!", type.number);
    case ElementType::FnPtr: {
      std::vector<std::string> parts = texts(children, depth);
      return function_pointer_type_name(parts.empty() ? "" : parts[0] + " ", std::span(parts).subspan(!parts.empty()));
    }
    case ElementType::Internal:
      return charged(without_core_namespace(names_.handle ? names_.handle(type.handle) : "?"));
    default: return charged(without_core_namespace(describe(type, metadata_)));
    }
  }
  std::vector<std::string> texts(std::span<const SignatureType> types, unsigned depth) {
    std::vector<std::string> out;
    for (const SignatureType &type : types) {
      out.push_back(text(type, depth + 1));
      if (left_ == 0)
        break;
    }
    return out;
  }

private:
  std::string charged(std::string text) {
    left_ -= std::min(left_, text.size() + 1);
    return text;
  }
  std::string argument(std::span<const std::string> arguments, const char *mark, u32 number) {
    return charged(number < arguments.size() ? without_core_namespace(arguments[number])
                                             : mark + std::to_string(number));
  }
  std::string instance(std::span<const SignatureType> children, unsigned depth) {
    const std::vector<TypeNamePart> parts = type_name_parts(metadata_, children[0].token);
    if (parts.empty())
      return charged("?");
    for (const TypeNamePart &part : parts)
      left_ -= std::min(left_, part.name_space.size() + part.name.size() + 1);
    return format_type_name(parts, texts(children.subspan(1), depth));
  }

  const Metadata &metadata_;
  const SignatureNames &names_;
  std::size_t left_ = max_text;
};

} // namespace

std::string without_core_namespace(const std::string &type) {
  for (u8 kind = u8(ElementType::Void); kind <= u8(ElementType::Object); ++kind)
    if (const char *name = core_type_name(ElementType{kind});
        name && ElementType{kind} != ElementType::String && ElementType{kind} != ElementType::Object && type == name)
      return type.substr(std::string_view("System.").size());
  return type;
}

std::string parameter_text(const MethodSignature &method, const Metadata &metadata, const SignatureNames &names) {
  return function_pointer_type_name("", ParameterWriter(metadata, names).texts(method.parameters, 0));
}

} // namespace dnheap
