#include "support/property.h"

namespace dnheap::test {

namespace {

// Without the objects [begin, end), and what refers to them.
Graph without_objects(const Graph &graph, u32 begin, u32 end) {
  Graph out;
  auto renumber = [&](u32 id) { return id < end ? id : id - (end - begin); };
  auto is_left = [&](u32 id) { return id < begin || id >= end; };
  const Edges edges = graph.edges();
  for (u32 i = 0; i < graph.objects(); ++i) {
    std::vector<u32> references;
    for (ObjectId target : edges.of(ObjectId{i}))
      if (is_left(static_cast<u32>(target)))
        references.push_back(renumber(static_cast<u32>(target)));
    if (is_left(i))
      out.add(graph.bytes[i], references);
  }
  out.owner_count = graph.owner_count;
  out.precise_owners = graph.precise_owners;
  for (const OwnedRoot &root : graph.roots)
    if (is_left(static_cast<u32>(root.object)))
      out.roots.push_back({ObjectId{renumber(static_cast<u32>(root.object))}, root.owner});
  return out;
}

Graph without_edge(const Graph &graph, u64 edge) {
  Graph out = graph;
  out.targets.erase(out.targets.begin() + static_cast<std::ptrdiff_t>(edge));
  for (u64 &first : out.first)
    first -= first > edge;
  return out;
}

std::vector<GraphCase> smaller(const GraphCase &of) {
  std::vector<GraphCase> out;
  const Graph &graph = of.graph;
  for (u32 size = graph.objects() / 2; size > 0; size /= 2)
    for (u32 at = 0; at + size <= graph.objects() && graph.objects() > 1; at += size)
      out.push_back({without_objects(graph, at, at + size), of.seed});
  for (u64 i = 0; i < graph.roots.size(); ++i) {
    out.push_back(of);
    out.back().graph.roots.erase(out.back().graph.roots.begin() + static_cast<std::ptrdiff_t>(i));
  }
  for (u64 i = 0; i < graph.targets.size() && graph.objects() < 30; ++i)
    out.push_back({without_edge(graph, i), of.seed});
  return out;
}

std::vector<HeapCase> smaller_heaps(const HeapCase &of) {
  std::vector<HeapCase> out;
  auto add = [&](u64 HeapCase::*member, u64 value) {
    if (value < of.*member) {
      out.push_back(of);
      out.back().*member = value;
    }
  };
  for (u64 part : {8, 2})
    add(&HeapCase::objects, std::max<u64>(of.objects / part, 1));
  add(&HeapCase::objects, of.objects - 1 ? of.objects - 1 : 1);
  add(&HeapCase::dependents, 0);
  add(&HeapCase::dependents, of.dependents / 2);
  add(&HeapCase::bad, 0);
  return out;
}

} // namespace

void showValue(const GraphCase &value, std::ostream &to) {
  const Graph &graph = value.graph;
  to << graph.objects() << " objects, " << graph.owner_count << " owners, " << graph.precise_owners
     << " of them precise, seed " << value.seed;
  const Edges edges = graph.edges();
  for (u32 i = 0; i < graph.objects(); ++i) {
    to << "\n" << i << " (" << graph.bytes[i] << " bytes):";
    for (ObjectId target : edges.of(ObjectId{i}))
      to << " " << static_cast<u32>(target);
  }
  for (const OwnedRoot &root : graph.roots)
    to << "\nowner " << static_cast<u32>(root.owner) << ": " << static_cast<u32>(root.object);
}

rc::Gen<GraphCase> graphs(u32 most, u32 many) {
  return values_of(
      [=](u64 seed) {
        return GraphCase{random_graph(seed, many && seed % 10 == 0 ? many : most), seed};
      },
      smaller);
}

void showValue(const HeapCase &value, std::ostream &to) {
  to << name_of(value.format) << ", seed " << value.seed << ", " << value.objects << " objects in each segment, "
     << value.bad << " % bad, " << value.null << " % null, " << value.dependents << " dependent handles";
}

rc::Gen<HeapCase> heaps(u64 most_objects) {
  return values_of(
      [=](u64 seed) {
        GraphDice dice(seed);
        Format format = all_formats[seed % std::size(all_formats)];
        return HeapCase{format, seed, 1 + dice(most_objects), dice(8), 20 + dice(70), dice(150)};
      },
      smaller_heaps);
}

} // namespace dnheap::test
