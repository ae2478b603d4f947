// MethodBodies: which methods of others a method's IL calls, by names; in the order of the IL. IL lies in the modules'
// images. Dumps with the heap alone have that of methods on stacks; the rest is taken from the modules' files, where
// these are at hand and have the id (MVID) of the module. Else nothing is known, and nobody may conclude from what a
// method does not call. A body is read once, and kept. One thread.
#pragma once
#include "metadata/method_calls.h"
#include "runtime/il_code.h"
#include "runtime/runtime.h"
#include "snapshot/files/module_folders.h"

#include <functional>
#include <map>
#include <memory>
#include <span>

namespace dnheap {

class Snapshot;
class PeImage;

class MethodBodies {
public:
  explicit MethodBodies(Snapshot &snapshot);

  struct Call {
    u32 il_offset = 0;
    CalleeName callee;
  };
  // Null: that is not known.
  const std::vector<Call> *calls_of(Address method_desc);
  // The same of an asynchronous method, by the type of its state machine.
  const std::vector<Call> *calls_of_machine(Address machine_type);
  // By a MethodDesc or by the type of a state machine, whichever it is.
  const std::vector<Call> *calls_of_any(Address method);
  // That declares the method; 0: unknown.
  Address type_of(Address method_desc) const;
  // Does the method call one of those methods of that type? Nothing: that is not known.
  static std::optional<bool> calls_any(const std::vector<Call> *calls, std::string_view type,
                                       std::span<const std::string_view> methods);
  // Where a frame stands in its method's IL; nothing: that is not known.
  std::optional<u32> il_offset(const StackFrame &frame);

private:
  using Calls = std::optional<std::vector<Call>>;
  const std::vector<Call> *calls_at(Address module, u32 row);
  Calls read(Address module, u32 row);
  static Calls read_in(const PeImage &image, u32 rva, const std::function<Bytes(Address, u64)> &bytes,
                       const Metadata &metadata);
  struct File {
    std::shared_ptr<const void> storage;
    Bytes bytes; // empty: none is at hand
  };
  const File &file_of(Address module, const Metadata &metadata);

  const Runtime &runtime_;
  std::unique_ptr<IlCode> code_; // null: the runtime has no IL
  ModuleFolders folders_;
  std::map<Address, File> files_;                  // by module
  std::map<std::pair<Address, u32>, Calls> known_; // by module and row
};

} // namespace dnheap
