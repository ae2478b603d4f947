// Loader contract, version 1: data on a Module (of a loaded assembly), above all its metadata. Spec: dotnet/runtime
// docs/design/datacontracts/Loader.md. Metadata is found once per module and kept; not from several threads at once.
#pragma once
#include "contract/descriptor.h"
#include "metadata/image_metadata.h"
#include "target/target.h"

#include <string>
#include <unordered_map>

namespace dnheap {

class Loader1 {
public:
  Loader1(const Target &target, const ContractDescriptor &descriptor)
      : target_(&target), memory_(&target.memory), descriptor_(&descriptor) {}

  // Null when it cannot be found. Valid as long as this object.
  const Metadata *metadata(Address module);
  // "System.Private.CoreLib.dll" or "<dynamic module 0x…>": for messages and for types whose metadata is missing.
  std::string file_name(Address module);
  // Why metadata() returned null: for messages.
  std::string why_no_metadata(Address module);
  // Returns addresses at which its image may lie, the likeliest first.
  std::vector<Address> image_bases(Address module) const;
  // Returns the modules for which metadata() returned null.
  std::vector<Address> modules_without_metadata() const;

private:
  std::optional<ModuleMetadata> find_metadata(Address module) const;
  bool fits(Address module, Address base, const Metadata &metadata) const;
  const Module *mapped_module(Address module) const;
  std::optional<ModuleMetadata> emitted_metadata(Address module) const;

  const Target *target_;
  const Memory *memory_;
  const ContractDescriptor *descriptor_;
  std::unordered_map<Address, std::optional<ModuleMetadata>> known_;
};

} // namespace dnheap
