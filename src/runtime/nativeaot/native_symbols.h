// NativeSymbols: the symbols in the separate debug file of a NativeAOT program: the addresses of types (_ZTV…); the
// type whose static fields a cell leads to (__GCSTATICS…); the place of a type's index of thread statics
// (__TypeThreadStaticIndex…); and the method at a code address. All names are mangled (metadata/mangled_name.h). The
// first look-up reads the file's symbols once, so not from several threads.
#pragma once
#include "image/debug_file.h"

#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace dnheap {

class NativeSymbols {
public:
  NativeSymbols() = default; // has none
  explicit NativeSymbols(DebugFile file) : file_(std::move(file)) {}

  bool empty() const { return file_.empty(); }
  // Returns the type at that address. Nullopt also if the address has several names.
  std::optional<std::string_view> type_at(Address method_table) const;
  std::optional<std::string_view> statics_at(Address cell) const;
  // Returns each type with thread statics: its name, and the address of its {TypeManager, index}.
  const std::vector<std::pair<std::string_view, Address>> &thread_statics() const;
  // Returns the address of the pointer to the type that the compiler generated for the thread statics of many types.
  std::optional<Address> inlined_thread_statics() const;
  // Returns the method that contains the code address, with its mangled name; searches all symbols.
  using Method = DebugFile::Function;
  std::optional<Method> method_at(Address code) const { return file_.function_at(code); }
  // Returns the type of that name.
  std::optional<Address> find_type(std::string_view mangled) const;

private:
  void read() const;

  DebugFile file_;
  mutable bool is_read_ = false;
  mutable std::unordered_map<Address, std::string_view> types_, statics_; // an empty name: the address has several
  mutable std::unordered_map<std::string_view, Address> by_name_;
  mutable std::vector<std::pair<std::string_view, Address>> thread_statics_;
  mutable std::optional<Address> inlined_;
};

} // namespace dnheap
