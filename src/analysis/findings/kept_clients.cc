// HttpClients and connections to databases in large numbers, however few bytes they take: those that something holds,
// and HttpClients that were made for one request each and dropped with their connections.
#include "analysis/findings/finding_rule.h"
#include "analysis/owners/ranked_tree.h"
#include "analysis/shapes/field_reader.h"
#include "analysis/shapes/resources.h"
#include "analysis/shapes/typed_objects.h"
#include "base/text.h"
#include "objects/object_index.h"

#include <fmt/format.h>
#include <set>

namespace dnheap {

namespace {

constexpr u64 least_dropped = 100; // clients between two collections; a program that shares one has none
constexpr const char *http_client = "System.Net.Http.HttpClient", *http_connection = "System.Net.Http.HttpConnection";

// Returns garbage of a type that nobody disposed of.
std::vector<Address> dropped(const Snapshot &snapshot, const DominatorTree &tree, FieldReader &fields,
                             const char *type) {
  std::vector<Address> out;
  for (const TypedObject &one : objects_called(snapshot, type))
    if (const ObjectId id = snapshot.index().find(one.address); id != no_object && !tree.place(id))
      if (disposed_state(fields, snapshot.runtime(), one.address) == "in use")
        out.push_back(one.address);
  return out;
}

// Clients that share a handler, as those of IHttpClientFactory do, count as one.
void find_dropped_clients(const Snapshot &snapshot, std::vector<Finding> &out) {
  if (count_called(snapshot, http_client) < least_dropped || count_called(snapshot, http_connection) < least_dropped)
    return;
  const std::shared_ptr<const RankedTree> ranked = ranked_tree(snapshot);
  FieldReader fields(snapshot.runtime());
  std::set<Address> handlers;
  std::vector<Address> clients = dropped(snapshot, ranked->tree, fields, http_client);
  std::erase_if(clients, [&](Address client) {
    const Address handler = fields.reference_or_null(client, "_handler");
    const ObjectId id = snapshot.index().find(handler);
    return id == no_object || ranked->tree.place(id) || !handlers.insert(handler).second;
  });
  const u64 connections = dropped(snapshot, ranked->tree, fields, http_connection).size();
  if (clients.size() < least_dropped || connections < least_dropped)
    return;
  out.push_back({.kind = "http_clients",
                 .harm = Harm::resource,
                 .text = fmt::format("{} HttpClients were made, used and dropped, each with a handler of its own, and "
                                     "left {} connections open, which stay until they are idle for long, or a "
                                     "collection. One shared HttpClient, or IHttpClientFactory, is enough.",
                                     count_text(clients.size()), count_text(connections)),
                 .count = clients.size(),
                 .example = clients.front(),
                 .verb = "inspect http"});
}

} // namespace

void find_kept_clients(const Evidence &evidence, std::vector<Finding> &out) {
  const Snapshot &snapshot = evidence.snapshot;
  auto add = [&](KeptKind kind, const char *rule, const char *things, const char *advice, const char *verb) {
    const std::vector<ObjectId> &objects = evidence.suspects.kept.objects[index_of(kind)];
    const u64 count = objects.size();
    if (count < least_kept(kind))
      return;
    const Address example = snapshot.index().address(objects.front());
    out.push_back({.kind = rule,
                   .harm = Harm::resource,
                   .text = fmt::format(
                       "{} {}, held by {}. {}", count_text(count), things,
                       holder_in_words(snapshot, evidence.suspects.kept.held_by[index_of(kind)], example), advice),
                   .count = count,
                   .example = example,
                   .verb = verb});
  };
  add(KeptKind::http_client, "http_clients", "HttpClients have connections of their own",
      "One shared HttpClient, or IHttpClientFactory, is enough.", "inspect http");
  add(KeptKind::db_connection, "db_connections", "connections to databases are open", "Nobody disposed of them.",
      "inspect db");
  find_dropped_clients(snapshot, out);
}

} // namespace dnheap
