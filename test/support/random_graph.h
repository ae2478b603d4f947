// Random graphs for tests of references, and the parts that dnheap makes of a heap: every slot of every shape that a
// GCDesc can have holds null, an object, or, for a few in a hundred, something bad; the test keeps its own account.
#pragma once
#include "heap/tally.h"
#include "objects/live.h"
#include "objects/object_graph.h"
#include "support/opened.h"

#include <map>
#include <random>
#include <set>

namespace dnheap::test {

class RandomGraph {
public:
  // `bad`: percent of the slots that hold no null and no object. `objects`: in each of three segments.
  RandomGraph(const HeapShape &shape, std::mt19937_64 &random, u64 bad = 4, u64 objects = 400, u64 null = 25);

  HeapBuilder heap;
  const u64 p;
  std::map<Address, std::vector<Address>> targets; // by object, in the order of their slots; not null
  std::map<Address, Address> bad;                  // slot → target
  std::vector<Address> free;                       // Free objects
  // What the builder wrote but Free.
  std::map<Address, WrittenObject> objects() const;
  Address random_object() { return placed_[below(placed_.size())].address; }

private:
  // A type together with the test's own idea of where its references lie.
  struct Described {
    Address method_table = 0;
    u64 component_size = 0;
    std::vector<u64> fixed;      // offsets from the MethodTable
    std::vector<u64> in_element; // offsets in each element of an array
  };
  struct Placed {
    Address address;
    const Described *type;
    u64 components = 0;
  };

  u64 below(u64 n) { return random_() % n; }
  void add_type();
  void add_array(const std::vector<u64> &offsets, u64 component_size, bool whole);
  void fill(SegmentWriter &segment, u64 count);
  void link(const Placed &placed);
  void store(Address object, Address slot);

  std::mt19937_64 &random_;
  const u64 bad_percent_, null_percent_;
  std::deque<Described> types_;
  std::vector<Placed> placed_;
  std::set<Address> addresses_;
  std::vector<SegmentWriter *> segments_;
};

// Everything that marking and graphs are made from.
struct Indexed {
  explicit Indexed(HeapBuilder &builder, std::vector<Dependent> dependents = {}, unsigned threads = 2);

  Opened opened;
  HeapTally tally;
  std::unique_ptr<ObjectIndex> index;
  std::unique_ptr<References> references;
};

} // namespace dnheap::test
