// Any bytes as ECMA-335 metadata: names, members, signatures of everything in it; as a portable PDB, and as one inside
// an assembly. And as a signature.
#include "image/embedded_pdb.h"
#include "metadata/ecma335.h"
#include "metadata/portable_pdb.h"
#include "metadata/signature.h"

#include <algorithm>

using namespace dnheap;

namespace {

void read_pdb(Bytes bytes) {
  const std::optional<PortablePdb> pdb = PortablePdb::parse(bytes);
  for (u32 method = 1; pdb && method <= 20; ++method) {
    (void)pdb->find(method, ~u32{0});
    (void)pdb->awaits(method);
    (void)pdb->local(method, 0, 10);
    (void)pdb->document(method);
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const u8 *data, std::size_t size) {
  Bytes bytes = std::as_bytes(std::span(data, size));
  (void)decode_type(bytes);
  (void)decode_method(bytes);
  read_pdb(bytes);
  read_pdb(unpack_embedded_pdb(bytes));
  std::optional<Metadata> metadata = Metadata::parse(bytes);
  if (!metadata)
    return 0;
  (void)metadata->assembly();
  u32 types = std::min(metadata->row_count(Table::TypeDef), 100u);
  for (u32 type = 1; type <= types; ++type) {
    (void)metadata->type_def(type);
    (void)metadata->enclosing_type(type);
    for (u32 rid : metadata->fields_of(type))
      if (std::optional<FieldRow> field = metadata->field(rid))
        if (std::optional<SignatureType> decoded = decode_field(field->signature))
          (void)describe(*decoded, *metadata, {type, 0});
    for (u32 rid : metadata->methods_of(type))
      if (std::optional<MethodDefRow> method = metadata->method(rid))
        if (std::optional<MethodSignature> decoded = decode_method(method->signature))
          (void)describe_parameters(*decoded, *metadata, {type, rid});
  }
  return 0;
}
