#include "support/graphs.h"

#include <algorithm>

namespace dnheap::test {

void Graph::add(u32 size, const std::vector<u32> &references) {
  bytes.push_back(size);
  for (u32 target : references)
    targets.push_back(ObjectId{target});
  first.push_back(targets.size());
}

Graph random_graph(u64 seed, u32 most) {
  GraphDice dice(seed);
  Graph graph;
  u32 count = 1 + static_cast<u32>(dice(most));
  u64 degree = 1 + dice(4), reach = 1 + dice(count), hubs = 1 + dice(3);
  bool lists = dice(2), leaves = dice(2), self = dice(3) == 0, twice = dice(3) == 0, backwards = dice(2);
  for (u32 i = 0; i < count; ++i) {
    std::vector<u32> to;
    if (!leaves || dice(5) >= 3) {
      for (u64 left = dice(degree + 1); left > 0; --left) {
        u64 way = dice(10);
        u64 near = (i + dice(reach) + (backwards ? count - reach / 2 : 0)) % count;
        to.push_back(static_cast<u32>(way == 0 ? dice(count) : way == 1 ? dice(hubs) % count : near));
        if (twice && dice(4) == 0)
          to.push_back(to.back());
      }
      if (lists && i + 1 < count)
        to.push_back(i + 1);
      if (self && dice(4) == 0)
        to.push_back(i);
    }
    graph.add(8 + static_cast<u32>(dice(100)), to);
  }
  graph.owner_count = 1 + static_cast<u32>(dice(5));
  graph.precise_owners = static_cast<u32>(dice(3) ? dice(graph.owner_count + 1) : graph.owner_count);
  for (u64 left = dice(6); left > 0; --left)
    graph.root(static_cast<u32>(dice(graph.owner_count)), static_cast<u32>(dice(count)));
  return graph;
}

Graph turned_round(const Graph &graph) {
  Graph out;
  out.bytes = graph.bytes;
  out.first.assign(graph.first.size(), 0);
  for (ObjectId target : graph.targets)
    ++out.first[static_cast<u32>(target) + 1];
  for (u64 i = 1; i < out.first.size(); ++i)
    out.first[i] += out.first[i - 1];
  out.targets.resize(graph.targets.size());
  std::vector<u64> next(out.first.begin(), out.first.end() - 1);
  const Edges edges = graph.edges();
  for (u32 i = 0; i < graph.objects(); ++i)
    for (ObjectId target : edges.of(ObjectId{i}))
      out.targets[next[static_cast<u32>(target)]++] = ObjectId{i};
  return out;
}

Graph heap_like_graph(u32 objects) {
  GraphDice dice;
  Graph graph;
  graph.first.reserve(objects + 1);
  graph.bytes.reserve(objects);
  graph.targets.reserve(u64{objects} * 5 / 2);
  auto refer = [&](u32 i, u64 reach) {
    u64 way = dice(100);
    u64 near = (i + dice(reach) + objects - reach * 2 / 3) % objects;
    u64 to = way < 8 ? dice(objects) : way < 10 ? dice(64) * (objects / 64) : near;
    graph.targets.push_back(ObjectId(static_cast<u32>(to)));
  };
  for (u32 i = 0; i < objects; ++i) {
    u64 kind = dice(10'000);
    u64 size = 24 + dice(6) * 8;
    if (kind >= 6'000 || i % 50 != 0) {
      if (kind >= 9'990) { // an array
        u64 length = u64{10} << dice(10);
        size = 24 + length * 8;
        for (u64 left = length; left > 0; --left)
          refer(i, std::min<u64>(objects, 4 * length));
      } else if (kind >= 6'000) {
        for (u64 left = 1 + dice(7); left > 0; --left)
          refer(i, std::min<u64>(objects, 300));
        if (i % 50 != 0)
          graph.targets.push_back(ObjectId((i + 1) % objects));
      }
    }
    graph.bytes.push_back(static_cast<u32>(size));
    graph.first.push_back(graph.targets.size());
  }
  graph.owner_count = graph.precise_owners = 100;
  for (u32 owner = 0; owner < 100; ++owner)
    for (u64 left = 1 + dice(20); left > 0; --left)
      graph.root(owner, static_cast<u32>(dice(objects)));
  return graph;
}

Graph node_array_graph(u32 nodes) {
  auto has_string = [](u32 i) { return i % 4 == 0; };
  auto has_array = [](u32 i) { return i % 8 == 1; };
  // Objects in the order they were made: a node is followed by its payload. The array comes last, as it is large.
  auto id = [](u32 i) { return i + (i + 3) / 4 + (i + 6) / 8; };
  Graph graph;
  u32 random = 1;
  auto refer = [&](u32 to) { graph.targets.push_back(ObjectId{to}); };
  auto end = [&](u32 size) {
    graph.bytes.push_back(size);
    graph.first.push_back(graph.targets.size());
  };
  for (u32 i = 0; i < nodes; ++i) {
    random = random * 1664525 + 1013904223;
    if (i > 0) {
      if (i % 1000 != 0)
        refer(id(i - 1));
      u32 back = random >> 20;
      refer(id(random % 2 == 0 ? i - std::min(i, back) : random % i));
    }
    if (has_string(i) || has_array(i))
      refer(id(i) + 1);
    end(48);
    if (has_string(i))
      end(24 + (random >> 27) * 2 / 8 * 8);
    else if (has_array(i))
      end(24 + (random >> 26) * 4);
  }
  for (u32 i = 0; i < nodes; ++i)
    refer(id(i));
  end(24 + nodes * 8);
  graph.owner_count = graph.precise_owners = 1;
  graph.root(0, graph.objects() - 1);
  return graph;
}

Graph recursive_tree_graph(u32 nodes) {
  GraphDice dice;
  std::vector<u32> left(nodes), right(nodes);
  for (u32 i = 1; i < nodes;) {
    const u64 parent = dice(i);
    if (u32 &place = left[parent] ? right[parent] : left[parent]; place == 0)
      place = i++;
  }
  auto has_payload = [](u32 i) { return i % 4 == 0 || i % 8 == 1; };
  auto id = [](u32 i) { return i + (i + 3) / 4 + (i + 6) / 8; }; // a node is followed by its payload
  Graph graph;
  std::vector<u32> references;
  for (u32 i = 0; i < nodes; ++i) {
    references.clear();
    for (u32 child : {left[i], right[i]})
      if (child != 0)
        references.push_back(id(child));
    if (has_payload(i))
      references.push_back(id(i) + 1);
    graph.add(48, references);
    if (has_payload(i))
      graph.add(40, {});
  }
  references.clear();
  for (u32 i = 0; i < nodes; ++i)
    references.push_back(id(i));
  graph.add(24 + nodes * 8, references); // the list's array
  graph.add(32, {graph.objects() - 1});
  graph.owner_count = graph.precise_owners = 2;
  graph.root(0, 0);
  graph.root(1, graph.objects() - 1);
  return graph;
}

} // namespace dnheap::test
