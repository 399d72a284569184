// Double precision.
#include <math.h>

#include "float_convert.h"
#include "float_division.h"
#include "float_operations.h"

namespace machine {

namespace {

void exponent(Wave& w, const Instruction& in) {
    convert<Double, Signed>(w, in, [](double x) { return exponent_of(x); });
}

// x * 2^n; the C library's rounds once, even to a denormal.
__attribute__((noinline)) void scale_each(const uint64_t* x, const uint32_t* n, uint64_t* to) {
    for (int l = 0; l < kLanes; l++) {
        const double value = bits_as<double>(x[l]);
        const int32_t by = (int32_t)n[l];
        const int64_t exponent = (int64_t)(x[l] >> 52 & 0x7ff), sum = exponent + by;
        if (exponent && exponent < 2047 && sum > 0 && sum < 2047)
            to[l] = x[l] + ((uint64_t)(int64_t)by << 52);
        else
            to[l] = bits_as<uint64_t>(scalbn(value, by));
    }
}

void scale(Wave& w, const Instruction& in) {
    Vector64 room, result;
    Vector counts;
    const Source64 x = read64(w, in, 0, room, As::f64);
    const Source n = read32(w, in, 1, counts);
    const int denormals = w.mode.denormal_double;
    if (__builtin_expect(is_usual<Double>(w.mode), 1)) {
        scale_each(x.lane, n.lane, result.lane);
    } else {
        for (int l = 0; l < kLanes; l++) room.lane[l] = denormals & 1 ? x.lane[l] : flushed<Double>(x.lane[l]);
        run_rounded(w.mode.round_double, [&] { scale_each(room.lane, n.lane, result.lane); });
        for (int l = 0; l < kLanes && !(denormals & 2); l++) result.lane[l] = flushed<Double>(result.lane[l]);
    }
    const uint64_t dn = n.defined.whole();
    write64(w, in, in.result[0], result, x.defined & dn, origin_of(w, x.defined, x.origin, dn, n.origin), As::f64);
}

}  // namespace

MACHINE_SEMANTICS(kFloatDouble, {"add_f64", add<Double>}, {"mul_f64", multiply<Double>},
                  {"fma_f64", multiply_add<Double>}, {"min_f64", minimum<Double>}, {"max_f64", maximum<Double>},
                  {"floor_f64", floor_of<Double>}, {"ceil_f64", ceiling_of<Double>}, {"trunc_f64", truncated<Double>},
                  {"rndne_f64", rounded<Double>}, {"fract_f64", fraction<Double>}, {"frexp_mant_f64", mantissa<Double>},
                  {"frexp_exp_i32_f64", exponent}, {"ldexp_f64", scale}, {"div_scale_f64", division_scale<Double>},
                  {"div_fmas_f64", division_multiply_add<Double>}, {"div_fixup_f64", division_fixup<Double>})

}  // namespace machine
