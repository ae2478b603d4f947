// Shipped tables are hints, never keys: whatever value of whatever table is deleted or wrong, dnheap gives the same
// answer, or an error that names the value; never another answer. On synthetic processes of every kind, and on real
// dumps: DNHEAP_REAL_CORES=a.core:b.core (skipped without).
#include "base/host/host.h"
#include "base/text.h"
#include "contract/find.h"
#include "dump/open.h"
#include "heap/tally.h"
#include "runtime/describe/core_clr_descriptor.h"
#include "snapshot/files/module_files.h"
#include "support/opened.h"

#include <gtest/gtest.h>
#include <set>

namespace dnheap::test {
namespace {

struct Variant {
  std::string value; // "Thread.LinkNext"; empty: no table at all
  std::string what;
  std::vector<ShippedTable> tables;
};

// Deletes (shift 0) or shifts a value where a table has it.
void change(ShippedTable &table, const std::string &value, i64 shift) {
  auto it = table.values.find(value);
  if (it == table.values.end())
    return;
  if (shift == 0)
    table.values.erase(it);
  else
    it->second += shift;
}

// By how much a value is wrong; 0: it is deleted. Real dumps try every word nearby. A synthetic process has been
// written with one layout and little between its fields: neighbours and a distant word are as good there.
const std::vector<i64> few_shifts = {-64, -8, 0, 8, 16};
std::vector<i64> all_shifts() { return Derivation::offsets(-64, 65, 8); }

// Each value of each table: wrong in that table, in that table alone, and in all tables at once.
std::vector<Variant> variants(const std::vector<ShippedTable> &tables, unsigned pointer_size,
                              const std::vector<i64> &shifts) {
  std::vector<Variant> out = {{"", "no tables", {}}};
  std::set<std::string> seen;
  for (u64 i = 0; i < tables.size(); ++i) {
    if (tables[i].pointer_size != pointer_size)
      continue;
    for (const auto &[value, offset] : tables[i].values) {
      bool first = seen.insert(value).second;
      for (i64 shift : shifts) {
        std::string what = shift ? value + (shift > 0 ? " +" : " ") + std::to_string(shift) : value + " deleted";
        std::vector<ShippedTable> one = tables, all = tables;
        change(one[i], value, shift);
        out.push_back({value, what + " in " + tables[i].name, one});
        out.push_back({value, what + " in " + tables[i].name + ", the only table", {one[i]}});
        for (ShippedTable &table : all)
          change(table, value, shift);
        if (first)
          out.push_back({value, what + " in every table", all});
      }
    }
  }
  return out;
}

// All numbers that the reader goes by, whatever their origin.
std::string numbers_of(const ContractDescriptor &d) {
  std::string out;
  for (const auto &[type, body] : d.types)
    for (const auto &[field, value] : body.fields)
      out += type + "." + field + " " + std::to_string(value.offset) + "\n";
  for (const auto &[name, global] : d.globals)
    out += name + " " + (global.number ? std::to_string(*global.number) : global.text) + "\n";
  return out;
}

struct Said {
  std::string counts;  // the type table without names, as `dnheap stat` would give it, and problems of the heap
  std::string names;   // in the order of counts
  std::string lacking; // why names could not be told
};

Said answer_of(const Target &target, const std::vector<ShippedTable> &tables) {
  CoreClr runtime = open_core_clr(target, *find_core_clr_modules(target).at(0), tables);
  Heap heap(runtime);
  HeapTally tally = tally_heap(heap, runtime, 1, {});
  Said out;
  for (const TypeTally &type : tally.types) {
    out.counts += hex(type.method_table) + " " + std::to_string(type.total().count) + " " +
                  std::to_string(type.total().bytes) + "\n";
    out.names += runtime.types().name(type.method_table) + "\n";
  }
  for (const std::string &problem : runtime.types().notes().texts())
    out.lacking += problem + "\n";
  for (const std::string &problem : heap.notes().texts())
    out.counts += problem + "\n";
  out.counts += std::to_string(tally.walk.bad_objects) + " bad objects\n";
  return out;
}

struct Outcomes {
  u64 same_numbers = 0, same_answer = 0, fewer_names = 0, errors = 0;
  std::string without_tables = "the same layout";
};

// The reason why there is no answer, or one with fewer names; empty: there is one, and it is the undisturbed one.
std::string disturbed(const Target &target, const Variant &variant, const std::string &numbers, const Said &answer,
                      Outcomes &outcomes) {
  const Module &module = *find_core_clr_modules(target).at(0);
  std::optional<FoundDescriptor> found = find_descriptor(target, module);
  ContractDescriptor published = found ? parse_descriptor(target.memory, found->address) : ContractDescriptor();
  try {
    if (numbers_of(derive_descriptor(target, module, published, variant.tables)) == numbers) {
      ++outcomes.same_numbers;
      return "";
    }
    Said other = answer_of(target, variant.tables);
    EXPECT_EQ(other.counts, answer.counts) << variant.what;
    if (other.lacking != answer.lacking) { // names may be lost, but not without saying what for
      ++outcomes.fewer_names;
      return other.lacking;
    }
    EXPECT_EQ(other.names, answer.names) << variant.what;
    ++outcomes.same_answer;
    return "";
  } catch (const Error &e) {
    ++outcomes.errors;
    return e.what();
  }
}

Outcomes leave_each_out(const Target &target, const std::vector<ShippedTable> &tables, const std::vector<i64> &shifts) {
  const Module &module = *find_core_clr_modules(target).at(0);
  std::optional<FoundDescriptor> found = find_descriptor(target, module);
  ContractDescriptor published = found ? parse_descriptor(target.memory, found->address) : ContractDescriptor();
  const std::string numbers = numbers_of(derive_descriptor(target, module, published, tables));
  const Said answer = answer_of(target, tables);
  Outcomes outcomes;
  for (const Variant &variant : variants(tables, target.format().pointer_size, shifts)) {
    std::string error = disturbed(target, variant, numbers, answer, outcomes);
    if (!error.empty() && variant.value.empty())
      outcomes.without_tables = error;
    if (!error.empty()) {
      EXPECT_NE(error.find(variant.value.empty() ? "GenericsDictInfo." : variant.value), std::string::npos)
          << variant.what << ": the error does not name the value: " << error;
    }
  }
  return outcomes;
}

// A heap with what the predicates look at: contexts, generic types, several threads.
void fill(HeapBuilder &heap) {
  u32 rid = heap.app().metadata.type("Shop", "Pair`2");
  heap.app().metadata.generic(token(Table::TypeDef, rid), {"K", "V"});
  Address pair = heap.method_table({.rid = rid, .arguments = {heap.string_type, heap.object_type}});
  heap.threads.push_back({.os_id = 4003});
  for (u32 i = 0; i < heap.shape.heaps; ++i) {
    SegmentWriter &young = heap.shape.regions ? heap.segment(GCSegmentGeneration::gen0, i) : heap.ephemeral(i);
    young.begin_gen0();
    young.object(pair);
    young.string("text");
    if (i == 0)
      heap.threads[0].context = young.context(64);
    young.object(heap.object_array_type, 4);
  }
}

TEST(LeaveOneOut, SyntheticProcesses) {
  for (const HeapShape &shape : all_shapes()) {
    // The tables are for 64 bits; byte order and kind of GC matter little to what they say.
    if (shape.format != Format{8, ByteOrder::little} || shape.server == shape.regions)
      continue;
    SCOPED_TRACE(name_of(shape));
    HeapBuilder heap(shape);
    fill(heap);
    std::unique_ptr<Target> target = heap.target();
    Outcomes outcomes = leave_each_out(*target, shipped_tables(), few_shifts);
    EXPECT_GT(outcomes.same_numbers, 0u);
    // What only tables tell cannot be left out of all of them; but where everything is published nothing is missed.
    EXPECT_EQ(outcomes.errors + outcomes.fewer_names > 0, !shape.published || shape.net == Net::net9);
  }
}

// Hides the descriptor's magic: everything must then be derived.
void withhold_descriptor(Target &target) {
  std::optional<FoundDescriptor> found = find_descriptor(target, *find_core_clr_modules(target).at(0));
  if (!found)
    return;
  static const std::byte zeros[8] = {};
  std::vector<Range> ranges = {{found->address, zeros}};
  ranges.insert(ranges.end(), target.memory.ranges().begin(), target.memory.ranges().end());
  target.memory = Memory(target.format(), ranges);
}

TEST(LeaveOneOut, RealDumps) {
  std::string cores = environment("DNHEAP_REAL_CORES");
  if (cores.empty())
    GTEST_SKIP() << "DNHEAP_REAL_CORES names no dumps: this test has NOT looked at a real one";
  for (std::size_t at = 0; at < cores.size();) {
    std::string path = cores.substr(at, cores.find(':', at) - at);
    at += path.size() + 1;
    std::unique_ptr<Target> target = open_dump(path);
    lay_module_files(*target, {});
    const Said answer = answer_of(*target, shipped_tables());
    for (bool withheld : {false, true}) {
      SCOPED_TRACE(path + (withheld ? ", descriptor withheld" : ""));
      if (withheld)
        withhold_descriptor(*target);
      Said again = answer_of(*target, shipped_tables());
      EXPECT_EQ(again.counts + again.names, answer.counts + answer.names);
      Outcomes o = leave_each_out(*target, shipped_tables(), all_shifts());
      std::printf("%s%s: %llu times the same layout, %llu times the same answer otherwise, %llu times fewer names and "
                  "%llu times an error, both naming the value; without any table: %s\n",
                  path.c_str(), withheld ? " (descriptor withheld)" : "",
                  static_cast<unsigned long long>(o.same_numbers), static_cast<unsigned long long>(o.same_answer),
                  static_cast<unsigned long long>(o.fewer_names), static_cast<unsigned long long>(o.errors),
                  o.without_tables.c_str());
      std::fflush(stdout);
    }
  }
}

} // namespace
} // namespace dnheap::test
