#include "dump/records/gcdump.h"

#include "base/text.h"
#include "dump/records/gcdump_file.h"
#include "dump/records/gcdump_names.h"
#include "dump/records/gcdump_roots.h"
#include "dump/records/heap_layout.h"

#include <map>

namespace dnheap {

namespace {

// The file's objects with the record's types: the file has several types of one name, for objects of different sizes.
class TypedObjects : public ListedObjects {
public:
  TypedObjects(const GcDumpFile &file, std::vector<u32> types) : file_(file), types_(std::move(types)) {}
  u64 entries() const override { return file_.entries(); }
  void for_each(u64 first, u64 last, const Visit &visit) const override {
    file_.for_each(first, last, [&](const ListedObject &object) {
      ListedObject out = object;
      out.type = types_[object.type];
      visit(out);
    });
  }

private:
  const GcDumpFile &file_;
  const std::vector<u32> types_;
};

// Adds the file's types to the record's, after the one for the room between objects. Returns their numbers there.
std::vector<u32> add_types(const GcDumpFile &file, HeapRecord &record) {
  std::vector<u32> out;
  std::map<std::pair<std::string, std::string>, u32> known;
  record.types.push_back(
      {.name = "Free", .assembly = "", .base_size = 0, .component_size = 0, .has_references = false});
  for (const GcDumpFile::Type &type : file.types()) {
    std::string name = file.tool() == "dnheap" ? type.name : restored_type_name(type.name);
    std::string assembly(name_in_path(type.module));
    const auto [at, is_new] = known.try_emplace({name, assembly}, static_cast<u32>(record.types.size()));
    if (is_new)
      record.types.push_back({.name = std::move(name),
                              .assembly = std::move(assembly),
                              .base_size = 0,
                              .component_size = 0,
                              .has_references = false});
    out.push_back(at->second);
  }
  return out;
}

void add_notes(const GcDumpFile &file, const GcDumpFile::Check &check, Target &target) {
  if (check.damaged)
    target.notes.add(Subject::dump, Effect::liveness,
                     count_text(check.damaged) + (check.damaged == 1 ? " node" : " nodes") +
                         " of the .gcdump cannot be read: references are missing");
  if (check.undefined)
    target.notes.add(Subject::dump, Effect::numbers,
                     count_text(check.undefined) + (check.undefined == 1 ? " object is" : " objects are") +
                         " referred to, but not described in the .gcdump");
  if (file.sampling() != 1)
    target.notes.add(Subject::dump, Effect::numbers,
                     "the .gcdump is a sample: it has only some of the process's objects");
  if (!file.problem().empty())
    target.notes.add(Subject::dump, Effect::none, "the process and the time are unknown: " + file.problem());
}

} // namespace

bool is_gcdump(Bytes file) { return GcDumpFile::is_one(file); }

std::unique_ptr<Target> open_gcdump(Bytes bytes, unsigned threads, const Watch &watch) {
  if (!GcDumpFile::is_one(bytes))
    return nullptr;
  const GcDumpFile file(bytes);
  const GcDumpFile::Check check = file.check(threads, watch);
  if (check.objects == 0)
    throw Error("the .gcdump has no objects");
  auto out = std::make_unique<Target>();
  auto record = std::make_shared<HeapRecord>();
  out->container = "gcdump";
  out->dump_kind = file.tool();
  out->program = printable(file.process());
  out->pid = file.pid();
  if (file.seconds())
    out->taken = TakenAt{*file.seconds(), TakenAt::Clock::dump};
  record->source = "a .gcdump" + (file.tool().empty() ? "" : " of " + printable(file.tool()));
  record->segments = file.segments();
  const TypedObjects objects(file, add_types(file, *record));
  find_gcdump_roots(file, watch, *record);
  lay_out_heap(objects, file.is_64_bit() ? 8 : 4, threads, watch, *out, std::move(record));
  add_notes(file, check, *out);
  return out;
}

} // namespace dnheap
