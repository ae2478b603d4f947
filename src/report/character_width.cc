#include "report/character_width.h"

#include <algorithm>
#include <iterator>

namespace dnheap::report {

namespace {

struct CodePoints {
  char32_t first, last;
};

constexpr CodePoints drawn_over[] = {
    {0x300, 0x36f},   {0x483, 0x489},   {0x591, 0x5bd},    {0x610, 0x61a},   {0x64b, 0x65f},   {0x6d6, 0x6dc},
    {0x900, 0x902},   {0x93c, 0x93c},   {0x941, 0x948},    {0xe31, 0xe31},   {0xe34, 0xe3a},   {0xe47, 0xe4e},
    {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff}, {0x200b, 0x200d},  {0x2060, 0x2064}, {0x20d0, 0x20ff}, {0x3099, 0x309a},
    {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}, {0xe0000, 0xe0fff}};

constexpr CodePoints wide[] = {
    {0x1100, 0x115f},   {0x231a, 0x231b},   {0x2329, 0x232a},   {0x23e9, 0x23ec},   {0x25fd, 0x25fe},
    {0x2614, 0x2615},   {0x2648, 0x2653},   {0x2705, 0x2705},   {0x270a, 0x270b},   {0x2728, 0x2728},
    {0x274c, 0x274e},   {0x2753, 0x2757},   {0x2795, 0x2797},   {0x2b1b, 0x2b1c},   {0x2b50, 0x2b55},
    {0x2e80, 0x303e},   {0x3041, 0x3247},   {0x3250, 0x4dbf},   {0x4e00, 0xa4cf},   {0xa960, 0xa97c},
    {0xac00, 0xd7a3},   {0xf900, 0xfaff},   {0xfe10, 0xfe19},   {0xfe30, 0xfe6f},   {0xff01, 0xff60},
    {0xffe0, 0xffe6},   {0x16fe0, 0x18dff}, {0x1aff0, 0x1b2ff}, {0x1f18e, 0x1f19a}, {0x1f200, 0x1f64f},
    {0x1f680, 0x1f6ff}, {0x1f7e0, 0x1f7eb}, {0x1f900, 0x1faff}, {0x20000, 0x3fffd}};

constexpr CodePoints misleading[] = {{0x61c, 0x61c},   {0x200e, 0x200f}, {0x2028, 0x202e},
                                     {0x2066, 0x2069}, {0xfeff, 0xfeff}, {0xfff9, 0xfffb}};

template <std::size_t count> bool is_in(char32_t code, const CodePoints (&ranges)[count]) {
  const CodePoints *found = std::lower_bound(std::begin(ranges), std::end(ranges), code,
                                             [](const CodePoints &range, char32_t c) { return range.last < c; });
  return found != std::end(ranges) && found->first <= code;
}

char32_t code_of(std::string_view character) {
  const u8 lead = static_cast<u8>(character[0]);
  char32_t code = character.size() == 1 ? lead : lead & (0x7fu >> character.size());
  for (char c : character.substr(1))
    code = code << 6 | (static_cast<u8>(c) & 0x3fu);
  return code;
}

} // namespace

u64 character_width(std::string_view character) {
  const char32_t code = code_of(character);
  if (code < 0x300)
    return 1;
  return is_in(code, wide) ? 2 : is_in(code, drawn_over) ? 0 : 1;
}

bool misleads(std::string_view character) { return character.size() > 1 && is_in(code_of(character), misleading); }

} // namespace dnheap::report
