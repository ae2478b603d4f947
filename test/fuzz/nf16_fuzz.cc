// A CoreRT process, patched anywhere: debug header, contract sections, generations, segments, EETypes, objects. Every
// verb answers or throws an Error, and the sum closes.
#include "analysis/verb.h"
#include "fuzz/check.h"
#include "fuzz/patches.h"
#include "report/write.h"
#include "snapshot/snapshot.h"
#include "support/nf16_builder.h"

using namespace dnheap;
using namespace dnheap::test;

namespace {

struct Process {
  std::unique_ptr<Target> target;
  std::vector<std::pair<Address, Address>> pieces;
  std::vector<Address> places;

  explicit Process(Format format) {
    using G = GCSegmentGeneration;
    Nf16Builder process(format);
    process.exported = format.pointer_size == 4; // of the others the cookie tells
    Address types[] = {process.type(5 * process.p), process.type(2 * process.p + 6, 2),
                       process.type(3 * process.p, 12)};
    for (G g : {G::gen2, G::gen2, G::loh, G::gen0}) {
      Nf16Segment &segment = process.segment(g);
      for (u64 i = 0; i < 60; ++i)
        segment.object(types[i % 3], i % 3 ? i : 0);
      if (g == G::gen0)
        process.context = segment.context(100 * process.p);
    }
    target = process.target();
    pieces = {{process.data.address(), process.data.end()}, {process.native.address(), process.native.end()}};
    for (const Nf16Segment &s : process.segments)
      pieces.emplace_back(s.block.address(), s.end());
    places = {process.header, process.sections[0], process.sections[1], process.sections[1] + 40,
              process.generation_table};
    places.insert(places.end(), std::begin(types), std::end(types));
    for (const Nf16Segment &s : process.segments)
      places.insert(places.end(), {s.structure, s.start});
  }
};

void ask(const Verb &verb, Snapshot &snapshot) {
  try {
    std::string text;
    report::Sink sink(text);
    report::Answer answer = verb.answer(snapshot, {});
    report::write_json(answer, {}, sink);
    if (answer.completeness)
      for (const std::string &note : answer.completeness->notes.sentences())
        check(note.find("the sum does not close") == note.npos);
  } catch (const Error &e) {
    check(std::string_view(e.what()).size() > 20 && std::string_view(e.what()).size() < 8000);
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const u8 *data, std::size_t size) {
  static const std::vector<Process> processes = [] {
    std::vector<Process> out;
    for (Format format : all_formats)
      out.emplace_back(format);
    return out;
  }();
  if (size < 1)
    return 0;
  const Process &process = processes[data[0] % processes.size()];
  try {
    SnapshotOptions options;
    options.threads = 1;
    Snapshot snapshot(
        patched_target(*process.target, process.pieces, process.places, std::as_bytes(std::span(data + 1, size - 1))),
        options);
    for (const Verb &verb : verbs())
      if (verb.answer)
        ask(verb, snapshot);
  } catch (const Error &) {
  }
  return 0;
}
