#include "objects/reference_check.h"

#include "base/parallel.h"
#include "objects/object_finder.h"
#include "runtime/object_1.h"

#include <array>
#include <tuple>

namespace dnheap {

namespace {

u64 mix(u64 a, u64 b) {
  u64 h = a * 0x9e3779b97f4a7c15 + b;
  h ^= h >> 32;
  h *= 0xd6e8feb86659fd93;
  return h ^ h >> 32;
}

// Checks one thread's part. A look-up in the index is often a cache miss, so references are queued with their index
// entries prefetched, and the queue is drained when it is full.
class Checker {
public:
  Checker(const Heap &heap, const Runtime &runtime, const ObjectIndex &index, const References &references,
          const HeaderCheck &headers, u64 most, const NoDamage &no_damage)
      : index_(index), references_(references), headers_(headers), memory_(runtime.memory()), most_(most),
        no_damage_(no_damage), heap_(heap), finder_(index, heap, runtime), reader_(references) {}

  void check(Address address) {
    ++result.objects;
    const Format format = references_.format();
    // The header usually lies right after another object, so header and object are one stretch of bytes.
    Bytes bytes = references_.bytes().from(address - format.pointer_size);
    bool has_header = bytes.size() > format.pointer_size;
    bytes = has_header ? bytes.subspan(format.pointer_size) : references_.bytes().from(address);
    OpenedObject object;
    if (!reader_.open(address, bytes, object)) {
      ++result.unreadable;
      return;
    }
    check_header(address, has_header ? std::optional(load<u32>(object.bytes - ObjectHeader::offset, format.byte_order))
                                     : memory_.try_load<u32>(address - ObjectHeader::offset));
    object.type->references.for_each_slot(object.bytes, object.size, format, [&](const std::byte *slot) {
      if (Address target = load_pointer(slot, format))
        ask(object, address + static_cast<u64>(slot - object.bytes), target);
    });
    if (object.type->has_hidden)
      reader_.for_each_hidden(object, [&](Address target) { ask(object, 0, target); });
  }
  void drain() {
    for (u64 i = 0; i < waiting_count_; ++i) {
      const Waiting &w = waiting_[i];
      if (w.slot) {
        ++result.references;
        result.edges += mix(w.object, w.target);
      } else {
        ++result.hidden;
      }
      if (index_.is_object(w.target))
        continue;
      if (is_moving(w) || is_dead(w.object))
        continue;
      ++result.bad;
      if (bad_in_block_ < most_) {
        ++bad_in_block_;
        result.bad_references.push_back({w.object, w.method_table, w.slot, w.target, {}});
      }
    }
    waiting_count_ = 0;
  }

  void begin_block() { bad_in_block_ = bad_headers_in_block_ = 0; }

  ReferenceCheck result;

private:
  struct Waiting {
    Address object, method_table, slot, target;
  };
  // Both functions also count the problem if they return true.
  bool is_dead(Address object) {
    bool dead = no_damage_.live && !no_damage_.live->test(object) && !heap_.is_frozen(object);
    result.dead += dead;
    return dead;
  }
  bool is_moving(Address object) {
    bool moving = no_damage_.collected && no_damage_.collected->holds(object);
    result.moving += moving;
    return moving;
  }
  bool is_moving(const Waiting &w) {
    if (is_moving(w.object))
      return true;
    bool moving = no_damage_.collected && no_damage_.collected->may_become_object(w.target, finder_.find(w.target) != 0,
                                                                                  references_.format().pointer_size);
    result.moving += moving;
    return moving;
  }
  void check_header(Address address, std::optional<u32> header) {
    if (!header)
      return;
    std::optional<BadHeader> bad = headers_.find_problem(address, *header);
    if (!bad || is_moving(address) || is_dead(address))
      return;
    ++result.bad_headers;
    if (bad_headers_in_block_ < most_) {
      ++bad_headers_in_block_;
      result.headers.push_back(*bad);
    }
  }
  void ask(const OpenedObject &object, Address slot, Address target) {
    if (u64 place = index_.places().find(target); place != HeapPlaces::nowhere)
      index_.prefetch(place);
    waiting_[waiting_count_++] = {object.address, object.type->method_table, slot, target};
    if (waiting_count_ == waiting_.size())
      drain();
  }

  const ObjectIndex &index_;
  const References &references_;
  const HeaderCheck &headers_;
  const Memory &memory_;
  const u64 most_;
  const NoDamage no_damage_;
  const Heap &heap_;
  u64 bad_in_block_ = 0, bad_headers_in_block_ = 0;
  ObjectFinder finder_;
  ReferenceReader reader_;
  std::array<Waiting, 64> waiting_;
  u64 waiting_count_ = 0;
};

ReferenceProblem problem_of(Address target, const Heap &heap, const Runtime &runtime) {
  if (target % runtime.memory().format().pointer_size != 0)
    return ReferenceProblem::unaligned;
  if (!heap.holds(target))
    return ReferenceProblem::outside;
  Address mt = method_table_of(runtime.memory(), target);
  return mt && mt == runtime.types().free_object_method_table() ? ReferenceProblem::free_space
                                                                : ReferenceProblem::no_object;
}

void keep_first(std::vector<BadReference> &bad, u64 most) {
  std::sort(bad.begin(), bad.end(), [](const BadReference &a, const BadReference &b) {
    return std::tie(a.object, a.slot, a.target) < std::tie(b.object, b.slot, b.target);
  });
  if (bad.size() > most)
    bad.resize(most);
}

void keep_first(std::vector<BadHeader> &bad, u64 most) {
  std::sort(bad.begin(), bad.end(), [](const BadHeader &a, const BadHeader &b) {
    return std::tie(a.object, a.sync_block) < std::tie(b.object, b.sync_block);
  });
  if (bad.size() > most)
    bad.resize(most);
}

} // namespace

ReferenceCheck check_references(const Heap &heap, const Runtime &runtime, const ObjectIndex &index,
                                const References &references, const HeaderCheck &headers,
                                const std::function<bool(Address)> &is_walked, unsigned threads, const Watch &watch,
                                u64 most, const NoDamage &no_damage) {
  Timer timer(watch, "references", heap.segment_bytes());
  std::vector<std::unique_ptr<Checker>> checkers;
  for (unsigned i = 0; i < std::max(threads, 1u); ++i)
    checkers.push_back(std::make_unique<Checker>(heap, runtime, index, references, headers, most, no_damage));
  parallel_for(index.places().blocks(), threads, [&](u64 block, unsigned worker) {
    watch.check();
    Checker &checker = *checkers[worker];
    checker.begin_block();
    index.for_each(block, [&](ObjectId, Address address) { checker.check(address); });
    checker.drain();
    if (checker.result.bad_references.size() > 2 * most)
      keep_first(checker.result.bad_references, most);
    if (checker.result.headers.size() > 2 * most)
      keep_first(checker.result.headers, most);
    if (Progress *progress = watch.progress)
      progress->done += index.places().block_size() << index.places().unit_shift();
  });
  ReferenceCheck out;
  for (const auto &checker : checkers) {
    ReferenceCheck &part = checker->result;
    out.objects += part.objects;
    out.references += part.references;
    out.edges += part.edges;
    out.hidden += part.hidden;
    out.bad += part.bad;
    out.dead += part.dead;
    out.moving += part.moving;
    out.unreadable += part.unreadable;
    out.bad_references.insert(out.bad_references.end(), part.bad_references.begin(), part.bad_references.end());
    out.bad_headers += part.bad_headers;
    out.headers.insert(out.headers.end(), part.headers.begin(), part.headers.end());
  }
  std::vector<BadHeader> of_table = headers.check_table(index, is_walked);
  const u64 p = runtime.memory().format().pointer_size;
  if (const CollectedPart *collected = no_damage.collected)
    out.moving += std::erase_if(of_table, [&](const BadHeader &bad) {
      return bad.problem == HeaderProblem::no_object ? collected->may_become_object(bad.object, false, p)
                                                     : collected->holds(bad.object);
    });
  if (no_damage.live) // if no object begins there, it cannot be dead
    out.dead += std::erase_if(of_table, [&](const BadHeader &bad) {
      return bad.problem != HeaderProblem::no_object && !no_damage.live->test(bad.object) &&
             !heap.is_frozen(bad.object);
    });
  out.bad_headers += of_table.size();
  out.headers.insert(out.headers.end(), of_table.begin(), of_table.end());
  keep_first(out.headers, most);
  keep_first(out.bad_references, most);
  for (BadReference &reference : out.bad_references)
    reference.problem = problem_of(reference.target, heap, runtime);
  for (u32 id = 0; id < references.types().size(); ++id)
    if (const ObjectType &type = references.types()[TypeId(id)]; !type.is_described)
      out.undescribed.push_back(type.method_table);
  return out;
}

} // namespace dnheap
