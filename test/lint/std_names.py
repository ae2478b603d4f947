#!/usr/bin/env python3
"""Finds functions of ours that have the name of one of the standard library's and take one of its types. A call without a
namespace sees both, as the compiler looks into the namespaces of the arguments, too; whether it is ambiguous then depends on
what the headers of that compiler include. Usage: std_names.py FOLDER…"""
import pathlib
import re
import sys

# Functions of std, std::chrono and std::filesystem, up to C++23. Not the C library's, which take none of std's types, and none of
# std::ranges, which are objects.
NAMES = set("""
accumulate adjacent_difference adjacent_find advance all_of any_of binary_search clamp copy copy_backward copy_if copy_n count count_if distance
equal equal_range exclusive_scan fill fill_n find find_end find_first_of find_if find_if_not for_each for_each_n gcd generate generate_n includes
inclusive_scan inner_product inplace_merge iota is_heap is_heap_until is_partitioned is_permutation is_sorted is_sorted_until iter_swap lcm
lexicographical_compare lexicographical_compare_three_way lower_bound make_heap max max_element merge midpoint min min_element minmax minmax_element
mismatch move move_backward next next_permutation none_of nth_element partial_sort partial_sort_copy partial_sum partition partition_copy
partition_point pop_heap prev prev_permutation push_heap reduce remove remove_copy remove_copy_if remove_if replace replace_copy replace_copy_if
replace_if reverse reverse_copy rotate rotate_copy sample search search_n set_difference set_intersection set_symmetric_difference set_union
shift_left shift_right shuffle sort sort_heap stable_partition stable_sort swap_ranges transform transform_exclusive_scan transform_inclusive_scan
transform_reduce unique unique_copy upper_bound

back_inserter begin cbegin cend crbegin crend data empty end front_inserter inserter make_move_iterator make_reverse_iterator rbegin rend size ssize

addressof align allocate_at_least allocate_shared allocate_shared_for_overwrite assume_aligned atomic_load atomic_store const_pointer_cast construct_at
destroy destroy_at destroy_n dynamic_pointer_cast get_deleter inout_ptr launder make_obj_using_allocator make_shared make_shared_for_overwrite make_unique
make_unique_for_overwrite out_ptr owner_less reinterpret_pointer_cast start_lifetime_as static_pointer_cast to_address uninitialized_copy
uninitialized_copy_n uninitialized_default_construct uninitialized_fill uninitialized_fill_n uninitialized_move uninitialized_move_n
uninitialized_value_construct

any_cast apply as_bytes as_const as_writable_bytes bind bind_back bind_front bit_cast bit_ceil bit_floor bit_width byteswap cmp_equal cmp_greater
cmp_greater_equal cmp_less cmp_less_equal cmp_not_equal countl_one countl_zero countr_one countr_zero cref declval erase erase_if exchange forward
forward_as_tuple forward_like get get_if has_single_bit holds_alternative in_range invoke invoke_r make_any make_from_tuple make_optional make_pair
make_tuple mem_fn not_fn popcount ref rotl rotr swap tie to_array to_integer to_underlying tuple_cat unreachable visit

boolalpha dec defaultfloat emit_on_flush endl ends fixed flush flush_emit get_money get_time getline hex hexfloat internal left noboolalpha noemit_on_flush
noshowbase noshowpoint noshowpos noskipws nounitbuf nouppercase oct print println put_money put_time quoted resetiosflags right scientific setbase setfill
setiosflags setprecision setw showbase showpoint showpos skipws unitbuf uppercase vprint_nonunicode vprint_unicode ws

format format_to format_to_n formatted_size from_chars make_format_args make_wformat_args stod stof stoi stol stold stoll stoul stoull to_chars to_string
to_wstring vformat vformat_to visit_format_arg

async call_once current_exception generic_category get_terminate has_facet iostream_category isalnum isalpha isblank iscntrl isdigit isgraph islower
isprint ispunct isspace isupper isxdigit lock make_error_code make_error_condition make_exception_ptr notify_all_at_thread_exit regex_match
regex_replace regex_search rethrow_exception rethrow_if_nested set_terminate system_category terminate throw_with_nested tolower toupper try_lock
uncaught_exceptions use_facet

abs acos acosh arg asin asinh atan atan2 atanh cbrt ceil conj copysign cos cosh erf erfc exp exp2 expm1 fabs fdim floor fma fmax fmin fmod frexp hypot
ilogb imag isfinite isinf isnan isnormal ldexp lerp lgamma log log10 log1p log2 logb lrint lround modf nearbyint nextafter norm polar pow proj real
remainder rint round scalbn signbit sin sinh sqrt tan tanh tgamma trunc

clock_cast clock_time_conversion duration_cast from_stream get_leap_second_info get_tzdb get_tzdb_list is_am is_pm locate_zone make12 make24 parse
reload_tzdb time_point_cast

absolute canonical copy_file copy_symlink create_directories create_directory create_directory_symlink create_hard_link create_symlink current_path
equivalent exists file_size hard_link_count hash_value is_block_file is_character_file is_directory is_empty is_fifo is_other is_regular_file is_socket
is_symlink last_write_time permissions proximate read_symlink relative remove_all rename resize_file space status status_known symlink_status
temp_directory_path u8path weakly_canonical
""".split())

# Where everything in a namespace begins at the start of a line, as ./dev format lays it out; members defined outside of their class
# have another name before "::". The arguments go on to the bracket's end.
DECLARED = re.compile(r"^(?!using\b|return\b|namespace\b|#|//)[\w:][^\n;={}()]*?[\s&*>](\w+)\(([^;{}]*?)\)[^();]*?[;{]", re.M)
ALIAS = re.compile(r"^using (\w+) = std::(?!\w+_t;)", re.M)


def clashes(text, aliases):
    """(line, name) of each function that is declared in it."""
    for match in DECLARED.finditer(text):
        name, arguments = match[1], match[2]
        if name in NAMES and re.search(r"\bstd::(?!\w+_t\b)|\b(?:%s)\b" % "|".join(aliases or ["(?!)"]), arguments):
            yield text.count("\n", 0, match.start(1)) + 1, name


def violations(folders):
    files = sorted(path for folder in folders for path in pathlib.Path(folder).rglob("*.[ch]*") if path.suffix in (".h", ".cc"))
    texts = {path: path.read_text() for path in files}
    aliases = sorted({name for text in texts.values() for name in ALIAS.findall(text)})
    for path, text in texts.items():
        for line, name in clashes(text, aliases):
            yield f"{path}:{line}: {name}() is a function of the standard library's, too, and takes its types: name it otherwise"


if __name__ == "__main__":
    found = list(violations(sys.argv[1:]))
    print("\n".join(found) or "names of std: ok")
    sys.exit(bool(found))
