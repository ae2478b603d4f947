#include "support/descriptor_writer.h"

namespace dnheap::test {

namespace {

// {"a": 1, "b": 2}
class ObjectText {
public:
  void add(const std::string &key, const std::string &value) {
    text_ += (text_.empty() ? "" : ",") + quoted(key) + ":" + value;
  }
  std::string text() const { return "{" + text_ + "}"; }
  static std::string quoted(const std::string &text) { return "\"" + text + "\""; }

private:
  std::string text_;
};

} // namespace

std::string DescriptorWriter::json(std::vector<u64> &pointer_data) const {
  pointer_data = {0}; // slot 0 is never used
  auto pointer = [&](Address address) {
    pointer_data.push_back(address);
    return "[[" + std::to_string(pointer_data.size() - 1) + "],\"pointer\"]";
  };
  std::map<std::string, ObjectText> bodies;
  for (const auto &[type, size] : sizes)
    bodies[type].add("!", std::to_string(size));
  for (const auto &[type, fields] : types)
    for (const auto &[field, offset] : fields)
      bodies[type].add(field, std::to_string(offset));
  ObjectText types_text, globals_text, contracts_text, subs_text, all;
  for (const auto &[type, body] : bodies)
    types_text.add(type, body.text());
  for (const auto &[name, number] : numbers)
    globals_text.add(name, "[" + std::to_string(number) + ",\"uint32\"]");
  for (const auto &[name, text] : texts)
    globals_text.add(name, "[" + ObjectText::quoted(text) + ",\"string\"]");
  for (const auto &[name, address] : pointers)
    globals_text.add(name, pointer(address));
  for (const std::string &name : contracts)
    contracts_text.add(name, version == 0 ? "1" : "\"c1\"");
  for (const auto &[name, json_version] : more_contracts)
    contracts_text.add(name, json_version);
  for (const auto &[name, address] : sub_descriptors)
    subs_text.add(name, pointer(address));
  all.add("version", std::to_string(version));
  all.add("baseline", "\"empty\"");
  all.add("types", types_text.text());
  all.add("globals", globals_text.text());
  all.add("contracts", contracts_text.text());
  if (!sub_descriptors.empty())
    all.add("subDescriptors", subs_text.text());
  return all.text();
}

Address write_descriptor(Block &data, Block &constants, std::string_view json, const std::vector<u64> &pointer_data,
                         std::vector<Address> *relocated) {
  const u64 p = data.format().pointer_size;
  Address text = constants.append(json), pointers = data.words(pointer_data);
  Address at = data.reserve(24 + 2 * p);
  data.put(at, 0x0043414443434e44, 8);
  data.word(at + 8, p == 4 ? 3 : 1);
  data.word(at + 12, json.size());
  data.pointer(at + 16, text);
  data.word(at + 16 + p, pointer_data.size());
  data.pointer(at + 24 + p, pointers);
  if (relocated) {
    relocated->insert(relocated->end(), {at + 16, at + 24 + p});
    for (u64 i = 0; i < pointer_data.size(); ++i)
      if (pointer_data[i])
        relocated->push_back(pointers + i * p);
  }
  return at;
}

} // namespace dnheap::test
