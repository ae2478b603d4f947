// SourceLines: finds the source line of a place in a method from the modules' portable PDBs. A PDB may be inside its
// module, beside it, or below one of Snapshot::symbol_folders(), and must have the id that the module states. A
// module's PDB is searched for when one of its methods is first asked about; a line costs some µs, once. Not for
// several threads at once.
#pragma once
#include "base/notes.h"
#include "metadata/portable_pdb.h"
#include "runtime/facts/il_code.h"
#include "runtime/runtime.h"
#include "snapshot/files/module_folders.h"

#include <map>
#include <memory>

namespace dnheap {

class Snapshot;

struct SourceLine {
  std::string file; // the full path given to the compiler; empty: unknown
  u32 line = 0;

  explicit operator bool() const { return line != 0; }
  std::string text() const; // "Cart.cs:41"; empty: unknown
};

// The place in a method.
struct SourcePlace {
  std::optional<u32> il_offset;
  SourceLine at;
};

class SourceLines {
public:
  // Finds nothing for runtimes without IL.
  explicit SourceLines(const Snapshot &snapshot);
  ~SourceLines();

  // `returns_there`: `ip` is a return address, so the call before it counts.
  SourcePlace find(Address method_desc, Address ip, bool returns_there);
  // Returns the line of the await with that number, for an asynchronous method's type (its state machine).
  SourceLine find_await(Address machine_type, u32 number);

  // Returns the name of the method's local variable with that number at `ip`; empty: unknown.
  std::string local(Address method_desc, Address ip, u32 number);

  // Returns the symbols of each loaded assembly, or why it has none; framework assemblies, which come without, are
  // listed only if they have symbols. Looks for all of them. If the list of assemblies ends early, adds why to
  // `notes`.
  std::vector<Provenance> files(Notes &notes);

  // Returns notes for an answer: why lines are unknown.
  Notes notes() const;

private:
  struct Symbols {
    std::shared_ptr<const void> storage;
    std::optional<PortablePdb> pdb;
    std::string module; // its file's name
    bool is_wanted = true;
    std::string file;     // the symbol file; empty: none, or inside the module
    std::string rejected; // a file of that name from another build
    std::string why;      // how it was identified, or why there is none
  };
  const Symbols &symbols_of(Address module);
  void find_symbols(Address module, Symbols &to);
  // Returns false if it is of another build, or no PDB at all.
  bool take(Bytes file, std::shared_ptr<const void> storage, Bytes id, Symbols &to) const;
  std::vector<std::string> candidates(const Module *module, const std::string &pdb_path, Bytes id);
  // Returns the symbols of the module that declares the method, and its row there; null: none.
  const Symbols *symbols_of_method(Address method_desc, u32 &row);
  SourceLine line_at(const Symbols &symbols, u32 method, u32 il_offset) const;

  const Snapshot &snapshot_;
  const Runtime &runtime_;
  std::unique_ptr<IlCode> code_; // null: the runtime has no IL
  std::string framework_;
  ModuleFolders symbols_, modules_;
  std::map<Address, Symbols> of_modules_;
  std::map<std::pair<Address, u32>, SourceLine> lines_;       // by MethodDesc and IL offset
  std::map<std::pair<Address, u32>, SourceLine> await_lines_; // by type and number
};

} // namespace dnheap
