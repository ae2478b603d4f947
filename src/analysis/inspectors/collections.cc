// `inspect collections`: number of elements and bytes of collections, by type and holding field.
#include "analysis/inspectors/inspector.h"
#include "analysis/names/compiled_names.h"
#include "analysis/shapes/collections/collection_shapes.h"
#include "analysis/shapes/held_by.h"
#include "analysis/shapes/largest_first.h"
#include "base/parallel.h"
#include "base/share.h"
#include "base/text.h"
#include "objects/alignments.h"
#include "report/columns_of.h"

#include <algorithm>
#include <map>
#include <memory>
#include <unordered_map>

namespace dnheap {

namespace {

using report::Cell;
using report::Kind;
using report::Shown;

struct FoundCollection {
  Address address = 0;
  u64 bytes = 0, count = 0;
  std::optional<u64> capacity;
  TypeId type = TypeId(0);
  Address earlier = 0; // for a builder: its previous chunk, which is also in `all`
};

struct FoundCollections {
  std::vector<FoundCollection> all; // by address
  std::vector<Address> parts;       // that refer back to their collections
};

struct CollectionGroup {
  u64 objects = 0, bytes = 0, elements = 0, most = 0;
  std::optional<u64> capacity;
  Address largest = 0;
};

FoundCollections find_collections(const Snapshot &snapshot, const CollectionShapes &shapes) {
  const ObjectIndex &index = snapshot.index();
  const References &references = snapshot.references();
  const Heap &heap = snapshot.heap();
  const unsigned threads = std::max(snapshot.threads(), 1u);
  Timer timer(snapshot.watch(), "collections", heap.segment_bytes());
  struct Worker {
    explicit Worker(const References &references) : reader(references) {}
    ReferenceReader reader;
    std::vector<FoundCollection> found;
    std::vector<Address> parts, inner;
  };
  std::vector<std::unique_ptr<Worker>> workers;
  for (unsigned i = 0; i < threads; ++i)
    workers.push_back(std::make_unique<Worker>(references));
  parallel_for(index.count() ? index.places().blocks() : 0, threads, [&](u64 block, unsigned number) {
    snapshot.watch().check();
    Worker &worker = *workers[number];
    index.for_each(block, [&](ObjectId, Address address) {
      OpenedObject object;
      if (!worker.reader.open(address, object) || !shapes.is_collection(object.id))
        return;
      if (shapes.refers_back(object.id) || shapes.is_inside(object.id)) {
        worker.parts.push_back(address);
        return;
      }
      const std::optional<CollectionFill> fill = shapes.read(object, worker.reader, references.format());
      if (!fill)
        return;
      FoundCollection one{address,     align_up(object.size, Alignments(heap, address).of(address)) + fill->more_bytes,
                          fill->count, fill->capacity,
                          object.id,   fill->is_builder ? fill->inner : 0};
      if (fill->inner)
        worker.inner.push_back(fill->inner);
      OpenedObject part;
      for (Address at : fill->parts)
        if (at && worker.reader.open(at, part))
          one.bytes += align_up(part.size, Alignments(heap, at).of(at));
      worker.found.push_back(one);
    });
    if (auto *progress = snapshot.watch().progress)
      progress->done += index.places().block_size() << index.places().unit_shift();
  });
  FoundCollections out;
  std::vector<Address> inner; // collections inside of others: only the outer ones are shown
  for (const auto &worker : workers) {
    inner.insert(inner.end(), worker->inner.begin(), worker->inner.end());
    out.parts.insert(out.parts.end(), worker->parts.begin(), worker->parts.end());
  }
  std::sort(inner.begin(), inner.end());
  std::vector<FoundCollection> all;
  for (const auto &worker : workers)
    all.insert(all.end(), worker->found.begin(), worker->found.end());
  std::sort(all.begin(), all.end(),
            [](const FoundCollection &a, const FoundCollection &b) { return a.address < b.address; });
  // A builder is the last of its chunks; the bytes of earlier chunks count for it. Each chunk counts once, however many
  // objects refer to it.
  std::vector<bool> is_told(all.size());
  for (const FoundCollection &one : all) {
    if (std::binary_search(inner.begin(), inner.end(), one.address))
      continue;
    out.all.push_back(one);
    for (Address at = one.earlier; at;) {
      const auto chunk = std::lower_bound(all.begin(), all.end(), at,
                                          [](const FoundCollection &a, Address wanted) { return a.address < wanted; });
      const u64 number = static_cast<u64>(chunk - all.begin());
      if (chunk == all.end() || chunk->address != at || is_told[number])
        break;
      is_told[number] = true;
      out.all.back().bytes += chunk->bytes;
      out.parts.push_back(at);
      at = chunk->earlier;
    }
  }
  return out;
}

struct CollectionKey {
  std::string type, held_by;
  auto operator<=>(const CollectionKey &) const = default;
};
using CollectionGroups = std::map<CollectionKey, CollectionGroup>;

CollectionGroups groups_of(const Snapshot &snapshot, const FoundCollections &found) {
  std::vector<HeldObject> asked;
  asked.reserve(found.all.size());
  for (const FoundCollection &one : found.all)
    asked.push_back({one.address, one.bytes});
  HeldBy holders(snapshot, asked, found.parts);
  std::unordered_map<u64, CollectionGroup> numbered; // by numbers of type and field, because there would be millions of
                                                     // texts
  auto merge = [](CollectionGroup &to, const CollectionGroup &from) {
    to.objects += from.objects;
    to.bytes += from.bytes;
    to.elements += from.elements;
    if (from.capacity)
      to.capacity = to.capacity.value_or(0) + *from.capacity;
    if (!to.largest || from.most > to.most || (from.most == to.most && from.largest < to.largest)) {
      to.most = from.most;
      to.largest = from.largest;
    }
  };
  for (const FoundCollection &one : found.all)
    merge(numbered[u64{static_cast<u32>(one.type)} << 32 | holders.field(one.address)],
          {1, one.bytes, one.count, one.count, one.capacity, one.address});
  CollectionGroups out;
  for (const auto &[key, group] : numbered) {
    const Address type = snapshot.references().types()[TypeId{static_cast<u32>(key >> 32)}].method_table;
    merge(out[{snapshot.runtime().types().name(type), holders.text(static_cast<u32>(key))}], group);
  }
  return out;
}

} // namespace

void inspect_collections(const Snapshot &snapshot, const Question &, report::Answer &answer) {
  const CollectionShapes shapes(snapshot.runtime(), snapshot.references().types(), snapshot.index().count());
  const CollectionGroups groups = groups_of(snapshot, find_collections(snapshot, shapes));
  using G = CollectionGroups::value_type;
  const std::vector<const G *> sorted = largest_first(groups, &CollectionGroup::bytes);
  report::Table table = report::ColumnsOf<G>{
      {{"bytes", "Bytes", Kind::bytes}, [](const G &g) { return g.second.bytes; }},
      {{"count", "Count", Kind::count}, [](const G &g) { return g.second.objects; }},
      {{"elements", "Elements", Kind::count}, [](const G &g) { return g.second.elements; }},
      {{"capacity", "", Kind::count, Shown::in_data}, [](const G &g) { return g.second.capacity; }},
      {{"fill", "Fill", Kind::percent, Shown::in_text},
       [](const G &g) {
         const u64 capacity = g.second.capacity.value_or(0);
         return capacity ? Cell(share_of(g.second.elements, capacity)) : Cell();
       }},
      {{"most", "Most", Kind::count}, [](const G &g) { return g.second.most; }},
      {{"type", "Type", Kind::text}, [](const G &g) { return g.first.type; }},
      {{"held_by", "Held by", Kind::text}, [](const G &g) { return g.first.held_by; }},
      {{"example", "Largest", Kind::address}, [](const G &g) {
         return g.second.largest;
       }}}.table("collections", "", sorted);
  CollectionGroup sum;
  for (const auto &[key, group] : groups) {
    sum.bytes += group.bytes;
    sum.objects += group.objects;
  }
  table.total =
      total_row(table, {{"bytes", sum.bytes}, {"count", sum.objects}, {"type", total_of(sorted.size(), "row")}});
  for (const G *one : first_of(sorted))
    explain_compiled_names(one->first.held_by, table.notes);
  table.notes.insert(table.notes.begin(),
                     "Bytes: collections with their own arrays and nodes (immutable ones may share nodes), without "
                     "their elements; Most: elements of the largest one; Elements: of StringBuilders, characters; of "
                     "ConditionalWeakTables, also dead entries");
  answer.completeness->notes.add_all(shapes.notes("its objects are left out"));
  answer.tables.push_back(std::move(table));
  if (!sorted.empty())
    answer.next_command = hex(sorted.front()->second.largest);
}

} // namespace dnheap
