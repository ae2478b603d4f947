// A runtime that publishes exactly what the GC contract's text lists: every verb answers as for one that publishes all
// that .NET 11 does.
#include "analysis/verbs/verbs.h"
#include "base/text.h"
#include "objects/live.h"
#include "report/write.h"
#include "snapshot/snapshot.h"
#include "support/opened.h"

#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

using G = GCSegmentGeneration;

SnapshotOptions one_thread() {
  SnapshotOptions out;
  out.threads = 1;
  return out;
}

// Statics, which only a handle holds; dependent handles; garbage; a context.
std::unique_ptr<Snapshot> shop(const HeapShape &shape, bool text_only, Address &held) {
  HeapBuilder heap(shape);
  heap.gc.text_only = text_only;
  Address node = heap.method_table({.base_size = static_cast<u32>(4 * heap.p),
                                    .rid = heap.app().metadata.type("Shop", "Node"),
                                    .series = {{heap.p, 2 * heap.p}}});
  for (u32 h = 0; h < shape.heaps; ++h) {
    SegmentWriter &young = shape.regions ? heap.segment(G::gen0, h) : heap.ephemeral(h);
    if (!shape.regions)
      young.begin_gen0();
    young.object(node);
    if (h)
      continue;
    Address holder = young.object(heap.object_array_type, 4), first = young.object(node), second = young.object(node),
            value = young.object(node);
    young.store(holder + 2 * heap.p, first, heap.p);
    young.store(first + heap.p, second, heap.p);
    heap.threads[0].context = young.context(64);
    held = second;
    heap.gc.handles = {{.type = HandleType::strong, .object = holder},
                       {.type = HandleType::dependent, .object = second, .secondary = value},
                       {.type = HandleType::weak_short, .object = value}};
  }
  return std::make_unique<Snapshot>(heap.target(), one_thread());
}

std::string answer_of(const Verb &verb, Snapshot &snapshot, const Question &question) {
  std::string out;
  report::Sink sink(out);
  report::write_json(ask(verb, snapshot, question), {}, sink);
  return out;
}

TEST(GcText, IsEnoughForEveryVerb) {
  for (const HeapShape &shape : all_shapes()) {
    if (shape.net != Net::net11)
      continue;
    SCOPED_TRACE(name_of(shape));
    Address held = 0;
    std::unique_ptr<Snapshot> all = shop(shape, false, held), text = shop(shape, true, held);
    EXPECT_EQ(text->live().stages[0].objects, 4u);
    for (const Verb &verb : verbs()) {
      if (!verb.answer || verb.makes_file || std::string_view(verb.name) == "contract" ||
          std::string_view(verb.name) == "info" || std::string_view(verb.name) == "gc" ||
          std::string_view(verb.name) == "account" || std::string_view(verb.name) == "report" ||
          std::string_view(verb.name) == "summary")
        continue; // what these say of the descriptor itself, and of what only gc shows, differs
      Question question;
      question.target = "synthetic.core";
      question.subject = verb.name == std::string_view("query")      ? "select * from objects, types"
                         : verb.subject && !verb.subject.is_optional ? hex(held)
                                                                     : "";
      EXPECT_EQ(answer_of(verb, *text, question), answer_of(verb, *all, question)) << verb.name;
    }
  }
}

} // namespace
} // namespace dnheap::test
