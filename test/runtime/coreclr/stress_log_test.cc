// The runtime's stress log: its messages in their order, also where a thread has begun to overwrite its oldest ones;
// what is damaged ends a thread's messages, and is said.
#include "runtime/coreclr/stress_log.h"
#include "support/block.h"

#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

constexpr u64 chunk_size = 0x400, valid = 0xcfcfcfcf;

struct Log {
  explicit Log(Format f) : format(f), p(format.pointer_size), block(format, 0x10000000) {
    log = block.reserve(0x200);
    set_number("StressLog", log);
    set_number("StressLogEnabled", 1);
    set_number("StressLogHasModuleTable", 1);
    set_number("StressLogMaxModules", 2);
    set_number("StressLogChunkSize", chunk_size);
    set_number("StressLogValidChunkSig", valid);
    set_number("StressLogMaxMessageSize", 0x80);
    d.contracts["StressLog"] = "c2";
    set("StressLog", {{"LoggedFacilities", 0},
                      {"Level", 4},
                      {"Logs", 24},
                      {"TickFrequency", 48},
                      {"StartTimestamp", 56},
                      {"StartTime", 64},
                      {"Modules", 80}});
    set("StressLogModuleDesc", {{"BaseAddress", 0}, {"Size", i64(p)}}, 2 * p);
    set("ThreadStressLog", {{"Next", 0},
                            {"ThreadId", 8},
                            {"WriteHasWrapped", 18},
                            {"CurrentPtr", 24},
                            {"ChunkListHead", 40},
                            {"ChunkListTail", 48},
                            {"CurrentWriteChunk", 64}});
    set("StressLogChunk", {{"Next", 8}, {"Buf", 16}, {"Sig1", 16 + i64(chunk_size)}, {"Sig2", 20 + i64(chunk_size)}});
    set("StressMsg", {{"Args", 16}});
    block.put(log + 48, 1000, 8);
    block.put(log + 56, 5, 8);
    // Texts of two modules, one behind the other.
    block.pointer(log + 80, 0x7000);
    block.pointer(log + 80 + p, 0x100);
    block.pointer(log + 80 + 2 * p, 0x90000);
    block.pointer(log + 80 + 3 * p, 0x100);
  }
  void set_number(const char *name, u64 value) { d.set_number(name, value, false, Origin::published); }
  void set(const char *type, std::vector<std::pair<const char *, i64>> fields, std::optional<u64> size = {}) {
    for (auto [field, offset] : fields)
      d.set_field(type, field, offset, Origin::published);
    if (size)
      d.types[type].size = static_cast<u32>(*size);
  }

  Address thread(u64 id) {
    const Address out = block.reserve(0x80);
    block.put(out + 8, id, 8);
    block.pointer(last_ ? last_ : log + 24, out);
    return last_ = out;
  }
  Address chunk() {
    const Address out = block.reserve(chunk_size + 24);
    block.put(out + 16 + chunk_size, valid, 4);
    block.put(out + 20 + chunk_size, valid, 4);
    return out;
  }
  Address end_of(Address chunk) const { return chunk + 16 + chunk_size; }
  // Returns where it begins: in front of what was written before.
  Address write(Address end, u64 ticks, u32 facility, u64 offset, const std::vector<u64> &arguments = {}) {
    const Address at = end - 16 - arguments.size() * p;
    block.put(at, facility | arguments.size() << 32 | (offset & 0x3ffffff) << 38, 8);
    block.put(at + 8, offset >> 26 | ticks << 13, 8);
    for (u64 i = 0; i < arguments.size(); ++i)
      block.pointer(at + 16 + i * p, arguments[i]);
    return at;
  }
  void point(Address thread, Address current, Address head, Address tail, Address newest, bool wrapped = false) {
    block.pointer(thread + 24, current);
    block.pointer(thread + 40, head);
    block.pointer(thread + 48, tail);
    block.pointer(thread + 64, newest);
    block.put(thread + 18, wrapped, 1);
  }
  std::optional<StressLog> read() {
    const Memory memory(format, {block.range()});
    return read_stress_log(memory, d);
  }
  std::vector<u64> ticks() {
    std::vector<u64> out;
    const StressLog found = read().value();
    for (const StressMessage &message : found.messages)
      out.push_back(message.ticks);
    return out;
  }

  const Format format;
  const u64 p;
  Block block;
  ContractDescriptor d;
  Address log = 0;

private:
  Address last_ = 0;
};

std::vector<u64> numbers(u64 first, u64 end) {
  std::vector<u64> out;
  for (u64 i = first; i < end; ++i)
    out.push_back(i);
  return out;
}

TEST(StressLog, MessagesOfThreadsInTheOrderOfTime) {
  for (Format format : all_formats) {
    SCOPED_TRACE(name_of(format));
    Log log(format);
    EXPECT_FALSE(log.read()); // it keeps none
    for (u64 id : {7, 8}) {
      const Address thread = log.thread(id), chunk = log.chunk();
      Address at = log.end_of(chunk);
      at = log.write(at, 10 + id, 1, 0x10);
      at = log.write(at, 20 + id, 0x4000, 0x110, {1, 2, 3});
      log.point(thread, at, chunk, chunk, chunk);
    }
    log.thread(9); // has written nothing
    const StressLog found = log.read().value();
    EXPECT_TRUE(found.notes.empty());
    EXPECT_EQ(found.threads, 2u);
    EXPECT_EQ(found.frequency, 1000u);
    ASSERT_EQ(found.messages.size(), 4u);
    EXPECT_EQ(found.messages[0].thread, 7u);
    EXPECT_EQ(found.messages[0].ticks, 17u);
    EXPECT_EQ(found.messages[0].format, 0x7010u);
    EXPECT_TRUE(found.messages[0].arguments.empty());
    EXPECT_EQ(found.messages[3].thread, 8u);
    EXPECT_EQ(found.messages[3].facility, 0x4000u);
    EXPECT_EQ(found.messages[3].format, 0x90010u); // in the second module
    EXPECT_EQ(found.messages[3].arguments, (std::vector<u64>{1, 2, 3}));
  }
}

// The next chunk of the list is the older one; a full list is written again from its end.
TEST(StressLog, FromChunkToChunkAndAroundAgain) {
  for (Format format : all_formats)
    for (bool wrapped : {false, true}) {
      if (format.pointer_size == 4 && format.byte_order == ByteOrder::big)
        continue; // where a chunk's first message begins is told by its facility, which lies behind zeros there
      SCOPED_TRACE(name_of(format) + std::string(wrapped ? " wrapped" : ""));
      Log log(format);
      const Address thread = log.thread(7), newer = log.chunk(), older = log.chunk();
      log.block.pointer(newer + 8, older);
      log.block.pointer(older + 8, newer);
      const u64 each = chunk_size / 16, overwritten = 0x80 / 16;
      Address at = 0;
      if (wrapped) { // what is left of the pass before
        at = log.end_of(newer);
        for (u64 i = 0; i < each; ++i)
          at = log.write(at, 1 + i, 1, 0);
      }
      at = log.end_of(older);
      for (u64 i = 0; i < each; ++i)
        at = log.write(at, 1000 + i, 1, 0);
      at = log.end_of(newer);
      for (u64 i = 0; i < 20; ++i)
        at = log.write(at, 2000 + i, 1, 0);
      log.point(thread, at, newer, older, newer, wrapped);
      std::vector<u64> expected = wrapped ? numbers(1 + 20 + overwritten, 1 + each) : std::vector<u64>();
      for (u64 tick : numbers(1000, 1000 + each))
        expected.push_back(tick);
      for (u64 tick : numbers(2000, 2020))
        expected.push_back(tick);
      EXPECT_EQ(log.ticks(), expected);
      EXPECT_TRUE(log.read()->notes.empty());
    }
}

TEST(StressLog, WhatIsDamagedIsSaid) {
  Log log({});
  const Address thread = log.thread(7), chunk = log.chunk(), other = log.chunk();
  const Address at = log.write(log.write(log.end_of(chunk), 1, 1, 0), 2, 1, 0x5000);
  log.point(thread, at, chunk, other, chunk);
  auto problem = [&] { return log.read().value().notes.empty() ? "" : log.read()->notes[0].text; };
  EXPECT_EQ(log.ticks(), numbers(1, 3));         // the list ends in null
  EXPECT_EQ(log.read()->messages[1].format, 0u); // in no module
  log.block.pointer(chunk + 8, other);
  EXPECT_EQ(log.ticks(), numbers(1, 3)); // an empty chunk
  Address end = log.end_of(other);
  for (u64 i = 0; i < chunk_size / 16; ++i)
    end = log.write(end, i, 1, 0);
  log.block.put(other + 16 + chunk_size, 1, 4);
  EXPECT_NE(problem().find("stress log of 1 thread ends early: a chunk is damaged"), std::string::npos) << problem();
  log.block.put(other + 16 + chunk_size, valid, 4);
  log.block.pointer(other + 8, other);
  log.point(thread, at, chunk, 0, chunk, true);
  EXPECT_NE(problem().find("lead in a circle"), std::string::npos) << problem();
  log.point(thread, chunk - 0x1000, chunk, chunk, chunk);
  EXPECT_NE(problem().find("a chunk is damaged"), std::string::npos) << problem();
  log.block.pointer(thread, thread);
  EXPECT_EQ(log.read()->notes.front().text, "the list of threads in the stress log breaks off");
}

TEST(StressLog, NothingWhereItIsNotPublished) {
  Log log({});
  const Address thread = log.thread(7), chunk = log.chunk();
  log.point(thread, log.write(log.end_of(chunk), 1, 1, 0), chunk, chunk, chunk);
  EXPECT_TRUE(log.read());
  const ContractDescriptor whole = log.d;
  log.d.contracts["StressLog"] = "c9";
  EXPECT_FALSE(log.read());
  for (const char *global : {"StressLog", "StressLogEnabled", "StressLogChunkSize"}) {
    log.d = whole;
    log.d.globals.erase(global);
    EXPECT_FALSE(log.read()) << global;
  }
  for (const auto &[type, data] : whole.types)
    for (const auto &[field, of] : data.fields) {
      log.d = whole;
      log.d.types[type].fields.erase(field);
      EXPECT_NO_THROW(log.read()) << type << "." << field;
    }
}

} // namespace
} // namespace dnheap::test
