// own_call(): which of the program's methods led to a call of the framework on a stack. Names the module's symbols, so
// it may read files. Not for several threads at once.
#pragma once
#include "analysis/names/framework_names.h"
#include "runtime/facts/stack_frame.h"
#include "snapshot/snapshot.h"
#include "snapshot/source_lines.h"

#include <string>

namespace dnheap {

// Returns ", for Shop.Cart.Check(System.Int32) (Cart.cs:41)": the innermost call of the program outside of the
// innermost call of `method`. Empty: `method` is the program's own, or no method of the program is further out.
std::string own_call(const Snapshot &snapshot, const WalkedStack &stack, Address method, SourceLines &lines);

// The methods that the program declares: neither .NET nor the runtime for itself.
class OwnMethods {
public:
  explicit OwnMethods(const Snapshot &snapshot);
  bool contain(const MethodText &method) const;

private:
  const std::vector<LoadedAssembly> &assemblies_;
  FrameworkNames framework_;
};

} // namespace dnheap
