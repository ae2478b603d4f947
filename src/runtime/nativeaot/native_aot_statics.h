// Statics of NativeAOT: for each type with static fields that are references, the compiler generates a type whose only
// object holds them, and a cell that leads to it (ReadyToRun section 201). For thread statics, each thread has such
// objects of its own: one for all that were compiled into one (inlined), and an array of arrays of objects for all
// others. Some loads per cell and thread. dotnet/runtime: nativeaot/System.Private.CoreLib …/ThreadStatics.cs,
// Common/src/Internal/Runtime/CompilerHelpers/StartupCodeHelpers.cs, nativeaot/Runtime/thread.h.
#pragma once
#include "base/notes.h"
#include "contract/descriptor.h"
#include "runtime/facts/static_root.h"
#include "runtime/nativeaot/native_aot_fields.h"
#include "target/target.h"

namespace dnheap {

class NativeAotStatics {
public:
  NativeAotStatics(const Target &target, const Module &module, const ContractDescriptor &descriptor,
                   RuntimeTypeSystemN1 &types, NativeAotFields *fields)
      : target_(&target), module_(&module), descriptor_(&descriptor), types_(&types), fields_(fields) {}

  // Returns roots by cell, then by thread; each root is followed by the fields of its object, if known. Names types, so
  // not from several threads. Each root leads to an object with a sound type. Cells that are still unused lead nowhere
  // and are left out.
  std::vector<StaticRoot> static_roots(Notes &notes) const;

private:
  bool is_object(Address object) const;
  // Adds the references of the holder's object, each with its name; those without one by their offset.
  void add_fields(const StaticRoot &holder, ReferenceLayout &layout, std::vector<StaticRoot> &to) const;
  void add_cells(std::vector<StaticRoot> &to, Notes &notes) const;
  void add_threads(std::vector<StaticRoot> &to, Notes &notes) const;

  const Target *target_;
  const Module *module_;
  const ContractDescriptor *descriptor_;
  RuntimeTypeSystemN1 *types_; // names cache
  NativeAotFields *fields_;    // null: there is no debug file
};

} // namespace dnheap
