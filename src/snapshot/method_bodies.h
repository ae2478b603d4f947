// MethodBodies: the names of the methods that a method's IL calls, in the order of the IL. IL is in the modules'
// images. Dumps with the heap alone have the IL of methods on stacks; the rest is taken from the modules' files, if
// these are found and have the id (MVID) of the module. Otherwise the calls are unknown, and nobody may conclude that a
// method does not call something. Reads a body once, and keeps it. Not for several threads at once.
#pragma once
#include "metadata/method_calls.h"
#include "runtime/facts/il_code.h"
#include "runtime/runtime.h"
#include "snapshot/files/module_folders.h"

#include <functional>
#include <map>
#include <memory>

namespace dnheap {

class Snapshot;
class PeImage;

class MethodBodies {
public:
  explicit MethodBodies(const Snapshot &snapshot);

  struct Call {
    u32 il_offset = 0;
    CalleeName callee;
    std::vector<std::string> fields = {}; // names of the fields that are loaded just before
  };
  // Returns null if the calls are unknown.
  const std::vector<Call> *calls_of(Address method_desc);
  // Returns the same for an asynchronous method, by the type of its state machine.
  const std::vector<Call> *calls_of_machine(Address machine_type);
  // Takes a MethodDesc or the type of a state machine, whichever it is.
  const std::vector<Call> *calls_of_any(Address method);
  // Returns the IL of a method, by its row in the metadata of its module; nullopt: unknown, or it has none. Valid as
  // long as this object and the target's memory.
  std::optional<Bytes> il_of(Address module, u32 row);
  // True if the module's methods were compiled ahead (ReadyToRun), so that the runtime compiles only some of them;
  // nullopt: its image is not known.
  std::optional<bool> is_compiled_ahead(Address module);
  // The IL and the metadata that all this is read from; null: the runtime has none.
  IlCode *code() const { return code_.get(); }
  // Returns the type that declares the method; 0: unknown.
  Address type_of(Address method_desc) const;
  // Returns the IL offset at which a frame is; nullopt: unknown.
  std::optional<u32> il_offset(const StackFrame &frame);

private:
  using Calls = std::optional<std::vector<Call>>;
  const std::vector<Call> *calls_at(Address module, u32 row);
  Calls read(Address module, u32 row);
  static std::optional<Bytes> il_in(const PeImage &image, u32 rva, const std::function<Bytes(Address, u64)> &bytes);
  struct File {
    std::shared_ptr<const void> storage;
    Bytes bytes; // empty: none is found
  };
  const File &file_of(Address module, const Metadata &metadata);

  const Runtime &runtime_;
  std::unique_ptr<IlCode> code_; // null: the runtime has no IL
  ModuleFolders folders_;
  std::map<Address, File> files_;                  // by module
  std::map<std::pair<Address, u32>, Calls> known_; // by module and row
};

} // namespace dnheap
