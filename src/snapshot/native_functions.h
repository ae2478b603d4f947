// NativeFunctions: names the function of a native module that contains an address. It uses the symbols of the module's
// file (.gnu_debugdata included), or of a debug file that was found already, beside the module, or in folders that the
// user named; only if its build id is the module's. A file is mapped when its module is first asked about; its symbols
// are searched once for each address. For modules of Windows: the public symbols of the .pdb that the module names, in
// folders that the user named, and the module's table of functions. Not for several threads at once.
#pragma once
#include "base/host/host.h"
#include "image/function_table.h"
#include "image/pdb_publics.h"
#include "snapshot/files/module_folders.h"
#include "snapshot/files/symbol_file.h"
#include "target/target.h"

#include <map>
#include <memory>
#include <optional>
#include <string>

namespace dnheap {

class Snapshot;

class NativeFunctions {
public:
  explicit NativeFunctions(const Snapshot &snapshot);

  // Returns the function at `ip` and the distance from its beginning: "poll+0x4f"; empty: unknown. `is_return`: `ip` is
  // a return address, so the function is the one that contains the call before `ip`: that call may be its last
  // instruction.
  std::string find(const Module &module, Address ip, bool is_return = false);
  // Why symbol files that were found were not used, so far: "coreclr.pdb: it belongs to another build".
  const std::vector<std::string> &refused() const { return refused_; }

private:
  struct WindowsSymbols {
    std::optional<PdbPublics> publics;
    std::optional<FunctionTable> functions;
  };
  std::string find_in_elf(const Module &module, Address ip, bool is_return);
  std::string find_in_pe(const Module &module, Address ip, bool is_return);
  const WindowsSymbols &windows_symbols_of(const Module &module);
  std::optional<PdbPublics> publics_of(const Module &module);
  struct Files {
    std::vector<SymbolFile> of; // debug files first
    u64 bias = 0;
  };
  const Files &files_of(const Module &module);

  const Snapshot &snapshot_;
  ModuleFolders symbols_, modules_;
  std::map<const Module *, Files> files_;
  std::map<const Module *, WindowsSymbols> windows_;
  std::vector<std::string> refused_;
  u64 left_ = u64{256} << 20; // bytes that may still be decompressed, for all files together
  std::map<std::pair<Address, bool>, std::string> known_;
};

} // namespace dnheap
