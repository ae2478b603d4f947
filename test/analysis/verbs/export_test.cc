// `export`: what stands in each file is what was written into the heap, whatever the types are called, whatever is
// missing, however large an array is; and there is no file unless all of it is there.
#include "analysis/export/exporter.h"
#include "analysis/verb.h"
#include "base/not_found.h"
#include "base/text.h"
#include "report/encoding.h"
#include "snapshot/snapshot.h"
#include "support/known_stacks.h"
#include "support/random_graph.h"
#include "support/run.h"

#include <algorithm>
#include <filesystem>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sstream>

namespace dnheap::test {
namespace {

using nlohmann::json;
using G = GCSegmentGeneration;

const Verb &export_verb() {
  return *std::find_if(verbs().begin(), verbs().end(),
                       [](const Verb &verb) { return verb.name == std::string_view("export"); });
}

Question question_of(const std::string &as, const std::string &output) {
  Question out;
  out.target = "core";
  out.as = as;
  out.output = output;
  return out;
}

struct Made {
  report::Answer answer;
  std::string file;
};

Made made(HeapBuilder &heap, Question question, unsigned threads = 2) {
  TemporaryFolder folder;
  question.output = folder.path("file");
  SnapshotOptions options;
  options.threads = threads;
  Snapshot snapshot(heap.target(), options);
  Made out;
  out.answer = ask(export_verb(), snapshot, question);
  out.file = read_file(question.output);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
  return out;
}
std::string exported(HeapBuilder &heap, const Question &question, unsigned threads = 2) {
  return made(heap, question, threads).file;
}

std::vector<json> lines_of(const std::string &file) {
  std::vector<json> out;
  std::istringstream lines(file);
  for (std::string line; std::getline(lines, line);)
    out.push_back(json::parse(line));
  return out;
}

Address address_in(const json &text) { return std::stoull(text.get<std::string>(), nullptr, 16); }

// A .heapsnapshot as its readers see it.
struct V8 {
  explicit V8(const std::string &file) : all(json::parse(file)) {
    const u64 fields = all["snapshot"]["meta"]["node_fields"].size();
    const json &nodes = all["nodes"], &edges = all["edges"];
    EXPECT_EQ(nodes.size(), fields * all["snapshot"]["node_count"].get<u64>());
    EXPECT_EQ(edges.size(), 3 * all["snapshot"]["edge_count"].get<u64>());
    std::set<u64> ids;
    u64 edge = 0;
    for (u64 i = 0; i < nodes.size(); i += fields) {
      Node node{nodes[i], string(nodes[i + 1]), nodes[i + 3], {}};
      EXPECT_TRUE(ids.insert(nodes[i + 2].get<u64>()).second);
      for (u64 degree = nodes[i + 4]; degree; --degree, edge += 3) {
        const u64 type = edges[edge], to = edges[edge + 2];
        EXPECT_EQ(to % fields, 0u);
        EXPECT_LT(to, nodes.size());
        node.edges.push_back(
            {type, type == 1 ? std::to_string(edges[edge + 1].get<u64>()) : string(edges[edge + 1]), to / fields});
      }
      this->nodes.push_back(node);
    }
    EXPECT_EQ(edge, edges.size());
  }
  std::string string(const json &index) const { return all["strings"].at(index.get<u64>()); }

  struct Edge {
    u64 type;
    std::string name;
    u64 to;
  };
  struct Node {
    u64 type;
    std::string name;
    u64 size;
    std::vector<Edge> edges;
  };
  json all;
  std::vector<Node> nodes;
};
constexpr u64 synthetic = 9, weak = 6, element_edge = 1;

TEST(Export, WordsAreTheExporters) {
  const std::vector<std::string_view> words(export_verb().as.begin(), export_verb().as.end());
  ASSERT_EQ(words.size(), exporters().size());
  for (u64 i = 0; i < words.size(); ++i) {
    EXPECT_EQ(words[i], exporters()[i].name);
    EXPECT_NE(std::string_view(export_verb().details).find(std::string(words[i]) + ": "), std::string_view::npos);
  }
}

TEST(Export, NdjsonHasEveryObjectAndReference) {
  std::mt19937_64 random(1);
  for (const HeapShape &shape : type_layouts()) {
    SCOPED_TRACE(name_of(shape));
    RandomGraph graph(shape, random);
    give_stacks(graph.heap);
    graph.heap.gc.handles = {{.type = HandleType::strong, .object = graph.random_object()}};
    const std::map<Address, WrittenObject> objects = graph.objects();
    std::vector<Address> method_tables;
    u64 found = 0, references = 0, bytes = 0, roots = 0;
    const std::vector<json> lines = lines_of(exported(graph.heap, question_of("ndjson", "")));
    for (const json &line : lines) {
      if (line["line"] == "type" && line.contains("method_table"))
        method_tables.push_back(address_in(line["method_table"]));
      roots += line["line"] == "root" && line["kind"] == "handle";
      if (line["line"] != "object")
        continue;
      const WrittenObject &object = objects.at(address_in(line["address"]));
      ++found;
      bytes += object.aligned_size;
      EXPECT_EQ(method_tables.at(line["type"].get<u64>()), object.method_table);
      EXPECT_EQ(line["bytes"], object.size);
      EXPECT_EQ(line["aligned_bytes"], object.aligned_size);
      EXPECT_EQ(line["generation"], name_of(object.generation));
      std::vector<Address> wanted, got;
      for (Address target : graph.targets[object.address])
        if (objects.contains(target))
          wanted.push_back(target);
      if (line.contains("references"))
        for (const json &reference : line["references"])
          got.push_back(address_in(reference["to"]));
      EXPECT_EQ(got, wanted);
      references += got.size();
    }
    EXPECT_EQ(found, objects.size());
    EXPECT_EQ(roots, 1u);
    const json &end = lines.back();
    EXPECT_EQ(end["line"], "end");
    EXPECT_EQ(end["objects"], found);
    EXPECT_EQ(end["references"], references);
    EXPECT_EQ(end["aligned_bytes"], bytes);
    EXPECT_EQ(lines.front()["objects"], found);
    EXPECT_EQ(lines.front()["complete"], true);
  }
}

TEST(Export, HeapsnapshotHasTheSameGraph) {
  std::mt19937_64 random(2);
  for (const HeapShape &shape : type_layouts()) {
    SCOPED_TRACE(name_of(shape));
    RandomGraph graph(shape, random);
    graph.heap.gc.handles = {{.type = HandleType::strong, .object = graph.random_object()}};
    const std::map<Address, WrittenObject> objects = graph.objects();
    const V8 file(exported(graph.heap, question_of("heapsnapshot", "")));
    EXPECT_EQ(file.nodes[0].type, synthetic);
    const u64 first = static_cast<u64>(std::find_if(file.nodes.begin(), file.nodes.end(),
                                                    [](const V8::Node &node) { return node.type != synthetic; }) -
                                       file.nodes.begin());
    ASSERT_EQ(file.nodes.size() - first, objects.size());
    std::map<Address, u64> number;
    for (const auto &[address, object] : objects)
      number.emplace(address, first + number.size());
    // What the handle reaches.
    std::vector<u64> left = {0};
    std::set<u64> reached = {0};
    while (!left.empty()) {
      const V8::Node &node = file.nodes[left.back()];
      left.pop_back();
      for (const V8::Edge &edge : node.edges)
        if (edge.type != weak && reached.insert(edge.to).second)
          left.push_back(edge.to);
    }
    std::set<u64> garbage;
    for (const V8::Edge &edge : file.nodes[first - 1].edges) {
      EXPECT_EQ(edge.type, weak);
      garbage.insert(edge.to);
    }
    EXPECT_EQ(file.nodes[first - 1].name, "(not reached by any root)");
    for (const auto &[address, object] : objects) {
      const V8::Node &node = file.nodes[number.at(address)];
      EXPECT_EQ(node.size, object.aligned_size);
      EXPECT_NE(reached.contains(number.at(address)), garbage.contains(number.at(address)));
      std::vector<u64> wanted, got;
      for (Address target : graph.targets[address])
        if (objects.contains(target))
          wanted.push_back(number.at(target));
      for (const V8::Edge &edge : node.edges) {
        got.push_back(edge.to);
        // What is garbage retains nothing that is not.
        EXPECT_EQ(edge.type == weak, garbage.contains(number.at(address)) && !garbage.contains(edge.to));
      }
      EXPECT_EQ(got, wanted);
    }
  }
}

// Three objects: a names b by a field, and an array names both; one of them is held.
struct Shop {
  explicit Shop(const std::string &name = "Order") {
    const u64 p = heap.p;
    type = heap.method_table(
        {.base_size = static_cast<u32>(4 * p), .rid = heap.app().metadata.type("Shop", name), .series = {{p, p}}});
    heap.fields(type, {{heap.app().metadata.field("next", field_signature(element(ElementType::Object))),
                        ElementType::Class, 0}});
    SegmentWriter &old = heap.segment(G::gen2);
    a = old.object(type), b = old.object(type);
    array = old.object(heap.object_array_type, 3);
    text = old.string("secret \" \x01 word");
    old.store(a + p, b, p);
    old.store(array + 2 * p, a, p);
    old.store(array + 4 * p, text, p);
    heap.gc.handles = {{.type = HandleType::strong, .object = array}};
  }
  HeapBuilder heap{{}};
  Address type = 0, a = 0, b = 0, array = 0, text = 0;
};

TEST(Export, FieldsAndElementsHaveTheirNames) {
  Shop shop;
  std::map<std::string, json> objects;
  for (const json &line : lines_of(exported(shop.heap, question_of("ndjson", ""))))
    if (line["line"] == "object")
      objects[line["address"]] = line;
  const json &elements = objects[hex(shop.array)]["references"];
  EXPECT_EQ(elements[0]["field"], "[0]");
  EXPECT_EQ(elements[1]["field"], "[2]");
  EXPECT_EQ(objects[hex(shop.a)]["references"][0]["field"], "next");
  EXPECT_EQ(objects[hex(shop.b)]["references"], json::array());

  const V8 file(exported(shop.heap, question_of("heapsnapshot", "")));
  auto named = [&](const std::string &name) {
    return *std::find_if(file.nodes.begin(), file.nodes.end(), [&](const V8::Node &node) { return node.name == name; });
  };
  EXPECT_EQ(named("Shop.Order").edges.at(0).name, "next");
  EXPECT_EQ(named("System.Object[]").edges.at(1).name, "2");
  EXPECT_EQ(named("System.Object[]").edges.at(1).type, element_edge);
  EXPECT_EQ(file.nodes[0].edges.size(), 2u); // GC handles, and what is not reached
  EXPECT_EQ(file.nodes[1].name, "(GC handles)");
  EXPECT_EQ(file.nodes[2].name, "handle:strong System.Object[]");
}

TEST(Export, ValuesOnlyWhereTheyAreAskedFor) {
  Shop shop;
  for (const std::string as : {"ndjson", "heapsnapshot"}) {
    Question question = question_of(as, "");
    EXPECT_EQ(exported(shop.heap, question).find("secret"), std::string::npos);
    question.values = true;
    const std::string file = exported(shop.heap, question);
    if (as == "ndjson") {
      for (const json &line : lines_of(file))
        EXPECT_EQ(line.contains("value"), line["line"] == "object" && address_in(line["address"]) == shop.text);
      EXPECT_NE(file.find(R"("value":"secret \" \u0001 word")"), std::string::npos);
    } else {
      const V8 parsed(file);
      EXPECT_EQ(parsed.nodes.back().name, "secret \" \x01 word");
      EXPECT_EQ(parsed.nodes.back().type, 2u);
    }
  }
}

// Whatever a type is called, files can be read, and the name is the name.
TEST(Export, NamesAreTexts) {
  const std::string names[] = {"<script>alert('1')</script>",
                               "A\"B'C\\D",
                               "A\xe2\x80\xae"
                               "B",
                               "]}\n{",
                               std::string(8000, 'x'),
                               "\xff\xfe",
                               "label=\"x\"];"};
  for (const std::string &name : names) {
    SCOPED_TRACE(name.substr(0, 40));
    Shop shop(name);
    Snapshot snapshot(shop.heap.target(), {});
    std::string shown; // as it is, but that a file holds UTF-8
    report::append_utf8(shown, snapshot.runtime().types().name(shop.type));
    bool has_name = false;
    for (const json &line : lines_of(exported(shop.heap, question_of("ndjson", ""))))
      has_name |= line["line"] == "type" && line["name"] == shown;
    EXPECT_TRUE(has_name);
    const V8 file(exported(shop.heap, question_of("heapsnapshot", "")));
    EXPECT_EQ(
        std::count_if(file.nodes.begin(), file.nodes.end(), [&](const V8::Node &node) { return node.name == shown; }),
        2);
    Question dot = question_of("dot", "");
    dot.around = v0::Address(shop.a);
    const std::string graph = exported(shop.heap, dot);
    EXPECT_EQ(graph.find('\x01'), std::string::npos);
    EXPECT_EQ(graph.find("\xe2\x80\xae"), std::string::npos);
    // Each line is one statement: a name does not end its text.
    std::istringstream lines(graph);
    for (std::string line; std::getline(lines, line);) {
      EXPECT_TRUE(line.ends_with(";") || line.ends_with("{") || line == "}") << line;
      bool inside = false;
      for (u64 i = 0; i < line.size(); ++i)
        if (line[i] == '\\')
          ++i;
        else if (line[i] == '"')
          inside = !inside;
      EXPECT_FALSE(inside) << line;
    }
  }
}

TEST(Export, DotShowsTheNeighbourhood) {
  Shop shop;
  Question question = question_of("dot", "");
  question.around = v0::Address(shop.b);
  auto count = [](const std::string &text, const std::string &what) {
    u64 out = 0;
    for (std::size_t at = 0; (at = text.find(what, at)) != text.npos; ++at)
      ++out;
    return out;
  };
  std::string file = exported(shop.heap, question); // b, a, and the array that holds a
  EXPECT_EQ(count(file, "Shop.Order"), 2u);
  EXPECT_EQ(count(file, "[label=\"System.Object[]"), 1u);
  EXPECT_EQ(count(file, "System.String"), 0u);
  EXPECT_EQ(count(file, "[label=\"next\"]"), 1u);
  EXPECT_EQ(count(file, "[label=\"[0]\"]"), 1u);
  EXPECT_EQ(count(file, "handle:strong"), 1u);
  question.depth = 1;
  EXPECT_EQ(count(exported(shop.heap, question), "System.Object[]"), 0u);
  question.depth = 9;
  EXPECT_EQ(count(exported(shop.heap, question), "System.String"), 1u);
  question.limit = 2;
  const Made few = made(shop.heap, question);
  EXPECT_EQ(count(few.file, "\\n0x"), 2u);
  const std::vector<std::string> notes = few.answer.completeness->notes.sentences();
  EXPECT_NE(
      std::find(notes.begin(), notes.end(), "the file has only the nearest 2 objects; a larger --limit adds more"),
      notes.end());
  question.around = v0::Address(0x10);
  EXPECT_THROW(made(shop.heap, question), NotFound);
}

TEST(Export, IsTheSameWhateverTheNumberOfThreads) {
  std::mt19937_64 random(3);
  RandomGraph graph({}, random, 4, 3000);
  // An array that is formatted by itself.
  SegmentWriter &large = graph.heap.segment(G::loh);
  const u64 count = 300000;
  const Address array = large.object(graph.heap.object_array_type, count), at = graph.random_object();
  for (u64 i = 0; i < count; i += 3)
    large.store(array + (2 + i) * graph.p, at, graph.p);
  large.string("behind it");
  for (const std::string as : {"ndjson", "heapsnapshot", "gcdump"}) {
    const std::string one = exported(graph.heap, question_of(as, ""), 1);
    EXPECT_EQ(one, exported(graph.heap, question_of(as, ""), 3));
    if (as == "ndjson")
      for (const json &line : lines_of(one))
        if (line["line"] == "object" && address_in(line["address"]) == array) {
          EXPECT_EQ(line["references"].size(), count / 3);
          EXPECT_EQ(line["references"].back()["field"], "[299997]");
        }
  }
}

// What the dump lacks is not in the file, and the answer and the file say so.
// What PerfView reads first, byte for byte: the stream's head, the graph's types, and where the ends are named.
TEST(Export, GcdumpIsLaidOutAsItsReadersWantIt) {
  Shop shop("A\xf0\x9f\x98\x80"
            "B");
  const std::string file = exported(shop.heap, question_of("gcdump", ""));
  const std::string head("\x14\0\0\0!FastSerialization.1\4\4\1\x0a\0\0\0\x08\0\0\0\x0a\0\0\0GCHeapDump\6"
                         "\4\4\1\1\0\0\0\0\0\0\0\x12\0\0\0Graphs.MemoryGraph\6",
                         24 + 24 + 32);
  EXPECT_EQ(file.substr(0, head.size()), head);
  // A character beyond the first plane is two units of three bytes each.
  const std::string name("Shop.A\xed\xa0\xbd\xed\xb8\x80"
                         "B");
  EXPECT_NE(file.find(std::string("\x09\0\0\0", 4) + name), std::string::npos);
  auto number = [&](u64 at) {
    u64 out = 0;
    for (u64 i = 4; i--;)
      out = out << 8 | static_cast<u8>(file[at + i]);
    return out;
  };
  EXPECT_EQ(number(file.size() - 4), file.size() - 8);
  const u64 forward = number(file.size() - 8);
  EXPECT_EQ(number(forward), 1u);
  EXPECT_EQ(file.substr(number(forward + 4), 5), std::string("\x0d\6\0\0\0", 5));
}

TEST(Export, OfATruncatedDumpIsWhatIsThere) {
  Shop shop;
  SegmentWriter &lost = shop.heap.segment(G::gen2);
  for (int i = 0; i < 1000; ++i)
    lost.object(shop.type);
  shop.heap.hole(lost.start + 100 * shop.heap.size_of(shop.type, 0), lost.end());
  const Made partial = made(shop.heap, question_of("ndjson", ""));
  EXPECT_FALSE(partial.answer.completeness->complete());
  const std::vector<json> lines = lines_of(partial.file);
  EXPECT_EQ(lines.front()["complete"], false);
  EXPECT_FALSE(lines.front()["gaps"].empty());
  EXPECT_EQ(lines.back()["objects"], 104);
  V8(exported(shop.heap, question_of("heapsnapshot", "")));
}

TEST(Export, WithoutRootsNothingIsSaidToBeGarbage) {
  Shop shop;
  shop.heap.gc.handles = {};
  shop.heap.threads.clear();
  const Made it = made(shop.heap, question_of("ndjson", ""));
  EXPECT_EQ(it.file.find("\"line\":\"root\""), it.file.npos);
  EXPECT_EQ(it.file.find("\"reached\":false"), it.file.npos);
  const std::vector<std::string> notes = it.answer.completeness->notes.sentences();
  EXPECT_NE(std::find(notes.begin(), notes.end(), "live objects are unknown without roots"), notes.end());
  V8(exported(shop.heap, question_of("heapsnapshot", "")));
}

TEST(Export, SaysWhatIsWrongBeforeAnythingIsDone) {
  Shop shop;
  auto error = [&](auto change) -> std::string {
    Question question = question_of("ndjson", "/tmp/never");
    change(question);
    try {
      export_verb().plan(question);
    } catch (const UsageError &e) {
      return e.what();
    }
    return "";
  };
  EXPECT_EQ(error([](Question &) {}), "");
  EXPECT_EQ(error([](Question &q) { q.as = ""; }).substr(0, 31), "export needs --as with one of n");
  EXPECT_NE(error([](Question &q) { q.as = "gif"; }), "");
  EXPECT_EQ(error([](Question &q) { q.output = ""; }), "export needs a file to write");
  EXPECT_EQ(error([](Question &q) { q.around = v0::Address(1); }),
            "--as ndjson writes the whole heap: --around, --depth and --limit need --as dot");
  EXPECT_NE(error([](Question &q) { q.depth = 1; }), "");
  EXPECT_NE(error([](Question &q) { q.limit = 1; }), "");
  EXPECT_EQ(error([](Question &q) { q.as = "dot"; }),
            "--as dot shows the objects around one object: give --around ADDRESS");
  EXPECT_NE(error([](Question &q) { q.as = "dot", q.around = v0::Address(1), q.values = true; }), "");
  EXPECT_NE(error([](Question &q) { q.as = "dot", q.around = v0::Address(1), q.limit = 0; }), "");
  EXPECT_EQ(error([](Question &q) { q.as = "dot", q.around = v0::Address(1), q.limit = 1; }), "");
}

TEST(Export, NothingIsLeftOfAFileThatCannotBeWritten) {
  Shop shop;
  TemporaryFolder folder;
  for (const Exporter &one : exporters()) {
    Question question = question_of(one.name, folder.path("no/such/folder"));
    if (one.is_neighbourhood)
      question.around = v0::Address(shop.a);
    Snapshot snapshot(shop.heap.target(), {});
    EXPECT_THROW(ask(export_verb(), snapshot, question), Error);
    Progress progress;
    progress.cancel = true;
    SnapshotOptions options;
    options.watch.progress = &progress;
    Snapshot cancelled(shop.heap.target(), options);
    question.output = folder.path("file");
    EXPECT_THROW(ask(export_verb(), cancelled, question), Interrupted);
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

} // namespace
} // namespace dnheap::test
