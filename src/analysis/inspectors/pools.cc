// `inspect pools`: arrays kept by ArrayPool<T>.Shared, by type and length.
#include "analysis/inspectors/inspector.h"
#include "analysis/shapes/field_reader.h"
#include "analysis/shapes/largest_first.h"
#include "analysis/shapes/typed_objects.h"
#include "base/text.h"
#include "objects/object_index.h"
#include "objects/references.h"
#include "report/columns_of.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <unordered_set>

namespace dnheap {

namespace {

using report::Kind;

// These types are nested in SharedArrayPool<T> in .NET 8, and stand beside it in later versions.
constexpr std::string_view of_pool = "System.Buffers.SharedArrayPool", of_thread = "ThreadLocalArray[]",
                           of_all = "+Partition";
constexpr u64 most_slots_of_pool = 1 << 16; // of one shared stack, or of one thread

struct PooledArrays {
  u64 count = 0, bytes = 0;
  Address example = 0;
};
struct PooledKey {
  std::string type;
  u32 length;
  std::string_view kept_for;
  auto operator<=>(const PooledKey &) const = default;
};

class PooledArrayReader {
public:
  explicit PooledArrayReader(const Snapshot &snapshot)
      : snapshot_(snapshot), runtime_(snapshot.runtime()), fields_(runtime_), reader_(snapshot.references()) {}

  std::map<PooledKey, PooledArrays> read() {
    const std::vector<Address> types = types_that(snapshot_, [&](Address mt) {
      const std::string &name = runtime_.types().name(mt);
      return name.starts_with(of_pool) && (name.ends_with(of_all) || name.ends_with(of_thread));
    });
    for (const TypedObject &object : objects_of(snapshot_, types))
      if (runtime_.types().name(object.method_table).ends_with(of_all))
        read_stack(object.address);
      else
        read_thread(object.address, object.method_table);
    return std::move(found_);
  }

  u64 unknown = 0;

private:
  // Reads the arrays of a stack shared by all threads: `_count` of them.
  void read_stack(Address stack) {
    const std::optional<Address> arrays = fields_.reference(stack, "_arrays");
    const std::optional<u32> count = fields_.number<u32>(stack, "_count");
    if (!arrays || !count || *count > most_slots_of_pool) {
      ++unknown;
      return;
    }
    if (*arrays && snapshot_.index().is_object(*arrays))
      for (Address one : fields_.elements(*arrays, *count))
        add(one, "all threads");
  }

  // Reads a thread's arrays: one per size, in structs.
  void read_thread(Address slots, Address mt) {
    const std::optional<ElementShape> shape = runtime_.fields().elements(mt);
    const InstanceField *field = shape ? fields_.find(shape->method_table, "Array") : nullptr;
    const u32 length = fields_.length(slots).value_or(0);
    if (!field || !field->is_reference() || length > most_slots_of_pool) {
      ++unknown;
      return;
    }
    for (u64 i = 0; i < length; ++i)
      add(fields_.memory()
              .try_pointer(slots + shape->start + i * shape->size + field->offset - fields_.pointer_size())
              .value_or(0),
          "one thread");
  }

  void add(Address array, const char *where) {
    OpenedObject opened;
    if (!array || !snapshot_.index().is_object(array) || !reader_.open(array, opened) || !seen_.insert(array).second)
      return;
    PooledArrays &to =
        found_[{runtime_.types().name(opened.type->method_table), fields_.length(array).value_or(0), where}];
    if (to.count++ == 0)
      to.example = array;
    to.bytes += align_up(opened.size, u64{fields_.pointer_size()});
  }

  const Snapshot &snapshot_;
  const Runtime &runtime_;
  FieldReader fields_;
  ReferenceReader reader_;
  std::unordered_set<Address> seen_; // a damaged pool may have the same array several times
  std::map<PooledKey, PooledArrays> found_;
};

} // namespace

void inspect_pools(const Snapshot &snapshot, const Question &, report::Answer &answer) {
  PooledArrayReader reader(snapshot);
  const std::map<PooledKey, PooledArrays> found = reader.read();
  const auto sorted = largest_first(found, &PooledArrays::bytes);
  using G = std::pair<const PooledKey, PooledArrays>;
  report::Table table = report::ColumnsOf<G>{
      {{"bytes", "Bytes", Kind::bytes}, [](const G &g) { return g.second.bytes; }},
      {{"count", "Arrays", Kind::count}, [](const G &g) { return g.second.count; }},
      {{"length", "Length", Kind::count}, [](const G &g) { return g.first.length; }},
      {{"kept_for", "Kept for", Kind::text}, [](const G &g) { return std::string(g.first.kept_for); }},
      {{"type", "Type", Kind::text}, [](const G &g) { return g.first.type; }},
      {{"example", "Example", Kind::address}, [](const G &g) {
         return g.second.example;
       }}}.table("pools", "", sorted);
  PooledArrays sum;
  for (const auto &[key, arrays] : found) {
    sum.bytes += arrays.bytes;
    sum.count += arrays.count;
  }
  table.total =
      total_row(table, {{"bytes", sum.bytes}, {"count", sum.count}, {"type", total_of(sorted.size(), "row")}});
  table.notes.push_back("only arrays that ArrayPool<T>.Shared keeps for later; rented ones look like any other array");
  if (reader.unknown)
    answer.completeness->notes.add(fmt::format(
        "{} not have the fields that parts of ArrayPool<T>.Shared should have: the arrays there are left out",
        reader.unknown == 1 ? "1 part does" : count_text(reader.unknown) + " parts do"));
  answer.tables.push_back(std::move(table));
  if (!sorted.empty())
    answer.next_command = hex(sorted.front()->second.example);
}

} // namespace dnheap
