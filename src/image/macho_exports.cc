#include "image/macho_exports.h"

#include <algorithm>

namespace dnheap {

namespace {

std::optional<u64> take_uleb(Bytes &from) {
  u64 out = 0;
  for (unsigned shift = 0; !from.empty() && shift < 64; shift += 7) {
    const u8 byte = static_cast<u8>(from[0]);
    from = from.subspan(1);
    out |= u64{byte & 0x7fu} << shift;
    if (!(byte & 0x80))
      return out;
  }
  return std::nullopt;
}

std::optional<MachoExport> exported_by(Bytes content) {
  constexpr u64 kind = 3, regular = 0, absolute = 2, re_export = 8;
  const std::optional<u64> flags = take_uleb(content), value = take_uleb(content);
  if (!flags || !value || (*flags & re_export) || ((*flags & kind) != regular && (*flags & kind) != absolute))
    return std::nullopt;
  return MachoExport{*value, (*flags & kind) == absolute};
}

// Goes along the edge that `name` begins with, and takes the edge's text from it. Empty: there is none.
Bytes follow_edge(Bytes trie, Bytes edges, std::string_view &name) {
  if (edges.empty())
    return {};
  u64 count = static_cast<u8>(edges[0]);
  edges = edges.subspan(1);
  for (; count; --count) {
    const std::string_view edge = text_at(edges, 0, edges.size());
    edges = edges.subspan(std::min(edge.size() + 1, edges.size()));
    const std::optional<u64> place = take_uleb(edges);
    if (!place)
      return {};
    if (edge.empty() || !name.starts_with(edge))
      continue;
    name.remove_prefix(edge.size());
    return *place < trie.size() ? trie.subspan(*place) : Bytes();
  }
  return {};
}

} // namespace

// Each node: the size of what it exports (flags, value), then the number of edges, {text, place of the next node} each.
// Every step takes part of the name, so there are no circles.
std::optional<MachoExport> find_macho_export(Bytes trie, std::string_view name) {
  for (Bytes node = trie; !node.empty();) {
    const std::optional<u64> size = take_uleb(node);
    if (!size || *size > node.size())
      return std::nullopt;
    if (name.empty())
      return exported_by(node.first(*size));
    node = follow_edge(trie, node.subspan(*size), name);
  }
  return std::nullopt;
}

} // namespace dnheap
