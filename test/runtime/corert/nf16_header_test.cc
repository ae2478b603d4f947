// The CoreRT debug header: where it is found, what it says, and every rule of its versions.
#include "runtime/corert/nf16_find.h"
#include "support/nf16_builder.h"

#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

using Section = Nf16Section;

Nf16Header read(Nf16Builder &process) {
  std::unique_ptr<Target> target = process.target();
  return read_nf16_header(target->memory, process.header);
}

std::string error_of(Nf16Builder &process) {
  try {
    read(process);
  } catch (const Error &e) {
    return e.what();
  }
  return "";
}

#define EXPECT_PART(text, part) EXPECT_NE(std::string(text).find(part), std::string::npos) << text

TEST(Nf16Header, IsReadInFourFormats) {
  for (Format format : all_formats) {
    SCOPED_TRACE(name_of(format));
    Nf16Builder process(format);
    process.versions[3] = {1, 9};
    Nf16Header header = read(process);
    EXPECT_EQ(header.address, process.header);
    EXPECT_EQ(header.major_version, 1);
    EXPECT_EQ(header.minor_version, 0);
    EXPECT_EQ(header.format, format);
    for (u64 i = 0; i < nf16_section_count; ++i) {
      EXPECT_EQ(header.contracts[i].address, process.sections[i]);
      EXPECT_EQ(header.contracts[i].major_version, 1);
      EXPECT_EQ(header.contracts[i].minor_version, i == 3 ? 9 : 0);
      EXPECT_EQ(header.contracts[i].problem, "");
    }
  }
}

TEST(Nf16Header, HigherMinorVersionsAndReservedBitsChangeNothing) {
  for (Format format : all_formats) {
    SCOPED_TRACE(name_of(format));
    Nf16Builder process(format);
    process.version = {1, 0xabcd};
    process.more_flags = 0xfffffffc;
    process.padding = 0xffffffff;
    process.versions.fill({1, 0x1234});
    Nf16Header header = read(process);
    EXPECT_EQ(header.minor_version, 0xabcd);
    EXPECT_EQ(header.flags >> 2, 0x3fffffffu);
    EXPECT_EQ(header.format, format);
    for (const Nf16Contract &contract : header.contracts) {
      EXPECT_EQ(contract.minor_version, 0x1234);
      EXPECT_EQ(contract.problem, "");
    }
  }
}

TEST(Nf16Header, OtherMajorVersionsAreRefused) {
  for (Format format : all_formats) {
    SCOPED_TRACE(name_of(format));
    Nf16Builder zero(format), two(format);
    zero.version = {0, 3};
    EXPECT_PART(error_of(zero), "not initialised");
    two.version = {2, 0};
    EXPECT_PART(error_of(two), "NF16 2.0");
    EXPECT_PART(error_of(two), "only 1.x");
  }
}

TEST(Nf16Header, CookieIsExact) {
  for (u64 i = 0; i < 4; ++i) {
    Nf16Builder process({});
    process.build();
    process.poke(process.header + i, 0x4e, 1); // "NF16" in capitals is another text
    EXPECT_PART(error_of(process), "cookie is not there");
  }
}

TEST(Nf16Header, FlagsMustFitTheTarget) {
  for (Format format : all_formats)
    for (u32 bit : {1, 2}) {
      SCOPED_TRACE(name_of(format));
      Nf16Builder process(format);
      process.build();
      u32 flags = (format.pointer_size == 8 ? 1u : 0) | (format.byte_order == ByteOrder::big ? 2u : 0);
      process.poke(process.header + 8, flags ^ bit, 1);
      EXPECT_PART(error_of(process), "says that the machine is");
    }
}

TEST(Nf16Header, OnlyTheSectionOfUnknownVersionIsRefused) {
  for (Format format : all_formats)
    for (u64 i = 0; i < nf16_section_count; ++i) {
      SCOPED_TRACE(name_of(format) + " " + name_of(static_cast<Section>(i)));
      for (u16 major : {0, 2, 0x100}) {
        Nf16Builder process(format);
        process.versions[i] = {major, 7};
        Nf16Header header = read(process);
        for (u64 k = 0; k < nf16_section_count; ++k)
          EXPECT_EQ(header.contracts[k].problem.empty(), k != i);
        EXPECT_PART(header.contracts[i].problem, name_of(static_cast<Section>(i)));
        EXPECT_PART(header.contracts[i].problem,
                    major ? "has version " + std::to_string(major) + ".7" : "not initialised");
      }
    }
}

TEST(Nf16Header, SectionsThatAreNotThere) {
  for (Format format : all_formats) {
    SCOPED_TRACE(name_of(format));
    Nf16Builder process(format);
    process.named[0] = false;
    process.build();
    process.poke(process.header + 16 + process.p, 0xffffffff - 1, process.p); // wild
    process.hole(process.sections[2], process.sections[2] + 1);
    process.hole(process.sections[3] + 2, process.sections[3] + 3);
    Nf16Header header = read(process);
    EXPECT_PART(header.contracts[0].problem, "names no GC Contract");
    for (u64 i : {1, 2, 3})
      EXPECT_PART(header.contracts[i].problem, "is not in this dump");
    EXPECT_EQ(header.contracts[4].problem, "");
  }
}

TEST(Nf16Header, CutOff) {
  Nf16Builder process({});
  process.build();
  process.hole(process.header + 16 + 5 * 8 - 1, process.header + 16 + 5 * 8);
  EXPECT_PART(error_of(process), "only partly in this dump");
  Nf16Builder shorter({});
  shorter.build();
  shorter.hole(shorter.header + 15, shorter.header + 16);
  EXPECT_PART(error_of(shorter), "cookie is not there");
}

std::optional<FoundNf16Header> find(Nf16Builder &process) {
  std::unique_ptr<Target> target = process.target();
  EXPECT_EQ(find_nf16_modules(*target).size(), find_nf16_header(*target, target->modules[0]) ? 1u : 0u);
  return find_nf16_header(*target, target->modules[0]);
}

TEST(Nf16Find, Export) {
  for (Format format : all_formats)
    for (bool pe : {false, true}) {
      if (pe && format.byte_order == ByteOrder::big)
        continue; // there are none
      SCOPED_TRACE(name_of(format));
      Nf16Builder process(format, pe);
      process.decoys = 3;
      std::optional<FoundNf16Header> found = find(process);
      ASSERT_TRUE(found);
      EXPECT_EQ(found->address, process.header);
      EXPECT_EQ(found->how, pe ? "export of shop.exe" : "export of shop");
    }
}

TEST(Nf16Find, ScanForTheCookie) {
  for (Format format : all_formats)
    for (bool pe : {false, true}) {
      SCOPED_TRACE(name_of(format));
      Nf16Builder process(format, pe);
      process.exported = false;
      process.decoys = 3;
      std::optional<FoundNf16Header> found = find(process);
      ASSERT_TRUE(found);
      EXPECT_EQ(found->address, process.header);
      EXPECT_EQ(found->how, std::string("scan of ") + (pe ? "shop.exe" : "shop") + " for its cookie");
    }
}

TEST(Nf16Find, WithoutCookieTheModuleHasNoRuntime) {
  Nf16Builder process({});
  process.build();
  process.poke(process.header, 0, 1);
  EXPECT_FALSE(find(process));
}

TEST(Nf16Find, TwoPlacesAreNone) {
  Nf16Builder process({});
  process.exported = false;
  process.build();
  // The same header once more.
  Address copy = process.data.reserve(16 + 5 * 8);
  for (u64 i = 0; i < 16 + 5 * 8; ++i)
    process.data.put(copy + i, static_cast<u8>(process.data.bytes()[process.header - process.data.address() + i]), 1);
  std::unique_ptr<Target> target = process.target();
  EXPECT_THROW(find_nf16_header(*target, target->modules[0]), Error);
}

TEST(Nf16Find, AnotherVersionIsFoundToBeNamed) {
  Nf16Builder process({});
  process.exported = false;
  process.version = {3, 1};
  std::optional<FoundNf16Header> found = find(process);
  ASSERT_TRUE(found);
  EXPECT_PART(error_of(process), "NF16 3.1");
}

TEST(Nf16Find, NoHeaderInOtherPrograms) {
  HeapBuilder coreclr({});
  std::unique_ptr<Target> target = coreclr.target();
  EXPECT_TRUE(find_nf16_modules(*target).empty());
}

} // namespace
} // namespace dnheap::test
