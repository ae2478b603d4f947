// A whole core, patched anywhere: headers, notes, the runtime's data, its structures, images, objects. Every verb
// answers, with objects and types as subjects, and with its filters, or throws an Error that is one sentence or a few;
// the sum closes.
#include "analysis/verb.h"
#include "base/text.h"
#include "dump/elf_core.h"
#include "fuzz/check.h"
#include "fuzz/patches.h"
#include "report/write.h"
#include "snapshot/snapshot.h"
#include "support/random_heap.h"

using namespace dnheap;
using namespace dnheap::test;

namespace {

struct Core {
  std::vector<std::byte> file;
  std::vector<Address> places; // offsets in it
  std::vector<std::string> subjects;

  explicit Core(const HeapShape &shape) {
    HeapBuilder heap(shape);
    std::mt19937_64 random(1);
    add_random_heap(heap, 1500, random);
    std::unique_ptr<Target> target = heap.target();
    ElfCoreWriter writer{.format = shape.format};
    for (const Range &range : target->memory.ranges())
      writer.segments.push_back({range.address, {range.bytes.begin(), range.bytes.end()}});
    for (const Module &module : target->modules)
      for (const Extent &extent : module.extents)
        writer.files.push_back({module.path, extent.start, extent.end, extent.file_offset});
    for (const Thread &thread : target->threads)
      writer.threads.push_back({static_cast<u32>(thread.id), {}});
    writer.pid = 4001;
    file = writer.write();
    // What matters: the headers; variables, structures and MethodTables, wherever the file has them.
    for (u64 at = 0; at < 1024; at += 64)
      places.push_back(at);
    std::vector<Address> addresses;
    for (const auto &[name, address] : heap.variables)
      addresses.push_back(address);
    for (const SegmentWriter &s : heap.segments)
      addresses.push_back(s.structure);
    for (const WrittenObject &o : heap.objects)
      addresses.push_back(random() % 4 ? o.method_table : o.address);
    for (u64 i = 0; i < 4; ++i)
      subjects.push_back(hex(heap.objects[random() % heap.objects.size()].address));
    subjects.push_back(hex(heap.objects.back().method_table));
    subjects.push_back("System.String");
    std::unique_ptr<Target> read = open_elf_core(file, nullptr);
    for (Address address : addresses)
      if (Bytes at = read->memory.view(address, 1); !at.empty())
        places.push_back(static_cast<u64>(at.data() - file.data()));
  }
};

const std::vector<Core> &cores() {
  static const std::vector<Core> all = [] {
    std::vector<Core> out;
    for (const HeapShape &shape : all_shapes())
      if (shape.format.byte_order == ByteOrder::little && (shape.format.pointer_size == 8 || shape.net == Net::net10))
        out.emplace_back(shape);
    return out;
  }();
  return all;
}

std::vector<Question> questions(const Verb &verb, const std::vector<std::string> &subjects) {
  std::vector<Question> out;
  Question question;
  question.values = question.closure = question.all = true; // where a verb does not know them, it does not look
  question.top = 50;
  if (verb.subject && verb.subject.is_optional)
    out.push_back(question);
  if (verb.subject.among)
    for (std::string_view word : verb.subject.among()) {
      question.subject = word;
      out.push_back(question);
    }
  else if (verb.subject)
    for (const std::string &subject : subjects) {
      const bool of_type = !subject.starts_with("0x") || &subject == &subjects[4];
      question.subject = subject;
      question.all = !of_type;
      out.push_back(question);
    }
  else
    out.push_back(question);
  if (verb.name == std::string("stat")) {
    question.life = Life::dead;
    out.push_back(question);
    question.life = Life::any;
    question.by = "retained";
    out.push_back(question);
  }
  if (verb.name == std::string("retained")) {
    question.tree = true;
    out.push_back(question);
  }
  return out;
}

void check_text(std::string_view error) { check(error.size() > 10 && error.size() < 8000); }

// An error of one question is no reason not to ask the next.
void answer(Snapshot &snapshot, const Verb &verb, const Question &question) {
  try {
    report::Answer answer = ask(verb, snapshot, question);
    std::string text;
    report::Sink sink(text);
    report::write_json(answer, {.top = question.top}, sink);
    if (answer.completeness)
      for (const std::string &note : answer.completeness->notes.sentences())
        check(note.find("the sum does not close") == note.npos);
  } catch (const Error &e) {
    check_text(e.what());
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const u8 *data, std::size_t size) {
  if (size < 1)
    return 0;
  const Core &core = cores()[data[0] % cores().size()];
  auto file = std::make_shared<std::vector<Patched>>(1, Patched{0, core.file});
  apply_patches(std::as_bytes(std::span(data + 1, size - 1)), *file, core.places);
  try {
    std::unique_ptr<Target> target = open_elf_core((*file)[0].bytes, file);
    if (!target)
      return 0;
    target->path = "patched.core";
    SnapshotOptions options;
    options.threads = 1;
    Snapshot snapshot(std::move(target), options);
    for (const Verb &verb : verbs())
      if (verb.answer && !verb.makes_file)
        for (const Question &question : questions(verb, core.subjects))
          answer(snapshot, verb, question);
  } catch (const Error &e) {
    check_text(e.what());
  }
  return 0;
}
