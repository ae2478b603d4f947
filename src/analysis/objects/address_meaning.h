// AddressMeanings: names the thing at an address of the process in a few words: an object, a type, a method's code, a
// native function, a thread's stack, a mapped file. Some µs per address; native functions open their module's file
// once. Not for several threads at once; the Snapshot must outlive it.
#pragma once
#include "analysis/names/subject.h"
#include "objects/object_finder.h"
#include "runtime/facts/il_code.h"
#include "snapshot/native_functions.h"
#include "snapshot/snapshot.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace dnheap {

struct AddressMeaning {
  // "object", "type", "method", "code", "module", "native function", "stack", "heap", "file"
  const char *kind = "";
  Address start = 0; // of what lies there
  std::string name;  // "Shop.Order", "Shop.Cart.Add(Int32)", "poll", "thread 4711", "gen2"
  std::string file;  // the module's or the mapped file's name; empty: none
  u64 offset = 0;    // from `start` to the address
};

class AddressMeanings {
public:
  explicit AddressMeanings(const Snapshot &snapshot);

  // Returns all that is known of the address, the most exact first; empty: nothing.
  std::vector<AddressMeaning> of(Address address);
  // Returns the first of these as a text: "Shop.Order", "code of Shop.Cart.Add(Int32)+0x12"; empty: nothing is known.
  std::string text(Address address);
  // Returns the runtime's Module of which this is the address, by its file's name; nullopt: none.
  std::optional<std::string> module_called(Address address) const;

private:
  void add_object(Address address, std::vector<AddressMeaning> &to);
  void add_runtime_data(Address address, std::vector<AddressMeaning> &to);
  void add_code(Address address, std::vector<AddressMeaning> &to);
  void add_native(Address address, std::vector<AddressMeaning> &to);
  void add_place(Address address, std::vector<AddressMeaning> &to) const;

  const Snapshot &snapshot_;
  const Runtime &runtime_;
  ObjectFinder objects_;
  std::unique_ptr<IlCode> il_; // null: see Runtime::il_code()
  NativeFunctions functions_;
  std::vector<ThreadData> threads_;
};

} // namespace dnheap
