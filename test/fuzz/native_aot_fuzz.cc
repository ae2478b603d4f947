// A NativeAOT process, patched anywhere: header and tables, GcDacVars, MethodTables, metadata, threads, statics,
// objects. There is an answer whose sum closes, or an Error that is a sentence.
#include "fuzz/check.h"
#include "fuzz/patches.h"
#include "snapshot/snapshot.h"
#include "support/aot_builder.h"

using namespace dnheap;
using namespace dnheap::test;

namespace {

struct Process {
  explicit Process(const AotShape &shape) : heap(shape) {
    Address node = heap.type("Shop", "Node", 2), list = heap.definition("Shop", "Pair`2", 2);
    Address pair = heap.instance(list, {node, heap.string_type}, 1), array = heap.array(pair, 8, 2);
    AotSegment &young = heap.segment(GCSegmentGeneration::gen0), &old = heap.segment(GCSegmentGeneration::gen2);
    for (u64 i = 0; i < 50; ++i)
      heap.object(i % 2 ? young : old, i % 3 ? node : array, i % 3 ? 0 : i);
    Address statics = heap.object(old, heap.statics(2));
    heap.static_cell(statics);
    heap.threads[1].inlined_statics = {statics};
    heap.context(young, 64);
    target = heap.target();
    stretches = {{heap.constants.address(), heap.constants.end()},
                 {heap.data.address(), heap.data.end()},
                 {heap.native.address(), heap.native.end()},
                 {young.start, young.block.end()},
                 {old.start, old.block.end()}};
    places = {heap.header, heap.types, node, pair, array, heap.free_type};
    for (const auto &[name, address] : heap.variables)
      places.push_back(address);
    for (const AotSegment &s : heap.segments)
      places.push_back(s.structure);
  }

  AotBuilder heap;
  std::unique_ptr<Target> target;
  std::vector<std::pair<Address, Address>> stretches;
  std::vector<Address> places;
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const u8 *data, std::size_t size) {
  static const std::deque<Process> processes = [] {
    std::deque<Process> out;
    for (const AotShape &shape : all_aot_shapes())
      out.emplace_back(shape);
    for (const AotShape &shape : all_n1_shapes())
      out.emplace_back(shape);
    return out;
  }();
  if (size < 1)
    return 0;
  const Process &process = processes[data[0] % processes.size()];
  try {
    SnapshotOptions options;
    options.threads = 1;
    Snapshot snapshot(patched_target(*process.target, process.stretches, process.places,
                                     std::as_bytes(std::span(data + 1, size - 1))),
                      options);
    const HeapTally &tally = snapshot.tally();
    u64 gaps = 0;
    for (std::span<const Gap> list : {snapshot.heap().gaps(), tally.walk.gaps.listed()})
      for (const Gap &gap : list)
        gaps += gap.end - gap.start;
    check(tally.walk.bytes + snapshot.heap().context_bytes() + gaps == snapshot.heap().segment_bytes());
    for (const TypeTally &type : tally.types)
      check(!snapshot.runtime().types().name(type.method_table).empty());
    Notes problems;
    for (const StaticRoot &root : snapshot.runtime().static_roots(problems))
      check(root.object != 0);
  } catch (const Error &e) {
    check(std::string_view(e.what()).size() > 20 && std::string_view(e.what()).size() < 8000);
  }
  return 0;
}
