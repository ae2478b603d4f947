// What a Memory notes of its reads, against a set of words.
#include "target/memory.h"

#include <gtest/gtest.h>
#include <random>
#include <set>

namespace dnheap {
namespace {

std::set<u64> words_of(const ReadRecord &record) {
  std::set<u64> out;
  Address last = 0;
  for (const ReadRecord::Page &page : record.pages()) {
    EXPECT_EQ(page.address % ReadRecord::page_size, 0u);
    EXPECT_GE(page.address, last);
    last = page.address;
    for (u64 word = 0; word < ReadRecord::page_size / ReadRecord::word_size; ++word)
      if (page.has(word))
        out.insert(page.address / ReadRecord::word_size + word);
  }
  return out;
}

TEST(ReadRecord, KnowsTheWordsOfAllReads) {
  std::mt19937_64 random(5);
  ReadRecord record;
  std::set<u64> wanted;
  for (int i = 0; i < 500; ++i) {
    Address address = random() % 100000;
    u64 size = random() % (i % 10 ? 40 : 9000);
    record.add(address, size);
    for (Address at = address; at < address + size; ++at)
      wanted.insert(at / ReadRecord::word_size);
  }
  EXPECT_EQ(words_of(record), wanted);
}

TEST(ReadRecord, TheEndOfTheAddressSpaceIsNoEnd) {
  ReadRecord record;
  record.add(~u64{0} - 7, 100);
  EXPECT_EQ(words_of(record), std::set<u64>{~u64{0} / ReadRecord::word_size});
}

TEST(ReadRecord, MemoryNotesWhatItGivesAndNothingElse) {
  std::vector<std::byte> host(8192, std::byte{'x'});
  host[100] = std::byte{0};
  Memory memory({}, {{0x1000, Bytes(host).first(4096)}, {0x3000, Bytes(host).last(4096)}});
  ReadRecord record;
  memory.record_reads(&record);
  auto expect_words = [&](std::set<u64> wanted) { EXPECT_EQ(words_of(record), wanted); };
  memory.view(0x2000, 8); // unknown
  memory.view(0x1ffc, 8); // in part
  memory.find(0x500);
  memory.peek_up_to(0x1000, 4096);
  memory.known_bytes(0x1000, 0x2000);
  expect_words({});
  EXPECT_EQ(memory.try_text(0x1000 + 90, 100)->size(), 10u); // up to its NUL, not beyond
  expect_words({0x20b, 0x20c});
  memory.lay_under({{0x2000, Bytes(host).first(4096)}}); // goes on
  memory.try_load<u64>(0x2000);
  memory.find(0x3008);
  EXPECT_TRUE(words_of(record).contains(0x400));
  EXPECT_TRUE(words_of(record).contains(0x601));
  memory.note_place(0x9000, 5000);
  EXPECT_EQ(record.pages().size(), 5u);
  memory.record_reads(nullptr);
  memory.try_load<u64>(0x2800);
  EXPECT_FALSE(words_of(record).contains(0x500));
}

} // namespace
} // namespace dnheap
