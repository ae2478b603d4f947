#include "algorithms/held_directly.h"

#include "base/parallel.h"

#include <array>

namespace dnheap {

HeldDirectly::HeldDirectly(const Edges &edges, const DominatorTree &tree, unsigned threads, const Watch &watch)
    : tree_(tree), bits_(edges.objects()), before_(bits_.words().size()) {
  Timer timer(watch, "held directly");
  struct Reference {
    TreePlace from;
    ObjectId to;
  };
  parallel_for_parts(edges.objects(), 1 << 14, threads, [&](u64 begin, u64 end, unsigned) {
    watch.check();
    // References wait here until the prefetched places of their targets, then of the parents, have arrived.
    std::array<Reference, 64> references;
    std::array<std::optional<TreePlace>, 64> places;
    u64 waiting = 0;
    auto look = [&] {
      for (u64 i = 0; i < waiting; ++i)
        if ((places[i] = tree.place(references[i].to)))
          tree.prefetch_parent(*places[i]);
      for (u64 i = 0; i < waiting; ++i)
        if (places[i] && tree.parent(*places[i]) == references[i].from)
          bits_.claim(references[i].to);
      waiting = 0;
    };
    for (u64 i = begin; i < end; ++i)
      if (const std::optional<TreePlace> from = tree.place(ObjectId{static_cast<u32>(i)}))
        for (ObjectId target : edges.of(ObjectId{static_cast<u32>(i)})) {
          tree.prefetch_place(target);
          references[waiting++] = {*from, target};
          if (waiting == references.size())
            look();
        }
    look();
  });
  for (u64 i = 0; i < before_.size(); ++i) {
    before_[i] = static_cast<u32>(others_);
    others_ += std::min<u64>(64, edges.objects() - i * 64) - count_bits(bits_.words()[i]);
  }
}

} // namespace dnheap
