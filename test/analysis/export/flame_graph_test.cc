// `export --as speedscope` and `--as pprof`: the frames of both are the same, and add up to what `retained` says.
#include "analysis/export/flame_graph.h"
#include "report/encoding.h"
#include "snapshot/snapshot.h"
#include "support/random_graph.h"
#include "support/rows.h"
#include "support/run.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <nlohmann/json.hpp>
#include <zlib.h>

namespace dnheap::test {
namespace {

using nlohmann::json;
using G = GCSegmentGeneration;
using Stack = std::vector<std::string>; // the owner first
struct Values {
  u64 bytes = 0, objects = 0;
  bool operator==(const Values &) const = default;
};
using Samples = std::map<Stack, Values>;

struct Made {
  report::Answer answer;
  std::string file;
};

Made made(HeapBuilder &heap, const char *as) {
  TemporaryFolder folder;
  Question question;
  question.as = as;
  question.output = folder.path("file");
  Made out{answer_of(heap, "export", question), read_file(folder.path("file"))};
  return out;
}

Samples of_speedscope(const std::string &file) {
  const json all = json::parse(file);
  Samples out;
  for (const json &profile : all["profiles"]) {
    const bool is_bytes = profile["unit"] == "bytes";
    Stack stack;
    u64 at = 0;
    for (const json &event : profile["events"]) {
      const std::string name = all["shared"]["frames"].at(event["frame"].get<u64>())["name"];
      const u64 now = event["at"];
      EXPECT_GE(now, at);
      if (now > at)
        (is_bytes ? out[stack].bytes : out[stack].objects) += now - at;
      at = now;
      if (event["type"] == "O") {
        stack.push_back(name);
      } else {
        EXPECT_EQ(stack.back(), name);
        stack.pop_back();
      }
    }
    EXPECT_TRUE(stack.empty());
    EXPECT_EQ(at, profile["endValue"].get<u64>());
  }
  return out;
}

std::string inflated(std::string file) {
  std::string out(u64{64} << 20, '\0');
  z_stream stream{};
  EXPECT_EQ(inflateInit2(&stream, MAX_WBITS + 16), Z_OK);
  stream.next_in = reinterpret_cast<Bytef *>(file.data());
  stream.avail_in = static_cast<uInt>(file.size());
  stream.next_out = reinterpret_cast<Bytef *>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  EXPECT_EQ(stream.avail_in, 0u);
  out.resize(stream.total_out);
  inflateEnd(&stream);
  return out;
}

// The fields of a message: numbers, and what has a length.
struct Message {
  explicit Message(std::string_view text) {
    while (!text.empty()) {
      const u64 key = varint(text);
      const u64 value = varint(text);
      if ((key & 7) == 0) {
        numbers[key >> 3].push_back(value);
      } else {
        EXPECT_EQ(key & 7, 2u);
        EXPECT_LE(value, text.size());
        parts[key >> 3].push_back(std::string(text.substr(0, value)));
        text.remove_prefix(value);
      }
    }
  }
  static u64 varint(std::string_view &text) {
    u64 out = 0;
    for (unsigned shift = 0; !text.empty(); shift += 7) {
      const u64 next = static_cast<u8>(text.front());
      text.remove_prefix(1);
      out |= (next & 0x7f) << shift;
      if (next < 0x80)
        break;
    }
    return out;
  }
  static std::vector<u64> list(std::string_view text) {
    std::vector<u64> out;
    while (!text.empty())
      out.push_back(varint(text));
    return out;
  }
  std::map<u64, std::vector<u64>> numbers;
  std::map<u64, std::vector<std::string>> parts;
};

Samples of_pprof(const std::string &file) {
  Message all(inflated(file));
  const std::vector<std::string> &texts = all.parts[6];
  EXPECT_EQ(texts.at(0), "");
  std::vector<std::string> types;
  for (const std::string &part : all.parts[1]) {
    Message type(part);
    types.push_back(texts.at(type.numbers[1].at(0)) + " " + texts.at(type.numbers[2].at(0)));
  }
  EXPECT_EQ(types, (std::vector<std::string>{"inuse_objects count", "inuse_space bytes"}));
  EXPECT_EQ(texts.at(all.numbers[14].at(0)), "inuse_space");
  std::map<u64, std::string> functions, locations;
  for (const std::string &part : all.parts[5]) {
    Message function(part);
    functions[function.numbers[1].at(0)] = texts.at(function.numbers[2].at(0));
  }
  for (const std::string &part : all.parts[4]) {
    Message location(part);
    locations[location.numbers[1].at(0)] = functions.at(Message(location.parts[4].at(0)).numbers[1].at(0));
  }
  Samples out;
  for (const std::string &part : all.parts[2]) {
    Message sample(part);
    Stack stack;
    for (u64 location : Message::list(sample.parts[1].at(0)))
      stack.insert(stack.begin(), locations.at(location));
    const std::vector<u64> values = Message::list(sample.parts[2].at(0));
    EXPECT_EQ(values.size(), 2u);
    out[stack].objects += values.at(0);
    out[stack].bytes += values.at(1);
  }
  return out;
}

// By owner, as `retained` has them.
std::map<std::string, Values> owners_of(HeapBuilder &heap) {
  Question question;
  question.table = "owners";
  report::Answer answer = answer_of(heap, "retained", question);
  std::map<std::string, Values> out;
  for (TextRow &row : text_rows_of(answer, "owners"))
    if (row["kind"] != "unreachable") {
      Values &to = out[row["owner"]];
      to.bytes += std::stoull(row["retained"]);
      to.objects += std::stoull(row["objects"]);
    }
  return out;
}

std::map<std::string, Values> by_owner(const Samples &samples) {
  std::map<std::string, Values> out;
  for (const auto &[stack, values] : samples) {
    out[stack.at(0)].bytes += values.bytes;
    out[stack.at(0)].objects += values.objects;
  }
  return out;
}

Values sum(const std::map<std::string, Values> &all) {
  Values out;
  for (const auto &[name, values] : all)
    out.bytes += values.bytes, out.objects += values.objects;
  return out;
}

TEST(FlameGraph, AddsUpToWhatRetainedSays) {
  std::mt19937_64 random(5);
  for (const HeapShape &shape : type_layouts()) {
    SCOPED_TRACE(name_of(shape));
    RandomGraph graph(shape, random, 0, 200, 60);
    for (int i = 0; i < 5; ++i)
      graph.heap.gc.handles.push_back(
          {.type = i % 2 ? HandleType::strong : HandleType::pinned, .object = graph.random_object()});
    graph.heap.segment(G::frozen).object(graph.heap.object_array_type, 2); // which nothing holds
    const Made speedscope = made(graph.heap, "speedscope"), pprof = made(graph.heap, "pprof");
    const Samples samples = of_speedscope(speedscope.file);
    EXPECT_EQ(samples, of_pprof(pprof.file));
    // All owners have more than a ten-thousandth of so small a heap.
    const std::map<std::string, Values> owners = owners_of(graph.heap);
    EXPECT_GT(owners.size(), 1u);
    EXPECT_EQ(by_owner(samples), owners);
    EXPECT_TRUE(owners.contains("(frozen)"));
    report::Answer answer = speedscope.answer;
    for (TextRow &row : text_rows_of(answer, "exported"))
      if (row["part"] == "objects") {
        EXPECT_EQ(row["bytes"], std::to_string(sum(owners).bytes));
        EXPECT_EQ(row["count"], std::to_string(sum(owners).objects));
      }
    for (const auto &[stack, values] : samples)
      EXPECT_GT(values.bytes * values.objects, 0u); // no frame has one without the other
  }
}

// Two types that hold each other in turn, so that no two of one type stand behind one another.
struct Ladder {
  explicit Ladder(u64 length, const std::string &first = "A", const std::string &second = "B") {
    const u64 p = heap.p;
    for (int i = 0; i < 2; ++i)
      types[i] = heap.method_table({.base_size = static_cast<u32>(4 * p),
                                    .rid = heap.app().metadata.type("Shop", i ? second : first),
                                    .series = {{p, p}}});
    SegmentWriter &old = heap.segment(G::gen2);
    Address last = 0;
    for (u64 i = 0; i < length; ++i) {
      const Address next = old.object(types[i % 2]);
      old.store(next + p, last, p);
      last = next;
    }
    heap.gc.handles = {{.type = HandleType::strong, .object = last}};
  }
  HeapBuilder heap{{}};
  Address types[2];
};

TEST(FlameGraph, EndsAtSoManyLevelsAndSaysSo) {
  for (u64 length : {FlameGraph::most_depth - 1, FlameGraph::most_depth + 50}) {
    Ladder ladder(length);
    const Made file = made(ladder.heap, "pprof");
    const Samples samples = of_pprof(file.file);
    u64 deepest = 0, told = 0, cut = 0;
    for (const auto &[stack, values] : samples) {
      deepest = std::max<u64>(deepest, stack.size());
      told += values.objects;
      if (stack.back() == FlameGraph::deeper)
        cut += values.objects;
    }
    EXPECT_EQ(told, length);
    EXPECT_EQ(by_owner(samples), owners_of(ladder.heap));
    const std::vector<std::string> notes = file.answer.completeness->notes.sentences();
    const bool says = std::any_of(notes.begin(), notes.end(), [](const std::string &note) {
      return note.find(FlameGraph::deeper) != std::string::npos;
    });
    EXPECT_EQ(says, length > FlameGraph::most_depth);
    EXPECT_EQ(cut, length > FlameGraph::most_depth ? length + 1 - FlameGraph::most_depth : 0);
    EXPECT_EQ(deepest, std::min(length, FlameGraph::most_depth) + 1);
  }
}

TEST(FlameGraph, WhatIsSmallIsOneFrame) {
  HeapBuilder heap{{}};
  const u64 p = heap.p;
  const Address small = heap.method_table(
      {.base_size = static_cast<u32>(3 * p), .rid = heap.app().metadata.type("Shop", "Small"), .series = {}});
  SegmentWriter &old = heap.segment(G::gen2);
  const Address array = old.object(heap.object_array_type, 100000), one = old.object(small);
  old.store(array + 2 * p, one, p);
  heap.gc.handles = {{.type = HandleType::strong, .object = array}};
  const Samples samples = of_speedscope(made(heap, "speedscope").file);
  ASSERT_EQ(samples.size(), 2u);
  for (const auto &[stack, values] : samples)
    if (stack.back() == FlameGraph::small) {
      EXPECT_EQ(stack.size(), 3u);
      EXPECT_EQ(values, (Values{3 * p, 1}));
    } else {
      EXPECT_EQ(stack.size(), 2u);
      EXPECT_EQ(stack.back(), "System.Object[]");
      EXPECT_EQ(values.objects, 1u);
    }
}

TEST(FlameGraph, NamesAreTexts) {
  Ladder ladder(4, "<script>\"\\\n\xe2\x80\xae\xff", std::string(8000, 'x'));
  Snapshot snapshot(ladder.heap.target(), {});
  std::vector<std::string> names; // as they are, but that a file holds UTF-8
  for (Address type : ladder.types)
    report::append_utf8(names.emplace_back(), snapshot.runtime().types().name(type));
  const Samples samples = of_speedscope(made(ladder.heap, "speedscope").file);
  EXPECT_EQ(samples, of_pprof(made(ladder.heap, "pprof").file));
  const Stack &deepest = std::max_element(samples.begin(), samples.end(), [](const auto &a, const auto &b) {
                           return a.first.size() < b.first.size();
                         })->first;
  ASSERT_EQ(deepest.size(), 5u);
  EXPECT_GT(names[1].size(), 4000u);
  EXPECT_EQ(deepest[1], names[1]);
  EXPECT_EQ(deepest[2], names[0]);
}

TEST(FlameGraph, WithoutRootsThereIsNoFile) {
  Ladder ladder(4);
  ladder.heap.gc.handles = {};
  ladder.heap.threads.clear();
  for (const char *as : {"speedscope", "pprof"})
    EXPECT_THROW(made(ladder.heap, as), Error);
}

} // namespace
} // namespace dnheap::test
