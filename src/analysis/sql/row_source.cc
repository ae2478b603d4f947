#include "analysis/sql/row_source.h"

#include "algorithms/owner_places.h"
#include "analysis/answer_head.h"
#include "analysis/export/exporter.h"
#include "analysis/objects/object_view.h"
#include "heap/tally.h"
#include "objects/alignments.h"
#include "objects/roots.h"
#include "runtime/string_object.h"

#include <algorithm>
#include <sqlite3.h>

namespace dnheap {

void set_cell(sqlite3_context *context, std::string_view text) {
  sqlite3_result_text64(context, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
}

void set_cell(sqlite3_context *context, u64 number) {
  sqlite3_result_int64(context, static_cast<sqlite3_int64>(number));
}

namespace {

// Rows numbered from 0.
class NumberedRows : public SqlRows {
public:
  void begin(int, i64) override { at_ = 0; }
  void next() override { ++at_; }
  i64 row_id() const override { return static_cast<i64>(at_); }

protected:
  u64 at_ = 0;
};

// One row per object; a look-up has at most one row.
class ObjectRows : public SqlRows {
public:
  explicit ObjectRows(HeapTables &tables)
      : tables_(tables), snapshot_(tables.snapshot()), index_(snapshot_.index()), references_(snapshot_.references()),
        reader_(references_) {}

  void begin(int column, i64 value) override {
    at_ = 0, end_ = index_.count();
    if (column >= 0) {
      const ObjectId one = index_.find(static_cast<Address>(value));
      at_ = one == no_object ? end_ : static_cast<u32>(one);
      end_ = one == no_object ? end_ : at_ + 1;
    }
    settle();
  }
  void next() override {
    ++at_;
    settle();
  }
  bool at_end() const override { return at_ >= end_; }
  i64 row_id() const override { return static_cast<i64>(address_); }

protected:
  // True if there is a row for this object.
  virtual bool has_row() { return true; }
  void settle() {
    for (; at_ < end_; ++at_) {
      if (at_ % 4096 == 0) {
        snapshot_.watch().check();
        if (Progress *progress = snapshot_.watch().progress)
          progress->objects = at_;
      }
      address_ = index_.address(ObjectId(static_cast<u32>(at_)));
      if (!reader_.open(address_, object_))
        object_.type = nullptr;
      if (has_row())
        return;
    }
  }
  u64 bytes() const { return object_.type ? object_.size : 0; }

  HeapTables &tables_;
  const Snapshot &snapshot_;
  const ObjectIndex &index_;
  const References &references_;
  ReferenceReader reader_;
  u64 at_ = 0, end_ = 0;
  Address address_ = 0;
  OpenedObject object_;
};

class Objects final : public ObjectRows {
public:
  using ObjectRows::ObjectRows;
  void fill(sqlite3_context *context, int column) override {
    const ObjectRange *range = range_of(snapshot_.heap(), address_);
    switch (column) {
    case 0: return set_cell(context, address_);
    case 1:
      return set_cell(context, object_.type ? u64{static_cast<u32>(object_.id)} : u64{references_.types().size()});
    case 2: return set_cell(context, bytes());
    case 3: return set_cell(context, range ? align_up(bytes(), range->alignment) : bytes());
    case 4: return set_cell(context, std::string_view(range ? name_of(range->generation) : ""));
    default: return set_cell(context, u64{!tables_.roots().is_unreachable(address_)});
    }
  }
};

class Strings final : public ObjectRows {
public:
  explicit Strings(HeapTables &tables) : ObjectRows(tables), type_(string_type(tables.types())) {}
  void fill(sqlite3_context *context, int column) override {
    if (column == 0)
      return set_cell(context, address_);
    if (column == 1) {
      if (const std::optional<u32> length = string_length(snapshot_.runtime(), address_))
        set_cell(context, u64{*length});
    } else if (tables_.values()) {
      set_cell(context, exported_text(snapshot_.runtime(), address_));
    }
  }

private:
  bool has_row() override { return type_ && object_.type && object_.id == *type_; }
  const std::optional<TypeId> type_;
};

class Dominators final : public ObjectRows {
public:
  Dominators(HeapTables &tables, Holding &holding)
      : ObjectRows(tables), tree_(holding.tree()), owner_places_(tree_, holding.owner_count()) {
    for (u32 i = 0; i < holding.owner_count(); ++i)
      owners_.push_back(holding.owner(OwnerId{i}).name);
  }
  void fill(sqlite3_context *context, int column) override {
    const TreePlace at = *tree_.place(ObjectId(static_cast<u32>(at_))), above = tree_.parent(at);
    switch (column) {
    case 0: return set_cell(context, address_);
    case 1:
      if (const std::optional<ObjectId> object = tree_.object(above))
        set_cell(context, index_.address(*object));
      return;
    case 2:
      if (const std::optional<OwnerId> owner = owner_places_.above(at))
        set_cell(context, owners_[static_cast<u32>(*owner)]);
      return;
    case 3: return set_cell(context, tree_.retained(at).bytes);
    default: return set_cell(context, tree_.retained(at).objects);
    }
  }

private:
  bool has_row() override { return tree_.place(ObjectId(static_cast<u32>(at_))).has_value(); }
  const DominatorTree &tree_;
  const OwnerPlaces owner_places_;
  std::vector<std::string> owners_;
};

class Refs final : public SqlRows {
public:
  explicit Refs(HeapTables &tables)
      : tables_(tables), snapshot_(tables.snapshot()), index_(snapshot_.index()), references_(snapshot_.references()),
        names_(tables.reference_names()), reader_(references_) {}

  void begin(int column, i64 value) override {
    found_.clear(), place_ = 0, target_.reset();
    next_source_ = 0, last_source_ = index_.count();
    sources_ = {};
    by_target_ = column == 1;
    if (column >= 0) {
      const ObjectId one = index_.find(static_cast<Address>(value));
      last_source_ = 0;
      if (one != no_object && column == 0) {
        next_source_ = static_cast<u32>(one);
        last_source_ = next_source_ + 1;
      } else if (one != no_object) {
        target_ = one, target_address_ = static_cast<Address>(value);
        sources_ = tables_.referrers().edges().of(one);
        last_source_ = sources_.size();
      }
    }
    settle();
  }
  void next() override {
    ++place_;
    settle();
  }
  bool at_end() const override { return place_ >= found_.size(); }
  // A row has the same id however it was found: SQLite merges the results of two look-ups (a or b) by it.
  i64 row_id() const override { return static_cast<i64>(u64{source_number_} << 32 | found_[place_].nth); }
  void fill(sqlite3_context *context, int column) override {
    const Found &here = found_[place_];
    switch (column) {
    case 0: return set_cell(context, source_);
    case 1: return set_cell(context, index_.address(here.target));
    case 2: return set_cell(context, names_.texts()[here.name.text]);
    default:
      if (here.name.element)
        set_cell(context, *here.name.element);
    }
  }

private:
  struct Found {
    ObjectId target;
    u32 nth; // number among the source's references
    ReferenceNames::Name name;
  };

  void settle() {
    while (place_ >= found_.size() && next_source_ < last_source_) {
      found_.clear(), place_ = 0;
      u64 number = next_source_++;
      if (by_target_) {
        if (number && sources_[number] == sources_[number - 1])
          continue; // it refers to the target several times, and all of these were shown
        number = static_cast<u32>(sources_[number]);
      }
      if (number % 4096 == 0) {
        snapshot_.watch().check();
        if (Progress *progress = snapshot_.watch().progress)
          progress->objects = number;
      }
      read(ObjectId(static_cast<u32>(number)));
    }
  }

  void read(ObjectId source) {
    source_ = index_.address(source), source_number_ = static_cast<u32>(source);
    OpenedObject object;
    if (snapshot_.roots().is_holder(source_) || !reader_.open(source_, object))
      return;
    u32 nth = 0;
    auto add = [&](Address address, auto name) {
      ++nth;
      if (target_) { // all references of an array are looked at, but few lead to the target
        if (address == target_address_)
          found_.push_back({*target_, nth, name()});
      } else if (const ObjectId to = address ? index_.find(address) : no_object; to != no_object) {
        found_.push_back({to, nth, name()});
      }
    };
    const Format format = references_.format();
    object.type->references.for_each_slot(object.bytes, object.size, format, [&](const std::byte *slot) {
      add(load_pointer(slot, format), [&] { return names_.at(object.id, static_cast<u64>(slot - object.bytes)); });
    });
    if (!object.type->has_hidden)
      return;
    add(object.type->loader_allocator, [] { return ReferenceNames::Name{ReferenceNames::loader_allocator, {}}; });
    for (const Dependent &dependent : references_.dependents().of(source_))
      add(dependent.secondary, [] { return ReferenceNames::Name{ReferenceNames::dependent_handle, {}}; });
  }

  HeapTables &tables_;
  const Snapshot &snapshot_;
  const ObjectIndex &index_;
  const References &references_;
  const ReferenceNames &names_;
  ReferenceReader reader_;
  std::vector<Found> found_; // in one source
  std::span<const ObjectId> sources_;
  std::optional<ObjectId> target_;
  Address target_address_ = 0;
  bool by_target_ = false;
  u64 place_ = 0, next_source_ = 0, last_source_ = 0;
  Address source_ = 0;
  u32 source_number_ = 0;
};

// Types by TypeId, followed by Free, which has no id, so that sums are those of stat.
class Types final : public NumberedRows {
public:
  explicit Types(HeapTables &tables) : tables_(tables), types_(tables.snapshot().references().types()) {
    const HeapTally &tally = tables.snapshot().tally();
    for (u32 i = 0; i < types_.size(); ++i)
      rows_.push_back({types_[TypeId{i}].method_table, {}, i});
    for (const TypeTally &type : tally.types) {
      auto at = std::lower_bound(rows_.begin(), rows_.begin() + types_.size(), type.method_table,
                                 [](const Row &row, Address wanted) { return row.method_table < wanted; });
      if (at != rows_.begin() + types_.size() && at->method_table == type.method_table)
        at->sum = type.total();
      else
        rows_.push_back({type.method_table, type.total(), 1 + static_cast<u32>(rows_.size())});
    }
  }
  void begin(int column, i64 value) override {
    at_ = 0, end_ = rows_.size();
    if (column < 0)
      return;
    // Ids are ascending.
    const auto at = std::lower_bound(rows_.begin(), rows_.end(), value,
                                     [](const Row &row, i64 wanted) { return static_cast<i64>(row.id) < wanted; });
    at_ = static_cast<u64>(at - rows_.begin());
    end_ = at != rows_.end() && static_cast<i64>(at->id) == value ? at_ + 1 : at_;
  }
  bool at_end() const override { return at_ >= end_; }
  void fill(sqlite3_context *context, int column) override {
    const Row &row = rows_[at_];
    switch (column) {
    case 0: return set_cell(context, u64{row.id});
    case 1: return set_cell(context, tables_.snapshot().runtime().types().name(row.method_table));
    case 2: return set_cell(context, row.method_table);
    case 3: return set_cell(context, tables_.snapshot().runtime().types().assembly(row.method_table));
    case 4: return set_cell(context, row.sum.count);
    case 5: return set_cell(context, row.sum.bytes);
    default: return set_cell(context, row.sum.aligned_bytes);
    }
  }

private:
  struct Row {
    Address method_table = 0;
    Tally sum;
    u32 id = 0;
  };
  HeapTables &tables_;
  const HeapTypes &types_;
  std::vector<Row> rows_;
  u64 end_ = 0;
};

class Roots final : public NumberedRows {
public:
  explicit Roots(HeapTables &tables) : tables_(tables) {
    for (const HeldRoots::Kind &kind : tables.roots().kinds())
      for (const HeldRoots::Owner &owner : kind.owners)
        for (const HeldRoots::Held &held : owner.objects)
          rows_.push_back({&owner, held.object});
  }
  bool at_end() const override { return at_ >= rows_.size(); }
  void fill(sqlite3_context *context, int column) override {
    const auto &[owner, object] = rows_[at_];
    if (column == 0)
      return set_cell(context, std::string_view(name_of(owner->kind)));
    if (column == 1)
      return set_cell(context, owner->name);
    set_cell(context, tables_.snapshot().index().address(object));
  }

private:
  HeapTables &tables_;
  std::vector<std::pair<const HeldRoots::Owner *, ObjectId>> rows_;
};

// The owners as `retained` lists them, including shared and unreachable objects, so that the sums are the heap's.
class OwnerRows final : public NumberedRows {
public:
  explicit OwnerRows(HeapTables &tables) : lines_(tables.holding(false).owner_lines()) {}
  bool at_end() const override { return at_ >= lines_.size(); }
  void fill(sqlite3_context *context, int column) override {
    const Holding::OwnerLine &line = lines_[at_];
    switch (column) {
    case 0: return set_cell(context, line.name);
    case 1: return set_cell(context, line.kind);
    case 2:
      if (line.rank)
        set_cell(context, std::string_view(line.rank));
      return;
    case 3: return set_cell(context, line.retained.bytes);
    default: return set_cell(context, line.retained.objects);
    }
  }

private:
  const std::vector<Holding::OwnerLine> lines_;
};

class Meta final : public NumberedRows {
public:
  explicit Meta(HeapTables &tables) {
    const WalkResult &walk = tables.snapshot().tally().walk;
    const Target &target = tables.snapshot().target();
    u64 missing = tables.snapshot().heap().gaps().size() + walk.gaps.count();
    const bool are_roots_missing = !knows_all_roots(tables.snapshot());
    rows_ = {{"schema", "1"},
             {"objects", std::to_string(tables.snapshot().index().count())},
             {"complete", missing || walk.bad_objects || target.notes.have_effect() || are_roots_missing ? "0" : "1"},
             {"gaps", std::to_string(missing)},
             {"values", tables.values() ? "1" : "0"},
             {"pointer_size", std::to_string(target.format().pointer_size)}};
  }
  bool at_end() const override { return at_ >= rows_.size(); }
  void fill(sqlite3_context *context, int column) override {
    set_cell(context, column ? rows_[at_].second : rows_[at_].first);
  }

private:
  std::vector<std::pair<std::string, std::string>> rows_;
};

} // namespace

std::unique_ptr<SqlRows> rows_of_types(HeapTables &tables) { return std::make_unique<Types>(tables); }
std::unique_ptr<SqlRows> rows_of_objects(HeapTables &tables) { return std::make_unique<Objects>(tables); }
std::unique_ptr<SqlRows> rows_of_refs(HeapTables &tables) { return std::make_unique<Refs>(tables); }
std::unique_ptr<SqlRows> rows_of_roots(HeapTables &tables) { return std::make_unique<Roots>(tables); }
std::unique_ptr<SqlRows> rows_of_owners(HeapTables &tables) { return std::make_unique<OwnerRows>(tables); }
std::unique_ptr<SqlRows> rows_of_dominators(HeapTables &tables) {
  return std::make_unique<Dominators>(tables, tables.holding(false));
}
std::unique_ptr<SqlRows> rows_of_plain_dominators(HeapTables &tables) {
  return std::make_unique<Dominators>(tables, tables.holding(true));
}
std::unique_ptr<SqlRows> rows_of_strings(HeapTables &tables) { return std::make_unique<Strings>(tables); }
std::unique_ptr<SqlRows> rows_of_meta(HeapTables &tables) { return std::make_unique<Meta>(tables); }

} // namespace dnheap
