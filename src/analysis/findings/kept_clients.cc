// HttpClients and connections to databases in large numbers, however few bytes they take.
#include "analysis/findings/finding_rule.h"
#include "base/text.h"
#include "objects/object_index.h"

#include <fmt/format.h>

namespace dnheap {

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
}

} // namespace dnheap
