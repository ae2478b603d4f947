#include "analysis/suspects/object_chain.h"

#include "analysis/owners/first_owners.h"

#include <map>
#include <set>

namespace dnheap {

namespace {

constexpr u64 long_chain = 64;  // objects of one type linked one after the other
constexpr u64 most_periods = 3; // types that alternate in a chain
constexpr u64 most_types = 64;  // of a chain and what hangs from its end

} // namespace

std::optional<u64> chain_begin(std::span<const u32> types) {
  const u64 n = types.size();
  for (u64 period = 1; n && n % long_chain == 0 && period <= most_periods; ++period) {
    u64 i = n - 1;
    while (i >= period && types[i] == types[i - period])
      --i;
    if (const u64 first = i + 1 - std::min(i + 1, period); n - first >= long_chain - period)
      return first;
  }
  return std::nullopt;
}

ObjectChain follow_chain(const PlacesInTree &in_tree, std::span<const TreePlace> links, const Watch &watch) {
  std::map<u32, u64> counts; // all objects of the chain lie on the line of largest children
  std::set<u32> types;
  for (TreePlace link : links)
    types.insert(in_tree.type_at(link));
  ObjectChain out;
  out.type = in_tree.type_at(links.back());
  out.last = links.front();
  for (TreePlace at = links.front();;) {
    ++counts[in_tree.type_at(at)];
    if (types.contains(in_tree.type_at(at))) // objects at the chain's end are not links
      out.last = at;
    const Fan fan = in_tree.fan_of(at);
    if (fan.count == 0)
      break;
    at = fan.largest;
    if (counts.size() > most_types)
      break;
    watch.check();
  }
  for (const auto &[other, count] : counts)
    if (count > counts[out.type])
      out.type = other;
  out.links = counts[out.type];
  return out;
}

void join_chains(const ObjectGraph &graph, std::span<const ChainSuspect> chains, std::vector<Suspect> &list) {
  std::map<ObjectId, u64> by_head; // number of the chain
  for (u64 i = 0; i < chains.size(); ++i)
    by_head.emplace(chains[i].head, i);
  std::vector<u64> whole(chains.size()); // for each chain the first part known so far
  for (u64 i = 0; i < whole.size(); ++i)
    whole[i] = i;
  auto first_of = [&](u64 i) {
    while (whole[i] != i)
      i = whole[i];
    return i;
  };
  for (u64 i = 0; i < chains.size(); ++i)
    for (ObjectId target : graph.edges().of(chains[i].last))
      if (auto rest = by_head.find(target); rest != by_head.end() && first_of(rest->second) != first_of(i))
        whole[first_of(rest->second)] = first_of(i);
  std::vector<bool> is_joined(list.size());
  for (u64 i = 0; i < chains.size(); ++i) {
    if (whole[i] == i)
      continue;
    Suspect &to = list[chains[first_of(i)].suspect];
    const Suspect &part = list[chains[i].suspect];
    to.retained += part.retained;
    to.objects += part.objects;
    to.elements += part.elements;
    to.also_held.bytes += part.also_held.bytes;
    for (u64 kind = 0; kind < kept_kind_count; ++kind)
      to.kept[kind] += part.kept[kind];
    if (!to.owner.ends_with(and_others))
      to.owner += and_others;
    is_joined[chains[i].suspect] = true;
  }
  std::vector<Suspect> left;
  for (u64 i = 0; i < list.size(); ++i)
    if (!is_joined[i])
      left.push_back(std::move(list[i]));
  list = std::move(left);
}

} // namespace dnheap
