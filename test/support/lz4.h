// Files compressed by lz4, for tests.
#pragma once
#include <lz4frame.h>
#include <string>

namespace dnheap::test {

struct Lz4Options {
  bool linked = true, block_checksums = false, states_size = false;
  LZ4F_blockSizeID_t block = LZ4F_max64KB;
};

// One frame with a checksum of its content.
inline std::string lz4(const std::string &text, Lz4Options options = {}) {
  LZ4F_preferences_t preferences{};
  preferences.frameInfo.blockSizeID = options.block;
  preferences.frameInfo.blockMode = options.linked ? LZ4F_blockLinked : LZ4F_blockIndependent;
  preferences.frameInfo.contentChecksumFlag = LZ4F_contentChecksumEnabled;
  preferences.frameInfo.blockChecksumFlag = options.block_checksums ? LZ4F_blockChecksumEnabled : LZ4F_noBlockChecksum;
  preferences.frameInfo.contentSize = options.states_size ? text.size() : 0;
  std::string out(LZ4F_compressFrameBound(text.size(), &preferences), '\0');
  out.resize(LZ4F_compressFrame(out.data(), out.size(), text.data(), text.size(), &preferences));
  return out;
}

} // namespace dnheap::test
