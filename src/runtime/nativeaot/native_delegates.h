// NativeDelegates: the target of a delegate in NativeAOT: the method whose code it points at, and the object that the
// method is called on; for a multicast delegate, each of its parts. A delegate has two references and two words of
// code, count or the like; .NET 11 changed their order, and a delegate's content shows which order it has. A few dozen
// reads per delegate. dotnet/runtime: nativeaot/System.Private.CoreLib …/Delegate.cs. Not for several threads at once.
#pragma once
#include "runtime/fields.h"
#include "runtime/nativeaot/managed_code.h"
#include "runtime/nativeaot/runtime_type_system_n1.h"

#include <functional>
#include <unordered_map>

namespace dnheap {

class NativeDelegates {
public:
  // `method_name`: names the method whose code lies at an address. `types` must outlive this object.
  NativeDelegates(const Memory &memory, RuntimeTypeSystemN1 &types, std::optional<CodeRange> managed,
                  std::function<std::string(Address)> method_name)
      : memory_(&memory), types_(&types), managed_(managed), method_name_(std::move(method_name)),
        p_(memory.format().pointer_size) {}

  // These do what Fields::delegate_targets() and Fields::delegate_list() do.
  std::vector<DelegateTarget> targets(Address object, Address method_table, u64 limit);
  std::optional<DelegateList> list(Address object, Address method_table);

private:
  // The words of one delegate, by their meaning.
  struct Parts {
    Address first = 0;  // the object that the method is called on; the delegate itself if a stub finds the object
    Address helper = 0; // data of the stub: the list, or the object that the method is called on
    u64 extra = 0;      // data of the stub: the number of parts, or the method's code
    Address code = 0;
  };
  struct Collecting {
    std::vector<DelegateTarget> *to;
    u64 limit;
    unsigned depth;
    u64 *steps; // steps left
  };

  bool is_delegate_type(Address method_table);
  std::optional<Parts> parts_of(Address object, Address method_table);
  std::optional<DelegateList> list_of(Address object, const Parts &parts);
  void collect(Address object, const Collecting &into);
  DelegateTarget one(Address object, const Parts &parts);
  bool is_code(Address address) const { return managed_ && managed_->holds(address); }
  Address code_of(Address pointer) const;
  Address word(Address at) const { return memory_->try_pointer(at).value_or(0); }

  const Memory *memory_;
  RuntimeTypeSystemN1 *types_;
  std::optional<CodeRange> managed_;
  std::function<std::string(Address)> method_name_;
  const u64 p_;
  std::unordered_map<Address, bool> types_known_;
};

} // namespace dnheap
