// SourceLines: which line of which source file a place in a method comes from, by the portable PDBs that belong to the
// modules: inside them, beside them, or in folders that the user named; each checked by the id that its module has of
// it. A module's is looked for when one of its methods is first asked about; a line costs some µs, once. One thread.
#pragma once
#include "metadata/portable_pdb.h"
#include "runtime/coreclr/core_clr.h"
#include "runtime/coreclr/il_offsets.h"
#include "runtime/coreclr/method_descs.h"
#include "snapshot/files/module_folders.h"

#include <map>

namespace dnheap {

class Snapshot;

struct SourceLine {
  std::string file; // as the compiler was told: a full path; empty: it is not known
  u32 line = 0;

  explicit operator bool() const { return line != 0; }
  std::string text() const; // "Cart.cs:41"; empty: it is not known
};

// Where a method stands.
struct SourcePlace {
  std::optional<u32> il_offset;
  SourceLine at;
};

class SourceLines {
public:
  // `folders`: of symbols, searched whole. Of kinds of runtime but CoreCLR nothing is known.
  SourceLines(Snapshot &snapshot, const std::vector<std::string> &folders);
  ~SourceLines();

  // `returns_there`: a call returns to `ip`, and what counts is the call.
  SourcePlace find(Address method_desc, Address ip, bool returns_there);
  // Of an asynchronous method's type (its state machine): where the await of that number stands.
  SourceLine find_await(Address machine_type, u32 number);

  // What the method's local variable with that number is called at `ip`; empty: it is not known.
  std::string local(Address method_desc, Address ip, u32 number);

  // Which symbols each loaded assembly has, or why none; of the framework's, which come without, those that have. Looks
  // for all of them. What ends the list of assemblies early is added to `problems`.
  std::vector<Provenance> files(std::vector<std::string> &problems);

  // Why lines are not known, for an answer's notes.
  std::vector<std::string> notes() const;

private:
  struct Symbols {
    std::shared_ptr<const void> storage;
    std::optional<PortablePdb> pdb;
    std::string module; // its file's name
    bool is_wanted = true;
    std::string file;     // it is of; empty: it has none, or is inside the module
    std::string rejected; // a file of that name, which is another build's
    std::string why;      // it has it, or has it not
  };
  const Symbols &symbols_of(Address module);
  void find_symbols(Address module, Symbols &to);
  // False: it is of another build, or none at all.
  bool take(Bytes file, std::shared_ptr<const void> storage, Bytes id, Symbols &to) const;
  std::vector<std::string> candidates(const Module *module, const std::string &pdb_path);
  // Of the module that declares the method, and the method's row there; null: none.
  const Symbols *symbols_of_method(Address method_desc, u32 &row);
  SourceLine line_at(const Symbols &symbols, u32 method, u32 il_offset) const;

  Snapshot &snapshot_;
  const CoreClr *clr_; // null: another kind
  std::string framework_;
  ModuleFolders symbols_, modules_;
  std::optional<MethodDescs> methods_;
  std::optional<IlOffsets> il_offsets_;
  std::map<Address, Symbols> of_modules_;
  std::map<std::pair<Address, u32>, SourceLine> lines_;       // by MethodDesc and IL offset
  std::map<std::pair<Address, u32>, SourceLine> await_lines_; // by type and number
};

} // namespace dnheap
