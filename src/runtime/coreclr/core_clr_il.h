// CoreClrIl: IlCode of CoreCLR. See runtime/facts/il_code.h.
#pragma once
#include "base/notes.h"
#include "runtime/coreclr/code/il_offsets.h"
#include "runtime/coreclr/types/method_descs.h"
#include "runtime/facts/il_code.h"

namespace dnheap {

class CoreClrIl : public IlCode {
public:
  // All arguments must outlive this object.
  CoreClrIl(const Target &target, const ContractDescriptor &descriptor, RuntimeTypeSystem1 &types, Loader1 &loader,
            const CodeLookup &code);

  bool is_method(Address method) const override { return methods_.is_method_desc(method); }
  Address type_of(Address method) const override { return methods_.method_table_of(method); }
  std::optional<MetadataRow> find_method(Address method) const override;
  Address module_of(Address method_table) const override { return types_->module_of(method_table); }
  u32 row_of_type(Address method_table) const override { return types_->type_def_rid(method_table); }

  std::optional<u32> il_offset(Address ip, bool returns_there) override { return offsets_.find(ip, returns_there); }
  u64 unread_methods() const override { return offsets_.unread_methods(); }

  std::vector<Address> modules(Notes &notes) const override;
  const Metadata *metadata(Address module) override { return loader_->metadata(module); }
  std::string file_name(Address module) override { return loader_->file_name(module); }
  std::vector<Address> image_bases(Address module) const override { return loader_->image_bases(module); }
  std::optional<std::vector<Address>> compiled_methods() const override { return code_->compiled_methods(); }

private:
  const Memory *memory_;
  const ContractDescriptor *descriptor_;
  RuntimeTypeSystem1 *types_;
  Loader1 *loader_;
  const CodeLookup *code_;
  MethodDescs methods_;
  IlOffsets offsets_;
};

} // namespace dnheap
