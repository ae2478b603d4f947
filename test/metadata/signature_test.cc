#include "metadata/signature.h"
#include "support/metadata_writer.h"

#include <gtest/gtest.h>

namespace dnheap {
namespace {

Bytes bytes_of(const Blob &blob) { return std::as_bytes(std::span(blob)); }

constexpr auto I4 = ElementType::I4;

// <Module>, N.List`1 (token 2) with method Map<M> (1), N.Point
struct Library {
  Library() {
    MetadataWriter w;
    u32 list = w.type("N", "List`1");
    u32 map = w.method("Map", method_signature(element(ElementType::Void), {}));
    w.generic(token(Table::TypeDef, list), {"T"});
    w.generic(token(Table::MethodDef, map), {"M"});
    w.type("N", "Point");
    circular = w.type_spec(type_reference(ElementType::Class, token(Table::TypeSpec, 1)));
    // Each doubles the one before: 2^40 names.
    for (u32 i = 0; i < 40; ++i) {
      Blob previous = type_reference(ElementType::Class, token(Table::TypeSpec, circular + i));
      if (i == 0)
        previous = element(I4);
      doubling = w.type_spec(element(ElementType::GenericInst) + list_type() + Blob{2} + previous + previous);
    }
    bytes = w.write();
    metadata = Metadata::parse(bytes);
  }
  static Blob list_type() { return type_reference(ElementType::Class, token(Table::TypeDef, 2)); }
  std::string field(const Blob &type, GenericOwner owner = {}) const {
    Blob signature = field_signature(type);
    std::optional<SignatureType> decoded = decode_field(bytes_of(signature));
    return decoded ? describe(*decoded, *metadata, owner) : "(wrong)";
  }

  u32 circular, doubling;
  std::vector<std::byte> bytes;
  std::optional<Metadata> metadata;
};

TEST(Signature, CompressedNumbers) {
  for (u32 value : {0u, 3u, 0x7fu, 0x80u, 0x2e57u, 0x3fffu, 0x4000u, 0x1fffffffu}) {
    Blob blob = compressed(value);
    Bytes rest = bytes_of(blob);
    EXPECT_EQ(take_compressed(rest), value);
    EXPECT_TRUE(rest.empty());
    for (std::size_t size = 0; size < blob.size(); ++size) {
      rest = bytes_of(blob).first(size);
      EXPECT_FALSE(take_compressed(rest));
    }
  }
  Blob wrong{0xe0, 0, 0, 0};
  Bytes rest = bytes_of(wrong);
  EXPECT_FALSE(take_compressed(rest));
}

TEST(Signature, DescribesTypes) {
  Library library;
  Blob point = type_reference(ElementType::ValueType, token(Table::TypeDef, 3));
  Blob list_of_int = element(ElementType::GenericInst) + Library::list_type() + Blob{1} + element(I4);
  EXPECT_EQ(library.field(element(I4)), "System.Int32");
  EXPECT_EQ(library.field(point), "N.Point");
  EXPECT_EQ(library.field(element(ElementType::SzArray) + element(ElementType::SzArray) + point), "N.Point[][]");
  EXPECT_EQ(library.field(element(ElementType::Array) + point + Blob{3, 2, 10, 20, 1, 0x7f}), "N.Point[,,]");
  EXPECT_EQ(library.field(element(ElementType::Array) + point + Blob{1, 0, 0}), "N.Point[*]");
  EXPECT_EQ(library.field(list_of_int), "N.List<System.Int32>");
  EXPECT_EQ(library.field(element(ElementType::Ptr) + element(ElementType::Void)), "System.Void*");
  EXPECT_EQ(library.field(element(ElementType::FnPtr) + Blob{0, 1} + element(I4) + point), "System.Int32(N.Point)");
  EXPECT_EQ(library.field(element(ElementType::Var) + Blob{0}, {2, 0}), "T");
  EXPECT_EQ(library.field(element(ElementType::Var) + Blob{1}, {2, 0}), "!1");
  EXPECT_EQ(library.field(element(ElementType::MVar) + Blob{0}, {2, 1}), "M");
  EXPECT_EQ(library.field(element(ElementType::MVar) + Blob{0}), "!!0");
  // Modifiers, pinned: skipped.
  EXPECT_EQ(library.field(Blob{0x1f, 0x09, 0x45, 0x20, 0x0d} + list_of_int), "N.List<System.Int32>");
  EXPECT_EQ(library.field(type_reference(ElementType::Class, token(Table::TypeDef, 77))), "?");
}

TEST(Signature, DecodesMethods) {
  Library library;
  Blob generic = Blob{0x30, 1, 2} + element(ElementType::MVar) + Blob{0} + element(I4) + element(ElementType::ByRef) +
                 element(ElementType::String);
  std::optional<MethodSignature> method = decode_method(bytes_of(generic));
  ASSERT_TRUE(method);
  EXPECT_TRUE(method->has_this);
  EXPECT_EQ(method->generic_parameters, 1u);
  EXPECT_EQ(describe(method->returns, *library.metadata, {2, 1}), "M");
  EXPECT_EQ(describe_parameters(*method, *library.metadata), "(System.Int32, System.String&)");

  Blob vararg = Blob{0x05, 2, 0x01, 0x08, 0x41, 0x0e}; // a sentinel before the second parameter
  method = decode_method(bytes_of(vararg));
  ASSERT_TRUE(method);
  EXPECT_FALSE(method->has_this);
  EXPECT_EQ(describe_parameters(*method, *library.metadata), "(System.Int32, System.String)");
}

TEST(Signature, RuntimeHandlesHaveTheSizeOfATargetPointer) {
  for (u8 size : {u8{4}, u8{8}}) {
    Blob blob{0x1d, 0x22, 1, 9, 9, 9, 9};
    blob.resize(blob.size() + size - 4, 9);
    blob = blob + Blob{0x21, 0x78, 0x56, 0x34, 0x12};
    blob.resize(blob.size() + size - 4);
    std::optional<SignatureType> type = decode_type(bytes_of(blob), size);
    ASSERT_TRUE(type);
    EXPECT_EQ(type->children[0].kind, ElementType::Internal);
    EXPECT_EQ(type->children[0].handle, 0x12345678u);
    EXPECT_FALSE(decode_type(bytes_of(blob).first(blob.size() - 1), size));
  }
}

TEST(Signature, WrongBlobsAreRefused) {
  for (const Blob &blob :
       {Blob{}, Blob{0x06}, Blob{0x07, 0x08}, Blob{0x06, 0x00}, Blob{0x06, 0x12}, Blob{0x06, 0x17},
        Blob{0x06, 0x12, 0x03}, Blob{0x06, 0x14, 0x08, 0, 0, 0}, Blob{0x06, 0x14, 0x08, 2, 3, 0, 0},
        Blob{0x06, 0x15, 0x12, 0x08, 0xdf, 0xff, 0xff, 0xff}, Blob{0x06, 0x1f}, Blob{0x06, 0x1b, 0, 9}})
    EXPECT_FALSE(decode_field(bytes_of(blob)));
  EXPECT_FALSE(decode_method({}));
  Blob no_parameters{0, 0xdf, 0xff, 0xff, 0xff, 0x01};
  EXPECT_FALSE(decode_method(bytes_of(no_parameters)));
}

TEST(Signature, DepthAndSizeAreLimited) {
  Blob deep(10000, 0x1d);
  deep.push_back(0x08);
  EXPECT_FALSE(decode_type(bytes_of(deep)));
  Blob wide = Blob{0x15, 0x12, 0x08} + compressed(5000) + Blob(5000, 0x08);
  EXPECT_FALSE(decode_type(bytes_of(wide)));
  Blob functions; // function pointers returning function pointers
  for (int i = 0; i < 10000; ++i)
    functions = std::move(functions) + Blob{0x1b, 0, 0};
  EXPECT_FALSE(decode_type(bytes_of(functions)));
}

TEST(Signature, DescribingHostileTypeSpecsEnds) {
  Library library;
  std::string text = library.field(type_reference(ElementType::Class, token(Table::TypeSpec, library.circular)));
  EXPECT_EQ(text, "...");
  text = library.field(type_reference(ElementType::Class, token(Table::TypeSpec, library.doubling)));
  EXPECT_LT(text.size(), 100000u);
  EXPECT_NE(text.find("..."), std::string::npos);
}

} // namespace
} // namespace dnheap
