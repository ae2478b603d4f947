#include "analysis/answer_head.h"

#include "base/host/host.h"
#include "base/text.h"
#include "objects/live.h"
#include "objects/object_graph.h"
#include "objects/roots.h"
#include "target/heap_record.h"

#include <utility>

namespace dnheap {

namespace {

const char *byte_order_name(Format format) { return format.byte_order == ByteOrder::little ? "little" : "big"; }

void add_gc_facts(const Runtime &runtime, std::vector<report::Fact> &facts) {
  const GCFlavour gc = runtime.gc_flavour();
  std::vector<report::Cell> identifiers(gc.identifiers.begin(), gc.identifiers.end());
  facts.push_back(
      {"gc", std::vector<report::Fact>{
                 {"server", gc.server}, {"regions", gc.regions}, {"heaps", gc.heaps}, {"identifiers", identifiers}}});
}

constexpr u64 most_gaps = 10000; // further gaps are only summed up

u64 bytes_in(std::span<const Gap> gaps) {
  u64 sum = 0;
  for (const Gap &gap : gaps)
    sum += gap.end - gap.start;
  return sum;
}

// Checks that objects + Free + allocation contexts + gaps = sum of (end − start) over all segments.
void check_sum(const Heap &heap, const WalkResult &walk, u64 gaps, report::Completeness &to) {
  u64 sum = walk.bytes + heap.context_bytes() + gaps;
  if (sum != heap.segment_bytes()) {
    to.notes.add(Subject::heap, Effect::numbers,
                 "the sum does not close: objects " + std::to_string(walk.bytes) + " + allocation contexts " +
                     std::to_string(heap.context_bytes()) + " + gaps " + std::to_string(gaps) + " is not " +
                     std::to_string(heap.segment_bytes()) + " bytes of segments");
  }
}

report::Completeness completeness(const Snapshot &snapshot, HeapSum sum) {
  const Heap &heap = snapshot.heap();
  const WalkResult *walk = sum == HeapSum::none ? nullptr : &snapshot.tally().walk;
  report::Completeness out;
  std::vector<Gap> gaps(heap.gaps().begin(), heap.gaps().end());
  u64 bytes = bytes_in(heap.gaps()), count = heap.gaps().size();
  if (walk) {
    gaps.insert(gaps.end(), walk->gaps.listed().begin(), walk->gaps.listed().end());
    bytes += walk->gaps.bytes();
    count += walk->gaps.count();
  }
  std::sort(gaps.begin(), gaps.end(), [](const Gap &a, const Gap &b) { return a.start < b.start; });
  out.more_gap_bytes = bytes;
  for (const Gap &gap : std::span(gaps).first(std::min<u64>(gaps.size(), most_gaps))) {
    out.gaps.push_back({gap.start, gap.end, std::string(gap.reason)});
    out.more_gap_bytes -= gap.end - gap.start;
  }
  out.more_gaps = count - out.gaps.size();
  out.is_walked = walk;
  if (walk) {
    out.objects = walk->objects;
    out.bytes = walk->bytes;
    out.bad_objects = walk->bad_objects;
  }
  if (const std::string &why = snapshot.runtime().why_no_heap(); !why.empty()) {
    out.has_heap = false;
    out.notes.add(Subject::heap, Effect::liveness, why);
    out.notes.add("the dump has only pieces of the heap: objects elsewhere are not counted, and their references are "
                  "not followed");
  }
  out.notes.add_all(heap.notes());
  if (walk)
    check_sum(heap, *walk, bytes, out);
  if (out.more_gaps)
    out.notes.add(count_text(out.more_gaps) + (out.more_gaps == 1 ? " more gap, after " : " more gaps, after ") +
                  hex(out.gaps.back().end) + (out.more_gaps == 1 ? ", is not listed" : ", are not listed"));
  if (snapshot.runtime().gc_structures_valid(out.notes) == false)
    out.notes.add(Subject::gc, Effect::liveness,
                  "the dump was taken while the GC was changing the heap: what follows may be wrong in places");
  out.notes.add_all(snapshot.target().notes);
  return out;
}

// Returns the bytes of the process in the dump; 0 for a live process, because not all that is mapped is memory.
u64 bytes_in_dump(const Target &target) {
  if (target.container == "process")
    return 0;
  if (target.mappings.empty())
    return target.memory.size();
  u64 sum = 0;
  for (const Mapping &mapping : target.mappings)
    sum += mapping.stored_end - mapping.start;
  return sum;
}

// Returns a phrase for the headline if most memory is outside of the heap, so that nobody searches the heap in vain. A
// full dump of an idle program has some 100 to 200 MiB beside the heap: images, stacks, the runtime's own memory.
std::string heap_of_dump(const Heap &heap, const Target &target) {
  constexpr u64 much = u64{256} << 20;
  const u64 all = bytes_in_dump(target), in_heap = heap.segment_bytes();
  if (in_heap > all / 3 || all - in_heap < much)
    return {};
  return "the heap is " + bytes_text(in_heap) + " of " + bytes_text(all) + " in this dump";
}

} // namespace

std::vector<report::Fact> target_facts(const Target &target, const Runtime *runtime) {
  std::vector<report::Fact> facts = {{"path", target.path},
                                     {"container", target.container},
                                     {"os", name_of(target.os)},
                                     {"architecture", name_of(target.architecture)},
                                     {"pointer_size", target.format().pointer_size},
                                     {"byte_order", byte_order_name(target.format())}};
  if (runtime) {
    facts.push_back({"runtime", runtime->kind()});
    facts.push_back({"version", runtime->version().empty() ? report::Cell() : report::Cell(runtime->version())});
    add_gc_facts(*runtime, facts);
  }
  facts.push_back({"pid", target.pid ? report::Cell(target.pid) : report::Cell()});
  return facts;
}

std::string runtime_headline(const Target &target, const Runtime &runtime) {
  const GCFlavour gc = runtime.gc_flavour();
  const std::string_view kind = runtime.kind();
  if (target.record)
    return target.record->source;
  std::string out = ".NET " + (runtime.version().empty() ? "(version unknown)" : runtime.version()) +
                    (kind == "nativeaot" ? " NativeAOT"
                     : kind == "corert"  ? " CoreRT"
                                         : "") +
                    " on " + name_of(target.os) + " " + name_of(target.architecture) + ", " +
                    (gc.server ? "server" : "workstation") + " GC";
  if (gc.server)
    out += ", " + std::to_string(gc.heaps) + (gc.heaps == 1 ? " heap" : " heaps");
  return out + (gc.regions ? ", regions" : ", segments");
}

std::string target_headline(const Target &target, const Runtime *runtime) {
  return printable(file_name_of(target.path), 200) + ": " +
         (runtime ? runtime_headline(target, *runtime)
                  : target.container + " of " + name_of(target.os) + " " + name_of(target.architecture));
}

report::Answer begin_answer(const Snapshot &snapshot, const char *command, HeapSum sum) {
  report::Answer answer;
  answer.command = command;
  answer.target = target_facts(snapshot.target(), &snapshot.runtime());
  answer.completeness = completeness(snapshot, sum);
  answer.headline = {.what = target_headline(snapshot.target(), &snapshot.runtime()),
                     .shows_sum = sum == HeapSum::in_headline,
                     .shows_completeness = true,
                     .place = heap_of_dump(snapshot.heap(), snapshot.target()),
                     .facts = {}};
  return answer;
}

void add_stack_notes(const Snapshot &snapshot, report::Answer &answer) {
  if (!answer.completeness)
    return;
  const std::map<std::string, std::set<u64>> stacks = snapshot.runtime().take_partial_stacks();
  const bool lists_them = std::any_of(answer.tables.begin(), answer.tables.end(),
                                      [](const report::Table &table) { return table.name == "problems"; });
  if (lists_them)
    return;
  Notes &notes = answer.completeness->notes;
  for (const auto &[why, threads] : stacks) {
    if (notes.find(why))
      continue;
    const u64 first = *threads.begin(), others = threads.size() - 1;
    notes.add(
        {.subject = Subject::stacks,
         .effect = Effect::numbers,
         .text = "the stack of thread " + std::to_string(first) +
                 (others ? " and of " + count_text(others) + (others == 1 ? " other" : " others") : std::string()) +
                 " is only partly known, so methods on it may be missing: " + why,
         .key = why});
  }
}

void add_name_notes(const Snapshot &snapshot, report::Answer &answer) {
  std::string remedy; // set if not even CoreLib's module was found: the first file that would have helped
  if (snapshot.runtime().descriptor().missing.contains("MethodTable.Module"))
    for (const Provenance &p : snapshot.target().provenance)
      if (remedy.empty() && p.outcome != Provenance::Outcome::used)
        remedy = p.module + " would have the names: " + p.reason;
  for (Note note : snapshot.runtime().types().notes()) {
    note.subject = Subject::type_names;
    note.remedy = std::exchange(remedy, "");
    answer.completeness->notes.add(std::move(note));
  }
}

bool knows_all_roots(const Snapshot &snapshot) { return !snapshot.roots().notes.have_effect(); }

void add_root_notes(const Snapshot &snapshot, report::Answer &answer) {
  answer.completeness->notes.add_all(snapshot.roots().notes, Subject::roots);
}

void add_reference_notes(u64 bad, report::Answer &answer) {
  if (!bad)
    return;
  const std::string lead =
      count_text(bad) + (bad == 1 ? " reference of a live object leads to " : " references of live objects lead to ");
  answer.headline.facts += "; " + lead + "NO OBJECT";
  answer.completeness->notes.add(Subject::references, Effect::liveness,
                                 lead +
                                     "no object, so objects that were held that way seem dead: dnheap verify lists " +
                                     (bad == 1 ? "it" : "them"));
}

void add_reference_notes(const Snapshot &snapshot, report::Answer &answer) {
  if (snapshot.graph().bad_references() && !snapshot.roots().roots.empty())
    add_reference_notes(snapshot.live().bad_references(), answer);
}

std::string shell_word(const std::string &name) {
  if (!name.empty() &&
      name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=@%+-,") == name.npos)
    return name;
  std::string out = "'";
  for (char c : name)
    out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

} // namespace dnheap
