// NativeSymbols: what the separate debug file of a NativeAOT program tells by its symbols: which type lies where
// (_ZTV…), whose static fields a cell leads to (__GCSTATICS…), and where a type says where its thread statics lie
// (__TypeThreadStaticIndex…), which method a piece of code is. All names are mangled (metadata/mangled_name.h). The
// first look-up reads the file's symbols once, so not from several threads.
#pragma once
#include "base/bytes.h"
#include "base/integers.h"

#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace dnheap {

class NativeSymbols {
public:
  NativeSymbols() = default; // has none
  // `bias`: what is added to the file's addresses to get those in the process. `storage` keeps the bytes alive.
  NativeSymbols(Bytes file, u64 bias, std::shared_ptr<const void> storage)
      : file_(file), bias_(bias), storage_(std::move(storage)) {}

  bool empty() const { return file_.empty(); }
  // The type at that address. Nullopt also where several names are given to it.
  std::optional<std::string_view> type_at(Address method_table) const;
  std::optional<std::string_view> statics_at(Address cell) const;
  // Of each type with thread statics its name, and where {TypeManager, index} lie.
  const std::vector<std::pair<std::string_view, Address>> &thread_statics() const;
  // Where the type is told that the compiler made up for the thread statics of many types.
  std::optional<Address> inlined_thread_statics() const;
  // The method whose code that is part of; looks through all symbols.
  struct Method {
    std::string_view name; // mangled
    Address start = 0;
  };
  std::optional<Method> method_at(Address code) const;
  // The type of that name.
  std::optional<Address> find_type(std::string_view mangled) const;

private:
  void read() const;

  Bytes file_;
  u64 bias_ = 0;
  std::shared_ptr<const void> storage_;
  mutable bool is_read_ = false;
  mutable std::unordered_map<Address, std::string_view> types_, statics_; // an empty name: several
  mutable std::unordered_map<std::string_view, Address> by_name_;
  mutable std::vector<std::pair<std::string_view, Address>> thread_statics_;
  mutable std::optional<Address> inlined_;
};

} // namespace dnheap
