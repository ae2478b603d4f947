// What an embedder does with the public interface alone: opens a dump, counts objects one by one and in parallel,
// follows references, asks who holds what, and gets an error. Prints what it found, for the tests to check.
#include <atomic>
#include <cinttypes>
#include <cstdio>
#include <dnheap/dnheap.h>

namespace {

void look_at(const char *path) {
  dnheap::Snapshot snapshot = dnheap::Snapshot::open(path);
  std::printf(".NET %s on %s %s\n", snapshot.info().runtime_version.c_str(), snapshot.info().operating_system.c_str(),
              snapshot.info().architecture.c_str());

  std::uint64_t objects = 0, bytes = 0;
  std::optional<dnheap::Address> cache;
  const dnheap::Type wanted = snapshot.types_called("SessionCache").at(0);
  snapshot.heap().for_each_block([&](std::span<const dnheap::HeapObject> block) {
    for (const dnheap::HeapObject &object : block) {
      objects += !object.is_free;
      bytes += object.is_free ? 0 : object.size;
      if (object.method_table == wanted.method_table())
        cache = object.address;
    }
    return true;
  });
  std::atomic<std::uint64_t> in_parallel{0};
  snapshot.heap().for_each_block_parallel(
      [&](std::span<const dnheap::HeapObject> block, dnheap::ObjectId, unsigned) { in_parallel += block.size(); });
  std::printf("%" PRIu64 " objects, %" PRIu64 " in parallel, %" PRIu64 " bytes, %s\n", objects, in_parallel.load(),
              bytes, snapshot.heap().completeness().complete ? "complete" : "incomplete");

  const dnheap::Object shared = snapshot.object(cache.value());
  for (const dnheap::Reference &reference : shared.references())
    std::printf("%s: %s\n", reference.field.c_str(), snapshot.object(reference.target).type().name().c_str());
  const dnheap::Object entries = shared.follow("byToken").value().follow("_entries").value();
  std::printf("%s of %" PRIu64 "\n", entries.type().name().c_str(), entries.length().value());

  const dnheap::Graph graph = snapshot.graph();
  const dnheap::Path way = graph.shortest_path(entries.id()).value();
  std::printf("%s, %zu objects; retained %" PRIu64 "; %s\n", way.owner.c_str(), way.objects.size(),
              graph.retained(shared.id()).value().objects,
              snapshot.liveness().is_live(shared.address()) ? "live" : "dead");

  dnheap::ask(snapshot, "stat", {.sort = "count"}).table("types").for_each_row([&](const dnheap::Row &row) {
    std::printf("%" PRIu64 " %s\n", row["count"].number().value(), std::string(row["type"].text().value()).c_str());
    return false;
  });
  std::printf("%s", dnheap::ask(snapshot, "stat").text("text", {.top = 3}).c_str());
  try {
    snapshot.object(dnheap::Address(16));
  } catch (const dnheap::NotFound &error) {
    std::printf("%s\n", error.what());
  }
}

} // namespace

int main(int count, char **arguments) {
  for (int i = 1; i < count; ++i)
    try {
      look_at(arguments[i]);
    } catch (const dnheap::Error &error) {
      std::printf("%s\n", error.what());
    }
}
