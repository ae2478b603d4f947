// The thread list in both its forms, whole and damaged.
#include "runtime/vm/thread_list.h"
#include "support/block.h"
#include "support/opened.h"

#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

constexpr u64 link_words = 9; // from a Thread to its link

// A list of threads, linked in one of the two forms.
struct Listed {
  Listed(Format format, u64 count, bool of_threads) : block(format, 0x100000), p(format.pointer_size) {
    head = block.reserve(p);
    for (u64 i = 0; i < count; ++i) {
      threads.push_back(block.reserve(32 * p));
      block.word(threads.back(), 0x1020); // its state
    }
    for (u64 i = 0; i < count; ++i)
      block.pointer(i ? link(i - 1) : head, of_threads ? threads[i] : link(i));
  }
  Address link(u64 i) const { return threads[i] + link_words * p; }
  ThreadList read(std::optional<u64> count) const {
    return read_thread_list(Memory(block.format(), {block.range()}), head, link_words * p, count);
  }

  Block block;
  const u64 p;
  Address head = 0;
  std::vector<Address> threads;
};

template <class Visit> void for_each_form(Visit visit) {
  for (Format format : all_formats)
    for (bool of_threads : {false, true}) {
      SCOPED_TRACE(name_of(format) + (of_threads ? ", of Threads" : ", of links"));
      visit(format, of_threads);
    }
}

TEST(ThreadList, TheFormThatFitsTheCountIsRight) {
  for_each_form([](Format format, bool of_threads) {
    for (u64 count : {0, 1, 2, 1000}) {
      const Listed listed(format, count, of_threads);
      const ThreadList found = listed.read(count);
      EXPECT_EQ(found.threads, listed.threads) << count;
      EXPECT_TRUE(found.is_counted);
      EXPECT_EQ(found.broken_by, "");
    }
  });
}

TEST(ThreadList, ACountThatFitsNeitherFormLeavesTheLongerOne) {
  for_each_form([](Format format, bool of_threads) {
    const Listed listed(format, 5, of_threads);
    for (std::optional<u64> count : {std::optional<u64>(7), std::optional<u64>()}) {
      const ThreadList found = listed.read(count);
      EXPECT_EQ(found.threads, listed.threads);
      EXPECT_FALSE(found.is_counted);
      EXPECT_EQ(found.broken_by, "");
    }
  });
}

TEST(ThreadList, ACircleAndABreakEndIt) {
  for_each_form([](Format format, bool of_threads) {
    Listed listed(format, 3, of_threads);
    listed.block.pointer(listed.link(2), of_threads ? listed.threads[1] : listed.link(1));
    ThreadList found = listed.read(3);
    EXPECT_EQ(found.threads, listed.threads);
    EXPECT_NE(found.broken_by.find("runs in a circle at 0x"), std::string::npos) << found.broken_by;
    listed.block.pointer(listed.link(2), 0x50000000);
    found = listed.read(3);
    EXPECT_EQ(found.threads, listed.threads);
    EXPECT_NE(found.broken_by.find("breaks off: the dump lacks the Thread at 0x"), std::string::npos)
        << found.broken_by;
    EXPECT_FALSE(found.is_counted);
  });
}

} // namespace
} // namespace dnheap::test
