// What fmt's headers only declare, compiled once. fmt has such a file of its own, but packages that bring the headers need not
// bring a static library. Its instantiations differ between versions: CMake tries whether this one fits (cmake/fmt.cmake).
#include <fmt/format-inl.h>

template auto fmt::detail::thousands_sep_impl<char>(locale_ref) -> thousands_sep_result<char>;
template auto fmt::detail::decimal_point_impl(locale_ref) -> char;
#if FMT_VERSION >= 100000
template void fmt::detail::vformat_to(buffer<char> &, string_view, typename vformat_args<>::type, locale_ref);
#endif
