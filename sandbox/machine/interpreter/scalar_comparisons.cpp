// Scalar comparisons: their result is SCC.
#include "scalars.h"

namespace machine {

using u32 = uint32_t;
using u64 = uint64_t;

// An equality is decided by one known bit that differs; an order needs the whole of both.
enum class Needs { whole, difference };

template <class T, auto F, Needs needs = Needs::whole> static void compare(Wave& w, const Instruction& in) {
    const Scalar a = scalar_source(w, in, 0), b = scalar_source(w, in, 1);
    const u64 mask = sizeof(T) == 8 ? kAll : 0xffffffff, known = a.defined & b.defined & mask;
    const bool differs = needs == Needs::difference && (a.value ^ b.value) & known;
    const u32 origin = ~a.defined & mask ? a.origin : ~b.defined & mask ? b.origin : kNowhere;
    write_scc(w, F((T)a.value, (T)b.value), known == mask || differs, origin);
}

// SCC: bit `source 1` of source 0 is kWanted.
template <int kBits, bool kWanted> static void test_bit(Wave& w, const Instruction& in) {
    const Scalar value = scalar_source(w, in, 0), place = scalar_source(w, in, 1);
    const u32 bit = place.value & (kBits - 1);
    const bool place_is_known = !(~place.defined & (kBits - 1)), is_known = place_is_known && value.defined >> bit & 1;
    write_scc(w, (value.value >> bit & 1) == kWanted, is_known, place_is_known ? value.origin : place.origin);
}

#define COMPARISON(NAME, TYPE, T, RELATION, NEEDS) \
    {"s_cmp_" NAME "_" TYPE, compare<T, [](T a, T b) { return RELATION; }, Needs::NEEDS>}
#define COMPARISONS(TYPE, T)                                                                      \
    COMPARISON("eq", TYPE, T, a == b, difference), COMPARISON("lg", TYPE, T, a != b, difference), \
        COMPARISON("gt", TYPE, T, a > b, whole), COMPARISON("ge", TYPE, T, a >= b, whole),        \
        COMPARISON("lt", TYPE, T, a < b, whole), COMPARISON("le", TYPE, T, a <= b, whole)

MACHINE_SEMANTICS(kScalarComparisons, COMPARISONS("i32", int32_t), COMPARISONS("u32", u32),
                  {"s_cmp_eq_u64", compare<u64, [](u64 a, u64 b) { return a == b; }, Needs::difference>},
                  {"s_cmp_lg_u64", compare<u64, [](u64 a, u64 b) { return a != b; }, Needs::difference>},
                  {"s_bitcmp0_b32", test_bit<32, false>}, {"s_bitcmp1_b32", test_bit<32, true>},
                  {"s_bitcmp0_b64", test_bit<64, false>}, {"s_bitcmp1_b64", test_bit<64, true>})

}  // namespace machine
