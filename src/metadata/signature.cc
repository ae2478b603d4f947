#include "metadata/signature.h"

namespace dnheap {

namespace {

constexpr unsigned max_depth = 64, max_nodes = 4096;

// Decodes one blob. Every function returns false or nullopt as soon as the blob is wrong.
class Decoder {
public:
  Decoder(Bytes signature, u8 pointer_size) : rest_(signature), pointer_size_(pointer_size) {}

  std::optional<u8> take_byte() {
    if (rest_.empty())
      return std::nullopt;
    u8 value = static_cast<u8>(rest_[0]);
    rest_ = rest_.subspan(1);
    return value;
  }
  std::optional<SignatureType> take_type(unsigned depth = 0);
  std::optional<MethodSignature> take_method(unsigned depth = 0);

private:
  bool skip_modifiers();
  bool take_children(SignatureType &type, u32 count, unsigned depth);
  bool take_shape(SignatureType &type);
  std::optional<Address> take_pointer();
  bool take_token(SignatureType &type);
  bool complete(SignatureType &type, unsigned depth);

  Bytes rest_;
  u8 pointer_size_;
  unsigned nodes_ = 0;
};

// II.23.2.7; also `pinned` (II.23.2.6), the sentinel (II.23.2.2), and the runtime's own modifier by handle.
bool Decoder::skip_modifiers() {
  while (!rest_.empty()) {
    switch (static_cast<ElementType>(rest_[0])) {
    case ElementType::CModReqd:
    case ElementType::CModOpt:
      rest_ = rest_.subspan(1);
      if (!take_compressed(rest_))
        return false;
      break;
    case ElementType::CModInternal:
      if (rest_.size() < 2u + pointer_size_)
        return false;
      rest_ = rest_.subspan(2u + pointer_size_);
      break;
    case ElementType::Pinned:
    case ElementType::Sentinel: rest_ = rest_.subspan(1); break;
    default: return true;
    }
  }
  return false;
}

std::optional<Address> Decoder::take_pointer() {
  Bytes bytes = slice(rest_, 0, pointer_size_);
  if (bytes.empty())
    return std::nullopt;
  rest_ = rest_.subspan(pointer_size_);
  return load_pointer(bytes.data(), {pointer_size_, ByteOrder::little});
}

// TypeDefOrRefOrSpecEncoded, II.23.2.8
bool Decoder::take_token(SignatureType &type) {
  std::optional<u32> coded = take_compressed(rest_);
  if (!coded || (*coded & 3) == 3)
    return false;
  type.token = token(coded_index(ColumnKind::TypeDefOrRef).tables[*coded & 3], *coded >> 2);
  return true;
}

bool Decoder::take_children(SignatureType &type, u32 count, unsigned depth) {
  for (u32 i = 0; i < count; ++i) {
    std::optional<SignatureType> child = take_type(depth + 1);
    if (!child)
      return false;
    type.children.push_back(std::move(*child));
  }
  return true;
}

// II.23.2.13: the rank, then sizes and lower bounds of the leading dimensions, which no object's layout depends on.
bool Decoder::take_shape(SignatureType &type) {
  std::optional<u32> rank = take_compressed(rest_);
  if (!rank || *rank == 0)
    return false;
  type.number = *rank;
  for (unsigned list = 0; list < 2; ++list) {
    std::optional<u32> count = take_compressed(rest_);
    if (!count || *count > *rank)
      return false;
    for (u32 i = 0; i < *count; ++i)
      if (!take_compressed(rest_))
        return false;
  }
  return true;
}

std::optional<SignatureType> Decoder::take_type(unsigned depth) {
  if (depth > max_depth || ++nodes_ > max_nodes || !skip_modifiers())
    return std::nullopt;
  SignatureType type{static_cast<ElementType>(*take_byte())};
  if (!complete(type, depth))
    return std::nullopt;
  return type;
}

// Decodes what follows a type's first byte, II.23.2.12.
bool Decoder::complete(SignatureType &type, unsigned depth) {
  switch (type.kind) {
  case ElementType::Ptr:
  case ElementType::ByRef:
  case ElementType::SzArray: return take_children(type, 1, depth);
  case ElementType::Class:
  case ElementType::ValueType: return take_token(type);
  case ElementType::Array: return take_children(type, 1, depth) && take_shape(type);
  case ElementType::Var:
  case ElementType::MVar: {
    std::optional<u32> number = take_compressed(rest_);
    type.number = number.value_or(0);
    return number.has_value();
  }
  case ElementType::GenericInst: {
    if (!take_children(type, 1, depth))
      return false;
    std::optional<u32> count = take_compressed(rest_);
    return count && take_children(type, *count, depth);
  }
  case ElementType::FnPtr: {
    std::optional<MethodSignature> method = take_method(depth + 1);
    if (!method)
      return false;
    type.children = std::move(method->parameters);
    type.children.insert(type.children.begin(), std::move(method->returns));
    return true;
  }
  case ElementType::Internal: {
    std::optional<Address> handle = take_pointer();
    type.handle = handle.value_or(0);
    return handle.has_value();
  }
  case ElementType::TypedByRef:
  case ElementType::I:
  case ElementType::U:
  case ElementType::Object: return true;
  default: return type.kind >= ElementType::Void && type.kind <= ElementType::String;
  }
}

// II.23.2.1 to 3
std::optional<MethodSignature> Decoder::take_method(unsigned depth) {
  std::optional<u8> convention = take_byte();
  if (!convention)
    return std::nullopt;
  MethodSignature method;
  method.has_this = *convention & 0x20;
  if (*convention & 0x10) {
    std::optional<u32> count = take_compressed(rest_);
    if (!count)
      return std::nullopt;
    method.generic_parameters = *count;
  }
  std::optional<u32> count = take_compressed(rest_);
  std::optional<SignatureType> returns = take_type(depth);
  if (!count || !returns)
    return std::nullopt;
  method.returns = std::move(*returns);
  for (u32 i = 0; i < *count; ++i) {
    std::optional<SignatureType> parameter = take_type(depth);
    if (!parameter)
      return std::nullopt;
    method.parameters.push_back(std::move(*parameter));
  }
  return method;
}

} // namespace

const char *core_type_name(ElementType kind) {
  switch (kind) {
  case ElementType::Void: return "System.Void";
  case ElementType::Boolean: return "System.Boolean";
  case ElementType::Char: return "System.Char";
  case ElementType::I1: return "System.SByte";
  case ElementType::U1: return "System.Byte";
  case ElementType::I2: return "System.Int16";
  case ElementType::U2: return "System.UInt16";
  case ElementType::I4: return "System.Int32";
  case ElementType::U4: return "System.UInt32";
  case ElementType::I8: return "System.Int64";
  case ElementType::U8: return "System.UInt64";
  case ElementType::R4: return "System.Single";
  case ElementType::R8: return "System.Double";
  case ElementType::String: return "System.String";
  case ElementType::TypedByRef: return "System.TypedReference";
  case ElementType::I: return "System.IntPtr";
  case ElementType::U: return "System.UIntPtr";
  case ElementType::Object: return "System.Object";
  default: return nullptr;
  }
}

std::optional<u32> take_compressed(Bytes &rest) {
  if (rest.empty())
    return std::nullopt;
  auto byte = [&](unsigned i) { return static_cast<u32>(rest[i]); };
  unsigned size = byte(0) < 0x80 ? 1 : byte(0) < 0xc0 ? 2 : 4;
  if (byte(0) >= 0xe0 || rest.size() < size)
    return std::nullopt;
  u32 value = size == 1   ? byte(0)
              : size == 2 ? (byte(0) & 0x3f) << 8 | byte(1)
                          : (byte(0) & 0x1f) << 24 | byte(1) << 16 | byte(2) << 8 | byte(3);
  rest = rest.subspan(size);
  return value;
}

std::optional<SignatureType> decode_type(Bytes signature, u8 pointer_size) {
  return Decoder(signature, pointer_size).take_type();
}

// II.23.2.4
std::optional<SignatureType> decode_field(Bytes signature, u8 pointer_size) {
  Decoder decoder(signature, pointer_size);
  std::optional<u8> convention = decoder.take_byte();
  if (!convention || (*convention & 0x0f) != 0x06)
    return std::nullopt;
  return decoder.take_type();
}

std::optional<MethodSignature> decode_method(Bytes signature, u8 pointer_size) {
  return Decoder(signature, pointer_size).take_method();
}

} // namespace dnheap
