// fields-dump DUMP: what dnheap says of fields, as JSON, for test/real/compare.py to compare with ClrMD (test/witness,
// Fields.cs), and for test/real/nativeaot.py: of every type with objects its own and inherited fields, and of every
// reference what it is called. Only for tests; `dnheap show` is for people.
#include "base/text.h"
#include "heap/gcdesc.h"
#include "heap/object_cursor.h"
#include "objects/roots.h"
#include "runtime/coreclr/core_clr.h"
#include "snapshot/snapshot.h"

#include <cstdio>
#include <map>
#include <set>

using namespace dnheap;

namespace {

struct Slots {
  std::map<u64, std::pair<std::string, u64>> names; // offset → name, how often; not of arrays
  GCDesc desc;
  bool is_array = false;
  std::set<std::string> folded;       // names of all slots, null ones too
  std::vector<std::string> delegates; // what the last object of this type calls
};

std::string json_text(const std::string &text) {
  std::string out = "\"";
  for (char c : text)
    if (c == '"' || c == '\\')
      out += std::string("\\") + c;
    else
      out += c;
  return out + "\"";
}

void print_field(const std::string &name, Token token, std::optional<u64> offset, bool &first) {
  std::printf("%s{\"name\":%s,\"token\":\"0x%x\"", first ? "" : ",", json_text(name).c_str(), token);
  if (offset)
    std::printf(",\"offset\":%llu", static_cast<unsigned long long>(*offset));
  std::printf("}");
  first = false;
}

template <class Texts> void print_texts(const char *name, const Texts &texts) {
  std::printf(",\"%s\":[", name);
  bool first = true;
  for (const std::string &text : texts) {
    std::printf("%s%s", first ? "" : ",", json_text(text).c_str());
    first = false;
  }
  std::printf("]");
}

void print_fields(const CoreClr &runtime, Address mt) {
  for (bool statics : {false, true}) {
    std::printf(",\"%s\":[", statics ? "statics" : "fields");
    bool first = true;
    for (Address type = mt; type; type = statics ? 0 : runtime.types().parent_of(type))
      for (const FieldDesc &field : runtime.field_descs().own_fields(type).value_or(std::vector<FieldDesc>()))
        if (field.is_static == statics)
          print_field(runtime.field_descs().name(field), field.token,
                      statics ? std::nullopt : std::optional<u64>(field.offset), first);
    std::printf("]");
  }
}

void print_fields(const Runtime &runtime, Address mt) {
  std::printf(",\"fields\":[");
  bool first = true;
  for (const InstanceField &field : runtime.fields().instance_fields(mt)) {
    std::printf("%s{\"name\":%s,\"type\":%s,\"offset\":%llu}", first ? "" : ",", json_text(field.name).c_str(),
                json_text(field.type_name).c_str(), static_cast<unsigned long long>(field.offset));
    first = false;
  }
  std::printf("]");
}

void print_type(const Runtime &runtime, Address mt, const Slots &slots, bool &first_type) {
  std::printf("%s\n{\"method_table\":\"%s\",\"type\":%s", first_type ? "" : ",", hex(mt).c_str(),
              json_text(runtime.types().name(mt)).c_str());
  first_type = false;
  if (const auto *core = dynamic_cast<const CoreClr *>(&runtime))
    print_fields(*core, mt);
  else
    print_fields(runtime, mt);
  print_texts("slots", slots.folded);
  print_texts("delegates", slots.delegates);
  std::printf("}");
}

struct Counts {
  unsigned long long elements = 0, unnamed = 0, unnamed_references = 0, slots = 0, delegates = 0, unnamed_delegates = 0;
};

// A name by offset, ".0x18", has no letters.
bool is_unnamed(const std::string &name) { return name.find(".0x") != name.npos || name.find(".?") != name.npos; }

// `statics`: of NativeAOT, fields of objects; they have their names.
void visit_object(const Runtime &runtime, const RootSet &statics, const Object &object, Address mt,
                  std::map<Address, Slots> &types, Counts &counts) {
  auto it = types.find(mt);
  if (it == types.end()) {
    it = types.emplace(mt, Slots()).first;
    if (std::optional<ObjectLayout> layout = runtime.types().object_layout(mt); layout->contains_gc_pointers)
      it->second.desc = GCDesc::at(runtime.memory(), mt, layout->base_size, layout->component_size).value_or(GCDesc());
    it->second.is_array = runtime.fields().elements(mt).has_value();
  }
  const Format format = runtime.memory().format();
  Slots &slots = it->second;
  slots.desc.for_each_slot(object.bytes, object.size, format, [&](const std::byte *slot) {
    u64 offset = static_cast<u64>(slot - object.bytes);
    ++counts.slots;
    const std::string &name = runtime.fields().text(runtime.fields().reference(mt, offset));
    const bool has_name = !is_unnamed(name) || statics.find_slot(object.address + offset);
    counts.unnamed += !has_name;
    counts.unnamed_references += !has_name && load_pointer(slot, format) != 0;
    if (slots.folded.size() < 1000)
      slots.folded.insert(name);
    if (load_pointer(slot, format) == 0)
      return;
    counts.elements += slots.is_array;
    if (!slots.is_array) {
      auto &known = slots.names[offset];
      known.first = runtime.fields().exact_reference(object.address, mt, offset);
      ++known.second;
    }
  });
  slots.delegates.clear();
  for (const DelegateTarget &target : runtime.fields().delegate_targets(object.address, mt, 1000)) {
    slots.delegates.push_back(target.method);
    ++counts.delegates;
    counts.unnamed_delegates += target.method[0] == '<' || target.method.find("+0x") != std::string::npos;
  }
}

} // namespace

int main(int argc, char **argv) try {
  if (argc != 2)
    throw UsageError("usage: fields-dump DUMP");
  std::unique_ptr<Snapshot> snapshot = Snapshot::open(argv[1], SnapshotOptions());
  const Runtime &runtime = snapshot->runtime();
  std::map<Address, Slots> types;
  Counts counts;
  ObjectCursor cursor(snapshot->heap(), runtime);
  while (const Object *object = cursor.next())
    if (cursor.method_table() != runtime.types().free_object_method_table())
      visit_object(runtime, snapshot->roots(), *object, cursor.method_table(), types, counts);
  std::printf("{\"types\":[");
  bool first = true;
  for (const auto &[mt, slots] : types)
    print_type(runtime, mt, slots, first);
  std::printf("],\n\"references\":[");
  first = true;
  for (const auto &[mt, slots] : types)
    for (const auto &[offset, name] : slots.names) {
      std::printf("%s\n{\"method_table\":\"%s\",\"offset\":%llu,\"name\":%s,\"count\":%llu}", first ? "" : ",",
                  hex(mt).c_str(), static_cast<unsigned long long>(offset), json_text(name.first).c_str(),
                  static_cast<unsigned long long>(name.second));
      first = false;
    }
  std::printf("],\n\"elements\":%llu,\"slots\":%llu,\"unnamed\":%llu,\"unnamed_references\":%llu,\"delegates\":%llu,"
              "\"unnamed_delegates\":%llu",
              counts.elements, counts.slots, counts.unnamed, counts.unnamed_references, counts.delegates,
              counts.unnamed_delegates);
  print_texts("problems", runtime.fields().notes().texts());
  std::printf("}\n");
  return 0;
} catch (const Error &e) {
  std::fprintf(stderr, "fields-dump: %s\n", e.what());
  return 1;
}
