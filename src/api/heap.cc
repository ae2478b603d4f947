#include "dnheap/heap.h"

#include "analysis/answer_head.h"
#include "api/answer_parts.h"
#include "api/state.h"
#include "base/parallel.h"
#include "heap/object_cursor.h"

namespace dnheap::v0 {

namespace {

constexpr u64 most_in_block = 16384; // objects in a block of for_each_block()

static_assert(generation_count == dnheap::generation_count);
static_assert(static_cast<u8>(Generation::gen0) == static_cast<u8>(GCSegmentGeneration::gen0));
static_assert(static_cast<u8>(Generation::frozen) == static_cast<u8>(GCSegmentGeneration::frozen));

Generation outer(GCSegmentGeneration generation) { return static_cast<Generation>(generation); }

std::optional<Address> outer(std::optional<dnheap::Address> address) {
  return address ? std::optional(Address(*address)) : std::nullopt;
}

Tally outer(const dnheap::Tally &tally) { return {tally.count, tally.bytes, tally.aligned_bytes}; }

// Translates the type numbers of one walk into TypeIds; looks each up once.
class KnownTypes {
public:
  explicit KnownTypes(State &state)
      : state_(state), free_(state.inside().runtime().types().free_object_method_table()) {}

  void set_type(HeapObject &object, u32 number, dnheap::Address method_table) {
    if (number >= known_.size())
      known_.resize(number + 1);
    Known &type = known_[number];
    if (!type.is_asked) {
      const std::optional<TypeId> id = state_.type_id(method_table);
      type = {true, id.has_value(), method_table == free_, id.value_or(TypeId(0))};
    }
    object.type = type.id;
    object.has_type = type.has_id;
    object.is_free = type.is_free;
  }

private:
  struct Known {
    bool is_asked = false, has_id = false, is_free = false;
    TypeId id{};
  };
  State &state_;
  const dnheap::Address free_;
  std::vector<Known> known_;
};

} // namespace

const char *name_of(Generation generation) { return dnheap::name_of(static_cast<GCSegmentGeneration>(generation)); }

std::vector<Segment> Heap::segments() const {
  std::vector<Segment> out;
  for (const HeapSegment &segment : state_->inside().heap().segments())
    out.push_back({Address(segment.start), Address(segment.end), outer(segment.generation), segment.heap,
                   outer(segment.committed_end), outer(segment.reserved_end)});
  return out;
}

std::vector<TypeTally> Heap::types() const {
  std::vector<TypeTally> out;
  for (const dnheap::TypeTally &type : state_->inside().tally().types) {
    TypeTally &to = out.emplace_back(TypeTally{state_->type(type.method_table), outer(type.total()), {}});
    for (u64 i = 0; i < generation_count; ++i)
      to.generations[i] = outer(type.generations[i]);
  }
  return out;
}

Completeness Heap::completeness() const { return outer(*begin_answer(state_->inside(), "").completeness); }

struct HeapBlocks::Inside {
  explicit Inside(State &state)
      : state(state), losses(state.losses()), types(state), cursor(state.inside().heap(), state.inside().runtime()) {
    block.reserve(most_in_block);
  }
  State &state;
  const u64 losses;
  KnownTypes types;
  ObjectCursor cursor;
  std::vector<HeapObject> block;
};

HeapBlocks::HeapBlocks(std::unique_ptr<Inside> inside) : inside_(std::move(inside)) {}
HeapBlocks::HeapBlocks(HeapBlocks &&) noexcept = default;
HeapBlocks &HeapBlocks::operator=(HeapBlocks &&) noexcept = default;
HeapBlocks::~HeapBlocks() = default;

std::span<const HeapObject> HeapBlocks::next() {
  auto &[state, losses, types, cursor, block] = *inside_;
  if (losses != state.losses()) // the heap under the cursor no longer exists
    throw Error(
        state.inside().target().path +
        ": part of the file could not be read, or was changed meanwhile; read the objects again from the first");
  state.inside().watch().check();
  block.clear();
  while (block.size() < most_in_block) {
    const dnheap::Object *object = cursor.next();
    if (!object)
      break;
    HeapObject &to = block.emplace_back();
    to.address = Address(object->address);
    to.method_table = Address(cursor.method_table());
    to.size = object->size;
    to.generation = outer(cursor.generation());
    types.set_type(to, object->type, cursor.method_table());
  }
  return block;
}

HeapBlocks Heap::blocks() const {
  state_->types();
  return HeapBlocks(std::make_unique<HeapBlocks::Inside>(*state_));
}

void Heap::for_each_block(const std::function<bool(std::span<const HeapObject>)> &visit) const {
  HeapBlocks all = blocks();
  for (std::span<const HeapObject> block = all.next(); !block.empty(); block = all.next())
    if (!visit(block))
      return;
}

void Heap::for_each_block_parallel(
    const std::function<void(std::span<const HeapObject>, ObjectId first, unsigned worker)> &visit) const {
  const dnheap::Snapshot &of = state_->inside();
  const ObjectIndex &index = of.index();
  const References &references = of.references();
  struct Worker {
    explicit Worker(const References &of) : reader(of) {}
    ReferenceReader reader;
    std::vector<HeapObject> block;
  };
  std::vector<Worker> workers(std::max(of.threads(), 1u), Worker(references));
  {
    Timer timer(of.watch(), "objects", of.heap().segment_bytes());
    parallel_for(index.places().blocks(), of.threads(), [&](u64 number, unsigned worker) {
      of.watch().check();
      auto &[reader, block] = workers[worker];
      block.clear();
      const ObjectRange *range = nullptr;
      index.for_each(number, [&](ObjectId, dnheap::Address address) {
        if (!range || address >= range->end())
          range = range_of(of.heap(), address);
        HeapObject &to = block.emplace_back();
        to.address = Address(address);
        to.generation = range ? outer(range->generation) : Generation::gen0;
        OpenedObject opened;
        to.has_type = reader.open(address, opened);
        if (to.has_type) {
          to.method_table = Address(opened.type->method_table);
          to.size = opened.size;
          to.type = opened.id;
        }
      });
      if (!block.empty())
        visit(block, ObjectId(static_cast<u32>(index.first_of(number))), worker);
    });
  }
  state_->check_memory();
}

unsigned Heap::workers() const { return std::max(state_->inside().threads(), 1u); }

} // namespace dnheap::v0
