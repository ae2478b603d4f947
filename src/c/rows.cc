// Reads results row by row. A Snapshot may discard its results (when part of its dump was lost), so each call asks the
// Snapshot for them again, which costs nothing while they exist.
#include "c/rows.h"

#include "dnheap/text.h"

#include <algorithm>

namespace dnheap::c {

namespace {

class TypeRows final : public RowsOf<dnheap_type, 56> {
public:
  explicit TypeRows(Snapshot &of) : RowsOf(of), types_(of.heap().types()) {}

private:
  bool next(dnheap_type &row) override {
    if (at_ == types_.size())
      return false;
    const TypeTally &of = types_[at_++];
    row.method_table = of.type.method_table().value();
    row.count = of.total.count;
    row.bytes = of.total.bytes;
    row.aligned_bytes = of.total.aligned_bytes;
    row.name = keep(printable_text(of.type.name()));
    row.assembly = keep(printable_text(of.type.assembly()));
    const std::optional<TypeId> id = of.type.id();
    row.id = id ? number_of(*id) : DNHEAP_NO_TYPE;
    row.flags = (of.type.is_free() ? DNHEAP_TYPE_IS_FREE : 0) | (of.type.is_array() ? DNHEAP_TYPE_IS_ARRAY : 0);
    return true;
  }

  const std::vector<TypeTally> types_;
  std::size_t at_ = 0;
};

// Reads the objects one by one from blocks. A live process is copied first, since it may be released amid the rows.
class Objects {
public:
  explicit Objects(Snapshot &of) : blocks_(blocks_of(of)) {}

  const HeapObject *next() {
    if (at_ == block_.size()) {
      block_ = blocks_.next();
      at_ = 0;
    }
    return block_.empty() ? nullptr : &block_[at_++];
  }

private:
  static HeapBlocks blocks_of(Snapshot &of) {
    if (of.is_pausing())
      of.find_object(Address());
    return of.heap().blocks();
  }

  HeapBlocks blocks_;
  std::span<const HeapObject> block_;
  std::size_t at_ = 0;
};

class ObjectRows final : public RowsOf<dnheap_object, 32> {
public:
  explicit ObjectRows(Snapshot &of) : RowsOf(of), objects_(of) {}

private:
  bool next(dnheap_object &row) override {
    const HeapObject *of = objects_.next();
    if (!of)
      return false;
    row.address = of->address.value();
    row.method_table = of->method_table.value();
    row.bytes = of->size;
    row.type = of->has_type ? number_of(of->type) : DNHEAP_NO_TYPE;
    row.generation = static_cast<std::uint8_t>(of->generation);
    row.is_free = of->is_free;
    return true;
  }

  Objects objects_;
};

class StringRows final : public RowsOf<dnheap_string, 32> {
public:
  StringRows(Snapshot &of, std::uint64_t most) : RowsOf(of), most_(most), objects_(of) {
    for (const Type &type : of.types_called("System.String"))
      strings_.push_back(type.method_table());
  }

private:
  bool next(dnheap_string &row) override {
    const HeapObject *of;
    do {
      if (!(of = objects_.next()))
        return false;
    } while (std::ranges::find(strings_, of->method_table) == strings_.end());
    row.address = of->address.value();
    const std::optional<Object> object = snapshot.find_object(of->address);
    if (!object)
      return true;
    row.length = object->length().value_or(0);
    if (std::optional<std::string> text = object->string(most_)) {
      row.text_size = text->size();
      row.text = keep(std::move(*text));
    }
    return true;
  }

  const std::uint64_t most_;
  Objects objects_;
  std::vector<Address> strings_;
};

class ReferenceRows final : public RowsOf<dnheap_reference, 24> {
public:
  ReferenceRows(Snapshot &of, Address object)
      : RowsOf(of), references_(of.object(object).references(std::uint64_t(-1))) {}

private:
  bool next(dnheap_reference &row) override {
    if (at_ == references_.size())
      return false;
    const Reference &of = references_[at_++];
    row.target = of.target.value();
    row.offset = of.offset.value_or(DNHEAP_NO_OFFSET);
    row.field = keep(printable_text(of.field));
    return true;
  }

  const std::vector<Reference> references_;
  std::size_t at_ = 0;
};

class ReferrerRows final : public RowsOf<dnheap_edge, 16> {
public:
  ReferrerRows(Snapshot &of, Address object) : RowsOf(of) {
    const Object to = of.object(object);
    to_ = to.address();
    for (const Object &from : to.referrers())
      from_.push_back(from.address());
  }

private:
  bool next(dnheap_edge &row) override {
    if (at_ == from_.size())
      return false;
    row.from = from_[at_++].value();
    row.to = to_.value();
    return true;
  }

  Address to_;
  std::vector<Address> from_;
  std::size_t at_ = 0;
};

class EdgeRows final : public RowsOf<dnheap_edge, 16> {
public:
  explicit EdgeRows(Snapshot &of) : RowsOf(of), count_(of.graph().references().targets.size()) {}

private:
  bool next(dnheap_edge &row) override {
    const Graph graph = snapshot.graph();
    const GraphEdges edges = graph.references();
    if (edges.targets.size() != count_)
      throw Error("part of the dump could not be read, or was changed meanwhile; read the rows again from the first");
    if (at_ == count_)
      return false;
    while (from_ + 1 < edges.first.size() - 1 && at_ >= edges.first[from_ + 1])
      ++from_;
    row.from = graph.address(ObjectId(from_)).value();
    row.to = graph.address(edges.targets[at_++]).value();
    return true;
  }

  const std::uint64_t count_;
  std::uint64_t at_ = 0; // index of the next reference
  std::uint32_t from_ = 0;
};

class RootRows final : public RowsOf<dnheap_root, 48> {
public:
  explicit RootRows(Snapshot &of) : RowsOf(of) { of.roots(); }

private:
  bool next(dnheap_root &row) override {
    const Roots roots = snapshot.roots();
    if (at_ >= roots.count())
      return false;
    const Root of = roots[at_++];
    row.slot = of.slot.value();
    row.object = of.object.value();
    row.kind_text = keep(printable_text(of.kind_text));
    row.name = keep(printable_text(of.name));
    row.thread = keep(printable_text(of.thread));
    row.kind = static_cast<std::uint32_t>(of.kind);
    row.flags = (of.conservative ? DNHEAP_ROOT_IS_CONSERVATIVE : 0) | (of.interior ? DNHEAP_ROOT_IS_INTERIOR : 0) |
                (of.pinned ? DNHEAP_ROOT_IS_PINNED : 0);
    return true;
  }

  std::uint64_t at_ = 0;
};
static_assert(static_cast<int>(RootKind::stack_conservative) == DNHEAP_ROOT_STACK_CONSERVATIVE);
static_assert(static_cast<int>(Generation::frozen) == DNHEAP_FROZEN);

class DominatorRows final : public RowsOf<dnheap_dominated, 32> {
public:
  explicit DominatorRows(Snapshot &of) : RowsOf(of) { of.graph().shared(); }

private:
  bool next(dnheap_dominated &row) override {
    const Graph graph = snapshot.graph();
    for (; at_ < graph.objects(); ++at_)
      if (const std::optional<Retained> retained = graph.retained(ObjectId(at_))) {
        const std::optional<ObjectId> dominator = graph.dominator(ObjectId(at_));
        row.object = graph.address(ObjectId(at_++)).value();
        row.dominator = dominator ? graph.address(*dominator).value() : 0;
        row.retained_objects = retained->objects;
        row.retained_bytes = retained->bytes;
        return true;
      }
    return false;
  }

  std::uint32_t at_ = 0;
};

} // namespace

} // namespace dnheap::c

using namespace dnheap::c;

struct dnheap_rows {
  std::shared_ptr<Opened> opened;
  std::unique_ptr<Rows> rows; // null: at the end
};

namespace {

template <class Kind, class... Arguments>
int begin(const char *function, dnheap_snapshot *snapshot, dnheap_rows **rows, Arguments... arguments) {
  return guarded([&] {
    require(function, {{"snapshot", snapshot}, {"rows", rows}});
    const std::shared_ptr<Opened> opened = snapshot->opened;
    auto out = std::make_unique<dnheap_rows>(opened, nullptr);
    opened->run([&] { out->rows = std::make_unique<Kind>(*opened->snapshot, arguments...); });
    *rows = out.release();
  });
}

} // namespace

int dnheap_types(dnheap_snapshot *snapshot, dnheap_rows **rows) {
  return begin<TypeRows>("dnheap_types", snapshot, rows);
}

int dnheap_objects(dnheap_snapshot *snapshot, dnheap_rows **rows) {
  return begin<ObjectRows>("dnheap_objects", snapshot, rows);
}

int dnheap_references(dnheap_snapshot *snapshot, uint64_t object, dnheap_rows **rows) {
  return begin<ReferenceRows>("dnheap_references", snapshot, rows, dnheap::Address(object));
}

int dnheap_edges(dnheap_snapshot *snapshot, dnheap_rows **rows) {
  return begin<EdgeRows>("dnheap_edges", snapshot, rows);
}

int dnheap_referrers(dnheap_snapshot *snapshot, uint64_t object, dnheap_rows **rows) {
  return begin<ReferrerRows>("dnheap_referrers", snapshot, rows, dnheap::Address(object));
}

int dnheap_strings(dnheap_snapshot *snapshot, uint64_t most, dnheap_rows **rows) {
  return begin<StringRows>("dnheap_strings", snapshot, rows, most);
}

int dnheap_roots(dnheap_snapshot *snapshot, dnheap_rows **rows) {
  return begin<RootRows>("dnheap_roots", snapshot, rows);
}

int dnheap_dominators(dnheap_snapshot *snapshot, dnheap_rows **rows) {
  return begin<DominatorRows>("dnheap_dominators", snapshot, rows);
}

int dnheap_next(dnheap_rows *rows, void *buffer, size_t row_size, size_t capacity, size_t *count) {
  return guarded([&] {
    require("dnheap_next", {{"rows", rows}, {"buffer", buffer}, {"count", count}});
    const std::shared_ptr<Opened> opened = rows->opened;
    opened->run([&] {
      if (rows->rows && (row_size < rows->rows->smallest_row() || row_size > 1 << 16 || row_size % 8))
        throw dnheap::UsageError("dnheap_next: row_size does not match the size of this table's row type");
      std::unique_ptr<Rows> taken = std::move(rows->rows); // if filling fails, these rows are at their end
      const std::size_t filled = taken ? taken->fill(static_cast<std::byte *>(buffer), row_size, capacity) : 0;
      rows->rows = std::move(taken);
      *count = filled;
    });
  });
}

void dnheap_close_rows(dnheap_rows *rows) {
  if (!rows)
    return;
  const std::shared_ptr<Opened> opened = rows->opened;
  // Destroys the rows on the snapshot's own thread. After fork() there is no such thread, so the rows are left to
  // exit().
  if (guarded([&] { opened->run([&] { rows->rows.reset(); }); }) != DNHEAP_OK)
    static_cast<void>(rows->rows.release());
  delete rows;
}
