// What a family of values is found to be when it alone is not known: the sound process of a HeapBuilder tells
// everything, some values are forgotten, and one function of src/runtime/layout/ is asked for them again, in memory
// that was changed or was not. Each question builds the target anew.
#pragma once
#include "runtime/coreclr/threads/thread_1.h"
#include "runtime/describe/core_clr_descriptor.h"
#include "support/opened.h"

#include <gtest/gtest.h>

namespace dnheap::test {

// Nothing published, in every format and version that is derived at all.
template <class Visit> void for_each_unpublished(const std::vector<Net> &versions, Visit visit) {
  for (Format format : all_formats)
    for (Net net : versions) {
      HeapShape shape{.format = format, .net = net, .published = false};
      SCOPED_TRACE(name_of(shape));
      visit(shape);
    }
}
inline const std::vector<Net> derived_versions = {Net::net8, Net::net9, Net::net10};

class Refound {
public:
  // Takes the process as it is: what comes later are changes.
  explicit Refound(HeapBuilder &builder) : heap(builder), sound(builder.target()) {
    known = derive_descriptor(*sound, module_of(*sound), {}, tables_for_all_formats());
  }

  // A word of the sound process.
  u64 word(Address at) const { return sound->memory.pointer(at, "a word"); }
  Address gc_variable() const { return heap.variables.at("g_gcDacGlobals"); }
  std::vector<ThreadData> threads() const {
    Notes problems;
    return Thread1(sound->memory, known).get_threads(problems);
  }

  // Forgets these (TYPE.FIELD, or a global) and has `derive` look for them in what the builder's memory is now.
  template <class Derive> void ask(const std::vector<std::string> &names, Derive derive) {
    found = known;
    for (const std::string &name : names) {
      if (const std::size_t dot = name.find('.'); dot != name.npos)
        found.types[name.substr(0, dot)].fields.erase(name.substr(dot + 1));
      found.globals.erase(name);
      found.missing.erase(name);
    }
    target = heap.target();
    Derivation derivation(*target, module_of(*target), found, tables);
    derive(derivation);
  }

  // An offset, or a global's number.
  std::optional<u64> value(const std::string &name) const {
    const std::size_t dot = name.find('.');
    if (dot == name.npos)
      return found.try_number(name);
    std::optional<i64> offset = found.try_offset(name.substr(0, dot), name.substr(dot + 1));
    return offset ? std::optional(static_cast<u64>(*offset)) : std::nullopt;
  }
  // Found, to be this.
  void expect(const std::string &name, u64 right) const { EXPECT_EQ(value(name), right) << name; }
  // Not found, and said why, with these words.
  void expect_refused(const std::string &name, const std::string &words = "") const {
    EXPECT_EQ(value(name), std::nullopt) << name;
    auto why = found.missing.find(name);
    ASSERT_NE(why, found.missing.end()) << name;
    EXPECT_NE(why->second.find(words), std::string::npos) << name << ": " << why->second;
  }

  HeapBuilder &heap;
  std::unique_ptr<Target> sound, target;
  std::vector<ShippedTable> tables; // none, unless a test brings one
  ContractDescriptor known, found;

private:
  static const Module &module_of(const Target &target) { return *find_core_clr_modules(target).at(0); }
};

} // namespace dnheap::test
