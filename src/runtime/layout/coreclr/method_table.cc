#include "runtime/layout/coreclr/method_table.h"

#include "base/text.h"
#include "metadata/image_metadata.h"
#include "metadata/type_name.h"
#include "runtime/layout/coreclr/module.h"
#include "runtime/vm/method_table_flags.h"

#include <algorithm>
#include <set>

namespace dnheap {

namespace {

// The reference points for all other values.
struct KnownTypes {
  Address string = 0, object = 0, object_array = 0;
};

class MethodTableDerivation {
public:
  explicit MethodTableDerivation(Derivation &derivation)
      : d_(derivation), p_(static_cast<i64>(derivation.pointer_size)) {}

  void run() {
    derive_head();
    derive_known_types();
    derive_parent();
    derive_class();
    derive_module();
    derive_virtuals();
    derive_instantiation();
  }

private:
  // MTFlags and BaseSize have been the first words of every MethodTable since .NET Core 1.0; the test is that String
  // and Free are found by them.
  void derive_head() {
    flags_at_ = d_.fixed("MethodTable", "MTFlags", 0);
    base_size_at_ = d_.fixed("MethodTable", "BaseSize", 4);
  }

  std::optional<u32> flags(Address mt) const { return d_.memory.try_load<u32>(mt + static_cast<u64>(flags_at_)); }
  std::optional<u32> base_size(Address mt) const {
    return d_.memory.try_load<u32>(mt + static_cast<u64>(base_size_at_));
  }

  bool is_free(Address mt) const {
    auto f = flags(mt), b = base_size(mt);
    if (!f || !b || !(*f & mt_has_component_size) || (*f & 0xffff) != 1 || *b != 3 * p_)
      return false;
    // No parent, no module, no interfaces: only flags and base size are set in the first words.
    return d_.word(mt + 2 * static_cast<u64>(p_)) == u64{0} && d_.word(mt + 3 * static_cast<u64>(p_)) == u64{0};
  }
  bool is_string(Address mt) const {
    auto f = flags(mt), b = base_size(mt);
    return f && b && (*f & mt_has_component_size) && (*f & 0xffff) == 2 && !is_array(*f) && *b == 2 * p_ + 4 + 2;
  }
  bool is_object_array(Address mt) const {
    auto f = flags(mt), b = base_size(mt);
    return f && b && (*f & mt_has_component_size) && (*f & 0xffff) == p_ && is_sz_array(*f) && *b == 3 * p_ &&
           (*f & mt_contains_gc_pointers);
  }

  // Returns the MethodTable behind a published global; else the only one that passes and to which the runtime's data
  // has a pointer. Several variables may point at the same one.
  Address find_known(const char *global, const std::function<bool(Address)> &passes, const char *predicate) {
    std::optional<u64> variable = d_.descriptor.try_number(global);
    if (variable)
      if (std::optional<u64> mt = d_.word(*variable); !mt || passes(*mt))
        return mt.value_or(0);        // some dumps lack it
    std::map<Address, Address> found; // MethodTable → variable
    d_.scan_data([&](Address at, u64 word) {
      if (word > 0x10000 && word % d_.pointer_size == 0 && !found.contains(word) && passes(word))
        found.emplace(word, at);
    });
    if (variable) {
      d_.descriptor.doubted[global] =
          "published " + hex(*variable) +
          ", which fails the test; candidates in the runtime's data that pass it: " + std::to_string(found.size()) +
          "; the test: " + predicate;
      return d_.word(*variable).value_or(0);
    }
    if (found.size() != 1) {
      d_.descriptor.missing[global] =
          std::to_string(found.size()) + " candidates in the runtime's data; exactly one must pass: " + predicate;
      return 0;
    }
    d_.descriptor.set_number(global, found.begin()->second, true, Origin::discovered);
    return found.begin()->first;
  }

  void derive_known_types() {
    find_known(
        "FreeObjectMethodTable", [&](Address mt) { return is_free(mt); },
        "it has the component size 1, the base size of three pointers, no parent and no module");
    known_.string = find_known(
        "StringMethodTable", [&](Address mt) { return is_string(mt) && has_parent_object(mt); },
        "it has the component size 2, the base size of a string, and a parent that has no parent");
  }

  // True if the word at that offset in String leads to Object.
  bool is_parent_at(Address string, i64 x) const {
    std::optional<u64> parent = d_.follow(string, {x});
    return parent && flags(*parent) && !(*flags(*parent) & mt_has_component_size) && base_size(*parent) == 3 * p_ &&
           d_.word(*parent + static_cast<u64>(x)) == u64{0};
  }
  std::vector<i64> parent_offsets(Address string) const {
    std::optional<i64> published = d_.descriptor.try_offset("MethodTable", "ParentMethodTable");
    if (published && is_parent_at(string, *published))
      return {*published};
    return d_.search(2 * p_, 8 * p_, p_, [&](i64 x) { return is_parent_at(string, x); });
  }
  bool has_parent_object(Address string) const { return !parent_offsets(string).empty(); }

  void derive_parent() {
    if (!known_.string)
      return;
    bool chosen = d_.choose(
        "MethodTable", "ParentMethodTable", [&] { return parent_offsets(known_.string); },
        [&](i64 x) { return is_parent_at(known_.string, x); },
        "it leads from String to a type that has no components and no parent");
    if (chosen)
      known_.object = d_.follow(known_.string, {d_.descriptor.offset("MethodTable", "ParentMethodTable")}).value_or(0);
  }

  // q(q(mt + x) + y) == mt, for String and Object: the EEClass points back.
  bool points_back(Address mt, i64 x, i64 y) const {
    return d_.follow(mt, {x}) && d_.word(*d_.follow(mt, {x}) + static_cast<u64>(y)) == mt;
  }
  void derive_class() {
    if (!known_.object) {
      if (!d_.descriptor.find_field("MethodTable", "EEClassOrCanonMT"))
        d_.descriptor.missing["MethodTable.EEClassOrCanonMT"] = "the MethodTables of String and Object were not found";
      return;
    }
    auto both = [&](i64 x, i64 y) { return points_back(known_.string, x, y) && points_back(known_.object, x, y); };
    constexpr i64 reach = 8;
    std::optional<i64> published = d_.descriptor.try_offset("EEClass", "MethodTable");
    auto back = [&](i64 x) {
      return published && both(x, *published) ? std::vector{*published}
                                              : d_.search(0, reach * p_, p_, [&](i64 y) { return both(x, y); });
    };
    bool chosen = d_.choose(
        "MethodTable", "EEClassOrCanonMT", [&] { return Derivation::offsets(2 * p_, 10 * p_, p_); },
        [&](i64 x) { return !back(x).empty(); }, "the classes of String and Object point back at them");
    if (!chosen)
      return;
    i64 x = d_.descriptor.offset("MethodTable", "EEClassOrCanonMT");
    d_.choose(
        "EEClass", "MethodTable", [&] { return back(x); }, [&](i64 y) { return both(x, y); },
        "the classes of String and Object point back at them");
  }

  // The module of String is the one whose metadata has a System.String. Its row numbers there show where a MethodTable
  // has its own row: in .NET 9 and later above eight flag bits, in 8.0 in 16 bits.
  void derive_module() {
    if (!known_.object)
      return;
    std::optional<ModuleMetadata> core;
    auto is_module = [&](i64 x) -> Verdict {
      std::optional<u64> a = d_.follow(known_.string, {x}), b = d_.follow(known_.object, {x});
      return a && a == b ? derive_core_module(d_, *a, core) : Verdict(false);
    };
    bool chosen = d_.choose(
        "MethodTable", "Module", [&] { return Derivation::offsets(2 * p_, 10 * p_, p_); }, is_module,
        "String and Object have the Module whose metadata defines them");
    if (!chosen)
      return;
    core.reset();
    if (is_module(d_.descriptor.offset("MethodTable", "Module")).fails())
      return;
    u32 string_rid = core ? find_type(core->metadata, "System", "String") : 0,
        object_rid = core ? find_type(core->metadata, "System", "Object") : 0;
    auto rows_fit = [&](u32 string, u32 object) {
      return core ? string == string_rid && object == object_rid : !type_maps(string, object).empty();
    };
    auto flags2 = [&](i64 x) {
      auto [string, object] = two<u32>(x);
      return string && object && rows_fit(*string >> 8, *object >> 8);
    };
    auto token16 = [&](i64 x) {
      auto [string, object] = two<u16>(x);
      return string && object && rows_fit(*string, *object);
    };
    const char *predicate =
        core ? "it holds String's and Object's row numbers in the metadata"
             : "it holds row numbers at which Module.TypeDefToMethodTableMap lists String and Object";
    // In 8.0 a MethodTable has 16 bits of flags, which are MTFlags2 there, then the 16-bit row number.
    std::optional<i64> published = d_.descriptor.try_offset("MethodTable", "MTFlags2");
    bool has_flags2 = published && flags2(*published);
    if (!d_.search(8, 16, 2, token16).empty() && !has_flags2 && d_.search(8, 16, 4, flags2).empty()) {
      if (!d_.choose(
              "MethodTable", "Token", [&] { return Derivation::offsets(8, 16, 2); }, token16, predicate))
        return;
      i64 token = d_.descriptor.offset("MethodTable", "Token");
      d_.fixed("MethodTable", "MTFlags2", token - 2);
      auto [string, object] = two<u16>(token);
      return derive_type_map(*string, *object);
    }
    if (!d_.choose(
            "MethodTable", "MTFlags2", [&] { return Derivation::offsets(8, 16, 4); }, flags2, predicate))
      return;
    auto [string, object] = two<u32>(d_.descriptor.offset("MethodTable", "MTFlags2"));
    derive_type_map(string.value_or(0) >> 8, object.value_or(0) >> 8);
  }

  // Reads the same member of String's and of Object's MethodTable.
  template <std::unsigned_integral T> std::pair<std::optional<T>, std::optional<T>> two(i64 x) const {
    return {d_.memory.try_load<T>(known_.string + static_cast<u64>(x)),
            d_.memory.try_load<T>(known_.object + static_cast<u64>(x))};
  }

  // Returns offsets in CoreLib's Module at which TypeDefToMethodTableMap {Next, TableData, u32 Count} may lie: the
  // table, indexed by row number, leads to String and Object. Its words have flags in their low bits.
  std::vector<i64> type_maps(u32 string_rid, u32 object_rid) const {
    std::optional<u64> module = d_.follow(known_.string, {d_.descriptor.offset("MethodTable", "Module")});
    if (!module || string_rid == object_rid)
      return {};
    std::optional<i64> published = d_.descriptor.try_offset("Module", "TypeDefToMethodTableMap");
    auto passes = [&](i64 x) { return is_type_map(*module + static_cast<u64>(x), string_rid, object_rid); };
    return published && passes(*published) ? std::vector{*published} : d_.search(p_, 128 * p_, p_, passes);
  }
  bool is_type_map(Address map, u32 string_rid, u32 object_rid) const {
    u64 table = d_.word(map + d_.pointer_size).value_or(0);
    u32 count = d_.memory.try_load<u32>(map + 2 * d_.pointer_size).value_or(0);
    auto entry = [&](u32 rid) { return d_.word(table + rid * d_.pointer_size).value_or(0) & ~u64{3}; };
    return table && string_rid < count && object_rid < count && entry(string_rid) == known_.string &&
           entry(object_rid) == known_.object;
  }
  void derive_type_map(u32 string_rid, u32 object_rid) {
    std::optional<u64> module = d_.follow(known_.string, {d_.descriptor.offset("MethodTable", "Module")});
    d_.choose(
        "Module", "TypeDefToMethodTableMap", [&] { return type_maps(string_rid, object_rid); },
        [&](i64 x) { return module && is_type_map(*module + static_cast<u64>(x), string_rid, object_rid); },
        "the table lists String and Object at their row numbers");
  }

  static u32 find_type(const Metadata &metadata, std::string_view name_space, std::string_view name) {
    for (u32 rid = 1; rid <= metadata.row_count(Table::TypeDef); ++rid)
      if (auto row = metadata.type_def(rid); row && row->name == name && row->name_space == name_space)
        return rid;
    return 0;
  }

  // Object has four virtual methods and no interface; String has more of each.
  void derive_virtuals() {
    if (!known_.object)
      return;
    auto u16_at = [&](Address mt, i64 x) { return d_.memory.try_load<u16>(mt + static_cast<u64>(x)).value_or(0xffff); };
    auto are_interfaces = [&](i64 x) {
      return u16_at(known_.object, x) == 0 && u16_at(known_.string, x) > 3 && u16_at(known_.string, x) < 256;
    };
    auto are_virtuals = [&](i64 x) {
      return u16_at(known_.object, x) == 4 && u16_at(known_.string, x) >= 4 && u16_at(known_.string, x) < 256;
    };
    std::optional<i64> interfaces = d_.descriptor.try_offset("MethodTable", "NumInterfaces");
    if (!d_.choose(
            "MethodTable", "NumVirtuals", [] { return Derivation::offsets(8, 16, 2); },
            [&](i64 x) { return are_virtuals(x) && are_interfaces(interfaces.value_or(x + 2)); },
            "Object has four virtual methods and no interface; String has at least four virtual methods, and more than "
            "three interfaces"))
      return;
    i64 behind = d_.descriptor.offset("MethodTable", "NumVirtuals") + 2;
    d_.choose(
        "MethodTable", "NumInterfaces", [&] { return std::vector<i64>{behind}; }, are_interfaces,
        "it follows NumVirtuals; Object has no interface, and String has more than three");
  }

  // An array keeps its element type where other types keep their instantiation: for object[] it is Object.
  void derive_instantiation() {
    if (!known_.object)
      return;
    auto elements = [&](Address array) {
      return d_.search(4 * p_, 10 * p_, p_, [&](i64 x) { return d_.follow(array, {x}) == known_.object; });
    };
    known_.object_array = find_known(
        "ObjectArrayMethodTable", [&](Address mt) { return is_object_array(mt) && !elements(mt).empty(); },
        "it is a vector of pointers whose element type is Object");
    if (!known_.object_array)
      return;
    if (!d_.choose(
            "MethodTable", "PerInstInfo", [&] { return elements(known_.object_array); },
            [&](i64 x) { return d_.follow(known_.object_array, {x}) == known_.object; },
            "it leads from object[] to its element type, Object"))
      return;
    derive_dictionary();
  }

  // String implements IEquatable<string>, IComparable<string>, …: generic types with one argument, whose only
  // dictionary holds String itself. That identifies the word with the two counts, but only a type with several
  // arguments would show which half is which; the type system checks each type's count against its metadata.
  void derive_dictionary() {
    std::vector<Address> generics = string_interfaces();
    auto counts = [&](i64 x) {
      for (Address mt : generics) {
        Address per_inst = *d_.follow(mt, {d_.descriptor.offset("MethodTable", "PerInstInfo")});
        if (d_.memory.try_load<u16>(per_inst - d_.pointer_size + static_cast<u64>(x)) != u16{1})
          return false;
      }
      return !generics.empty();
    };
    for (const char *field : {"NumDicts", "NumTypeArgs"})
      d_.choose(
          "GenericsDictInfo", field, [] { return std::vector<i64>(); }, counts,
          "it is 1 for the generic interfaces of String, such as IEquatable<string>");
  }

  std::vector<Address> string_interfaces() const {
    std::optional<u16> count = d_.memory.try_load<u16>(
        known_.string + static_cast<u64>(d_.descriptor.try_offset("MethodTable", "NumInterfaces").value_or(0)));
    i64 per_inst = d_.descriptor.offset("MethodTable", "PerInstInfo");
    std::vector<Address> out;
    for (i64 map = 4 * p_; map < 10 * p_; map += p_) {
      std::optional<u64> table = d_.follow(known_.string, {map});
      for (u64 i = 0; table && i < count.value_or(0); ++i) {
        Address mt = d_.word(*table + i * d_.pointer_size).value_or(0) & ~u64{1};
        auto argument = d_.follow(mt, {per_inst, 0, 0});
        if (mt && flags(mt) && argument == known_.string)
          out.push_back(mt);
      }
    }
    return out;
  }

  Derivation &d_;
  const i64 p_;
  i64 flags_at_ = 0, base_size_at_ = 4;
  KnownTypes known_;
};

} // namespace

void derive_method_table(Derivation &derivation) { MethodTableDerivation(derivation).run(); }

} // namespace dnheap
