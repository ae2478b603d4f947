// Loader contract, version 1: what a Module (a loaded assembly's) says of itself, above all its metadata.
// Spec: dotnet/runtime docs/design/datacontracts/Loader.md. Metadata is found once per module and kept; look-ups are
// not to be made from several threads at once.
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
  // Why metadata() gave null: for messages.
  std::string why_no_metadata(Address module);
  // Where its image may lie, the likeliest place first.
  std::vector<Address> image_bases(Address module) const;
  // Modules asked for whose metadata could not be found.
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
