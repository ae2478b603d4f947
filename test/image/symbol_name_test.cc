#include "image/symbol_name.h"

#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

TEST(SymbolName, FunctionsAsPeopleWriteThem) {
  EXPECT_EQ(readable_symbol("poll"), "poll");
  EXPECT_EQ(readable_symbol("_Z3barii"), "bar");
  EXPECT_EQ(readable_symbol("_ZL7at_exitPv"), "at_exit") << "static";
  EXPECT_EQ(readable_symbol("_ZN7CorUnix10CPalThread11ThreadEntryEPv"), "CorUnix::CPalThread::ThreadEntry");
  EXPECT_EQ(readable_symbol("_ZNK3WKS7gc_heap4sizeEv"), "WKS::gc_heap::size") << "const";
  EXPECT_EQ(readable_symbol("_ZN5StoreC2Ev"), "Store::Store");
  EXPECT_EQ(readable_symbol("_ZN5StoreD1Ev"), "Store::~Store");
  EXPECT_EQ(readable_symbol("_ZN12_GLOBAL__N_13runEv"), "(anonymous namespace)::run");
  EXPECT_EQ(readable_symbol("_ZSt9terminatev"), "std::terminate");
  EXPECT_EQ(readable_symbol("_ZNSt6thread4joinEv"), "std::thread::join");
  EXPECT_EQ(readable_symbol("_ZN4ListI5StoreS0_E3addERKS0_"), "List<>::add");
  EXPECT_EQ(readable_symbol("_ZN4ListIN1a1bEE3addEv"), "List<>::add");
}

TEST(SymbolName, MicrosoftsNames) {
  EXPECT_EQ(readable_symbol("?f@@YAXXZ"), "f");
  EXPECT_EQ(readable_symbol("?ThreadEntry@CPalThread@CorUnix@@SAPAXPAX@Z"), "CorUnix::CPalThread::ThreadEntry");
  std::string deep = "?f", written = "f"; // the time that it takes grows with the length alone
  for (int i = 0; i < 1'000'000; ++i)
    deep += "@a";
  for (int i = 0; i < 1'000'000; ++i)
    written.insert(written.size() - 1, "a::");
  EXPECT_EQ(readable_symbol(deep + "@@YAXXZ"), written);
}

TEST(SymbolName, WhatItCannotReadStays) {
  for (const char *symbol :
       {"", "_Z", "_ZN", "_ZNE", "_Z99short", "_ZN3fooI", "_ZN3fooplEv", "_Z18446744073709551616x", "_ZTV5Store", "?",
        "?@@", "??2@YAPEAX_K@Z", "?f@?1??g@@YAXXZ@4HA", "?f@?$List@H@@QEAAXXZ", "?f@0@@YAXXZ", "?f", "?f@g"})
    EXPECT_EQ(readable_symbol(symbol), symbol);
  EXPECT_EQ(readable_symbol("_ZN" + std::string(200'000, 'I')), "_ZN" + std::string(200'000, 'I'));
}

} // namespace
} // namespace dnheap::test
