// Single precision: arithmetic, extremes, rounding to whole numbers, parts of a number, cube maps.
#include "float_convert.h"
#include "float_division.h"
#include "float_operations.h"

namespace machine {

namespace {

// 0 times anything is +0, of Direct3D 9.
KM_HOT float multiply_legacy(float a, float b) { return a == 0 || b == 0 ? 0.0f : a * b; }

struct LegacyNan {
    static uint32_t lane(const uint32_t* x, uint32_t result, const Mode& mode) {
        const bool is_zero = !magnitude<Single>(x[0]) || !magnitude<Single>(x[1]);
        return is_zero ? 0 : FirstNan<Single, 2>::lane(x, result, mode);
    }
    static KM_HOT bool is_met(const float*, float result) { return result != result; }
};

// x * 2^n. The product is exact in double for every n that matters, so that only the conversion rounds.
KM_HOT float scaled(float x, int32_t n) {
    const int32_t bounded = n < -300 ? -300 : n > 300 ? 300 : n;
    return (float)((double)x * bits_as<double>((uint64_t)(1023 + bounded) << 52));
}

__attribute__((noinline)) void scale_each(const uint32_t* x, const uint32_t* n, uint32_t* to) {
    for (int l = 0; l < kLanes; l++) to[l] = bits_as<uint32_t>(scaled(bits_as<float>(x[l]), (int32_t)n[l]));
}

void scale(Wave& w, const Instruction& in) {
    Vector room[2], result;
    const Source x = read32(w, in, 0, room[0], As::f32), n = read32(w, in, 1, room[1]);
    if (__builtin_expect(is_usual<Single>(w.mode), 1)) {
        scale_each(x.lane, n.lane, result.lane);
    } else {
        const int denormals = w.mode.denormal_single;
        for (int l = 0; l < kLanes; l++) room[0].lane[l] = denormals & 1 ? x.lane[l] : flushed<Single>(x.lane[l]);
        run_rounded(w.mode.round_single, [&] { scale_each(room[0].lane, n.lane, result.lane); });
        for (int l = 0; l < kLanes && !(denormals & 2); l++) result.lane[l] = flushed<Single>(result.lane[l]);
    }
    const uint64_t dx = x.defined.whole(), dn = n.defined.whole();
    write32(w, in, in.result[0], result, Defined::of(dx & dn), origin_of(w, dx, x.origin, dn, n.origin), As::f32);
}

void exponent(Wave& w, const Instruction& in) {
    convert<Single, Signed>(w, in, [](float x) { return exponent_of(x); });
}

// The face of a cube that (x, y, z) points at and the coordinates there.
KM_HOT bool is_z(float x, float y, float z) {
    return __builtin_fabsf(z) >= __builtin_fabsf(x) && __builtin_fabsf(z) >= __builtin_fabsf(y);
}
KM_HOT bool is_y(float x, float y) { return __builtin_fabsf(y) >= __builtin_fabsf(x); }

void cube_face(Wave& w, const Instruction& in) {
    lanes<Single, 3>(w, in, [](float x, float y, float z) {
        return is_z(x, y, z) ? (z < 0 ? 5.0f : 4.0f) : is_y(x, y) ? (y < 0 ? 3.0f : 2.0f) : x < 0 ? 1.0f : 0.0f;
    });
}
void cube_s(Wave& w, const Instruction& in) {
    lanes<Single, 3>(w, in, [](float x, float y, float z) {
        return is_z(x, y, z) ? (z < 0 ? -x : x) : is_y(x, y) ? x : x < 0 ? z : -z;
    });
}
void cube_t(Wave& w, const Instruction& in) {
    lanes<Single, 3>(w, in, [](float x, float y, float z) {
        return is_z(x, y, z) ? -y : is_y(x, y) ? (y < 0 ? -z : z) : -y;
    });
}
void cube_axis(Wave& w, const Instruction& in) {
    lanes<Single, 3>(w, in, [](float x, float y, float z) { return 2 * (is_z(x, y, z) ? z : is_y(x, y) ? y : x); });
}

void multiply_by_legacy(Wave& w, const Instruction& in) {
    lanes<Single, 2, LegacyNan>(w, in, [](float a, float b) { return multiply_legacy(a, b); });
}

}  // namespace

MACHINE_SEMANTICS(kFloatSingle, {"add_f32", add<Single>}, {"sub_f32", subtract<Single>}, {"mul_f32", multiply<Single>},
                  {"mul_legacy_f32", multiply_by_legacy}, {"fma_f32", multiply_add<Single>},
                  {"min_f32", minimum<Single>}, {"max_f32", maximum<Single>}, {"min3_f32", minimum3<Single>},
                  {"max3_f32", maximum3<Single>}, {"med3_f32", median3<Single>}, {"floor_f32", floor_of<Single>},
                  {"ceil_f32", ceiling_of<Single>}, {"trunc_f32", truncated<Single>}, {"rndne_f32", rounded<Single>},
                  {"fract_f32", fraction<Single>}, {"frexp_mant_f32", mantissa<Single>},
                  {"frexp_exp_i32_f32", exponent}, {"ldexp_f32", scale}, {"div_scale_f32", division_scale<Single>},
                  {"div_fmas_f32", division_multiply_add<Single>}, {"div_fixup_f32", division_fixup<Single>},
                  {"cubeid_f32", cube_face}, {"cubesc_f32", cube_s}, {"cubetc_f32", cube_t}, {"cubema_f32", cube_axis})

}  // namespace machine
