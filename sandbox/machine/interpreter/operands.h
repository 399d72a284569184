// Reading sources and writing results of vector and scalar instructions, with their definedness.
#pragma once
#include "semantics.h"
#include "wave.h"

namespace machine {

#define KM_HOT inline __attribute__((always_inline))

// How - and | | of a source, and clamp and omod of a result, are meant.
enum class As : uint8_t { bits, f32, f16, f64, bf16 };

struct Source {
    const uint32_t* lane;  // 64 values
    Defined defined;
    uint32_t origin;
};

struct Source64 {
    const uint64_t* lane;
    uint64_t defined;    // lanes of which all eight bytes are
    uint64_t low, high;  // lanes of which the lower, the upper four bytes are
    uint32_t origin;
};

inline Defined scalar_bytes(uint32_t bits) {
    if (bits == ~0u) return Defined::of(kAll);
    Defined d;
    for (int b = 0; b < 4; b++) d.byte[b] = (bits >> (8 * b) & 255) == 255 ? kAll : 0;
    return d;
}

// DPP and SDWA of source k, and modifiers; operands.cpp.
Source read_unusual(Wave& w, const Instruction& in, int k, Vector& room, As type);
Vector& broadcast(Vector& room, uint32_t value);
// Applies clamp, omod, SDWA's selection and the upper half of op_sel; operands.cpp.
void write_unusual(Wave& w, const Instruction& in, const Operand& to, Vector& values, Defined defined, As type);

// The 32 bits of source k in each lane, modifiers applied. `room` holds them where they are in no register.
KM_HOT Source read32(Wave& w, const Instruction& in, int k, Vector& room, As type = As::bits) {
    const Operand& from = in.source[k];
    const bool is_plain = !(from.modifiers | (in.flags & (kDpp | kSdwa)));
    if (__builtin_expect(!is_plain, 0)) return read_unusual(w, in, k, room, type);
    if (from.kind == kVector) return {w.v[from.index].lane, w.defined[from.index], w.origin[from.index]};
    if (from.kind == kConstant) return {broadcast(room, (uint32_t)from.bits).lane, Defined::of(kAll), kNowhere};
    return {broadcast(room, w.s[from.index]).lane, scalar_bytes(w.scalar_defined[from.index]),
            w.scalar_origin[from.index]};
}

// The 64 bits of source k (two registers, or a constant) in each lane; As::f64 applies modifiers.
Source64 read64(Wave& w, const Instruction& in, int k, Vector64& room, As type = As::bits);

// Lanes that a vector instruction writes: EXEC, less the lanes whose DPP source is invalid.
KM_HOT uint64_t written_lanes(const Wave& w) { return w.write_mask; }

// `yes` in these lanes, else `no`; a mask as a vector of bits becomes mask registers where there are such.
KM_HOT void choose_lanes(uint32_t* to, const uint32_t* yes, const uint32_t* no, uint64_t lanes) {
    using Bools = bool __attribute__((ext_vector_type(kLanes)));
    using Words = uint32_t __attribute__((ext_vector_type(kLanes)));
    const Words taken = -__builtin_convertvector(__builtin_bit_cast(Bools, lanes), Words);
    Words a, b;
    memcpy(&a, yes, sizeof a);
    memcpy(&b, no, sizeof b);
    a = (a & taken) | (b & ~taken);
    memcpy(to, &a, sizeof a);
}

// The mask of lanes whose flag is not 0.
KM_HOT uint64_t mask_of(const uint8_t (&flags)[kLanes]) {
    using Bytes = int8_t __attribute__((ext_vector_type(kLanes)));
    using Bools = bool __attribute__((ext_vector_type(kLanes)));
    Bytes bytes;
    memcpy(&bytes, flags, sizeof bytes);
    return __builtin_bit_cast(uint64_t, __builtin_convertvector(bytes != 0, Bools));
}

KM_HOT void blend(uint32_t* to, const uint32_t* from, uint64_t lanes) {
    if (__builtin_expect(lanes == kAll, 1))
        memcpy(to, from, sizeof(Vector));
    else
        choose_lanes(to, from, to, lanes);
}

KM_HOT void set_defined(Wave& w, uint32_t index, const Defined& defined, uint64_t lanes, uint32_t origin) {
    Defined& d = w.defined[index];
    for (int b = 0; b < 4; b++) d.byte[b] = (d.byte[b] & ~lanes) | (defined.byte[b] & lanes);
    if (__builtin_expect((defined.whole() & lanes) != lanes, 0)) w.origin[index] = origin;
}

// Writes one result of 32 bits (16-bit results: the upper half becomes zero unless the instruction keeps it).
KM_HOT void write32(Wave& w, const Instruction& in, const Operand& to, Vector& values, const Defined& defined,
                    uint32_t origin, As type = As::bits) {
    if (__builtin_expect((in.flags & (kClamp | kSdwa)) || in.output_modifier || to.modifiers, 0)) {
        write_unusual(w, in, to, values, defined, type);
        if ((defined.whole() & w.write_mask) != w.write_mask) w.origin[to.index] = origin;
        return;
    }
    blend(w.v[to.index].lane, values.lane, w.write_mask);
    set_defined(w, to.index, defined, w.write_mask, origin);
}

// Writes two registers; `defined`: lanes of which all eight bytes are.
void write64(Wave& w, const Instruction& in, const Operand& to, const Vector64& values, uint64_t defined,
             uint32_t origin, As type = As::bits);

// Writes a mask of lanes to two scalar registers (vcc, exec, or any pair): bits outside EXEC become 0. Undefined where
// `defined` says so of a lane.
void write_mask(Wave& w, const Operand& to, uint64_t lanes, uint64_t defined, uint32_t origin);

// The scalar sources.
struct Scalar {
    uint64_t value, defined;  // one bit a bit
    uint32_t origin;
};

KM_HOT Scalar read_scalar(const Wave& w, const Instruction& in, int k) {
    const Operand& from = in.source[k];
    if (from.kind == kConstant) return {from.bits, kAll, kNowhere};
    if (from.dwords < 2) return {w.s[from.index], w.scalar_defined[from.index], w.scalar_origin[from.index]};
    return {w.scalar64(from.index), w.scalar_defined[from.index] | (uint64_t)w.scalar_defined[from.index + 1] << 32,
            ~w.scalar_defined[from.index] ? w.scalar_origin[from.index] : w.scalar_origin[from.index + 1]};
}

KM_HOT void write_scalar(Wave& w, const Operand& to, uint64_t value, uint64_t defined, uint32_t origin) {
    for (uint32_t i = 0; i < to.dwords; i++) {
        w.s[to.index + i] = (uint32_t)(value >> 32 * i);
        w.scalar_defined[to.index + i] = (uint32_t)(defined >> 32 * i);
        w.scalar_origin[to.index + i] = origin;
    }
}

KM_HOT void write_scc(Wave& w, bool value, bool defined, uint32_t origin) {
    w.s[kScc] = value;
    w.scalar_defined[kScc] = defined ? ~0u : 0;
    w.scalar_origin[kScc] = origin;
}

// Where an instruction's undefined result came from: the source's origin, or the instruction itself.
KM_HOT uint32_t origin_of(const Wave& w, uint64_t defined_a, uint32_t a, uint64_t defined_b = kAll,
                          uint32_t b = kNowhere) {
    if (w.write_mask & ~defined_a && a != kNowhere) return a;
    if (w.write_mask & ~defined_b && b != kNowhere) return b;
    return w.at;
}

// The usual instruction on 32-bit lanes: all bytes of all sources make all bytes of the result.
template <class T> KM_HOT T as(uint32_t bits) {
    T value;
    static_assert(sizeof value == 4);
    memcpy(&value, &bits, 4);
    return value;
}
template <class T> KM_HOT uint32_t bits_of(T value) {
    uint32_t bits;
    static_assert(sizeof value == 4);
    memcpy(&bits, &value, 4);
    return bits;
}

template <class T> constexpr As kType = As::bits;
template <> inline constexpr As kType<float> = As::f32;

template <class T, class F> KM_HOT void unary(Wave& w, const Instruction& in, F f) {
    Vector room, result;
    const Source a = read32(w, in, 0, room, kType<T>);
    for (int l = 0; l < kLanes; l++) result.lane[l] = bits_of(f(as<T>(a.lane[l])));
    write32(w, in, in.result[0], result, Defined::of(a.defined.whole()), a.origin, kType<T>);
}

template <class T, class F> KM_HOT void binary(Wave& w, const Instruction& in, F f) {
    Vector room_a, room_b, result;
    const Source a = read32(w, in, 0, room_a, kType<T>), b = read32(w, in, 1, room_b, kType<T>);
    for (int l = 0; l < kLanes; l++) result.lane[l] = bits_of(f(as<T>(a.lane[l]), as<T>(b.lane[l])));
    const uint64_t da = a.defined.whole(), db = b.defined.whole();
    write32(w, in, in.result[0], result, Defined::of(da & db), origin_of(w, da, a.origin, db, b.origin), kType<T>);
}

template <class T, class F> KM_HOT void ternary(Wave& w, const Instruction& in, F f) {
    Vector room_a, room_b, room_c, result;
    const Source a = read32(w, in, 0, room_a, kType<T>), b = read32(w, in, 1, room_b, kType<T>);
    const Source c = read32(w, in, 2, room_c, kType<T>);
    for (int l = 0; l < kLanes; l++) result.lane[l] = bits_of(f(as<T>(a.lane[l]), as<T>(b.lane[l]), as<T>(c.lane[l])));
    const uint64_t da = a.defined.whole(), db = b.defined.whole(), dc = c.defined.whole();
    const bool is_first = w.write_mask & ~(da & db);
    const uint32_t origin = is_first ? origin_of(w, da, a.origin, db, b.origin) : origin_of(w, dc, c.origin);
    write32(w, in, in.result[0], result, Defined::of(da & db & dc), origin, kType<T>);
}

}  // namespace machine
