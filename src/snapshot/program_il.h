// ProgramIl: which methods the IL of the program's own assemblies calls, which objects it makes, which fields it uses,
// and which native functions it declares. So an answer can name the code behind something that is found in memory.
// Reads all methods of these assemblies once, about 1 s for each 50 MiB of IL, and is kept with the snapshot. Programs
// that were compiled ahead of time have no IL, and so nothing here; nor have assemblies that were made at run time.
// Nobody may conclude from a list that is not whole that something is not called. Once built immutable; any thread.
#pragma once
#include "metadata/method_calls.h"
#include "snapshot/method_bodies.h"

#include <memory>
#include <string>
#include <vector>

namespace dnheap {

// A method or a field that the program's IL names, and the methods whose IL does.
struct ProgramMember {
  Token token = 0;
  IlUse use = IlUse::calls;
  std::string type;           // that declares it, with arity marks: "System.Collections.Generic.List`1"
  std::string_view name;      // "Add"
  std::vector<u32> methods{}; // rows, ascending, each once
};

// A method of another language: P/Invoke.
struct NativeCall {
  u32 method = 0;               // its row
  std::string library;          // as the program has it: "codec"
  std::string function;         // "img_decode"
  bool returns_pointer = false; // or a handle of the system
};

struct ProgramModule {
  Address module = 0;
  const Metadata *metadata = nullptr; // never null in a list
  std::vector<ProgramMember> members; // by token and use; without those whose type has no name
  std::vector<NativeCall> natives;    // by method
  std::vector<u32> compiled;          // methods that were compiled at run time, which means that they ran; ascending
  bool is_whole = true;               // the IL of all methods was read
  bool knows_run = false; // `compiled` has all that ran: the dump lists them, and no method was compiled ahead

  // True for methods that ran, or may have run. A method that was always inlined is taken for one that did not.
  bool has_run(u32 method) const;
  // "Shop.Cart+<>c.<Pay>b__1_0"
  std::string name_of(u32 method) const;
};

class ProgramIl {
public:
  static std::shared_ptr<const ProgramIl> of(const Snapshot &snapshot);
  explicit ProgramIl(const Snapshot &snapshot);

  const std::vector<ProgramModule> &modules() const { return modules_; }
  // True if the IL of all methods was read: then what no list has, no method calls.
  bool is_whole() const;
  // True if it is known for at least one module which of its methods ran.
  bool is_run_known() const;

private:
  std::unique_ptr<MethodBodies> bodies_; // what the metadata was read with
  std::vector<ProgramModule> modules_;
};

} // namespace dnheap
