// Sources by way of DPP and SDWA, with modifiers; results with clamp, omod, SDWA's selection and halves; 64-bit lanes.
#include "operands.h"

namespace machine {

namespace {

constexpr int kNoLane = -1;

// The lane that lane `l` reads under dpp_ctrl, or kNoLane where it lies outside the row or the wave.
int dpp_lane(uint32_t control, int l) {
    const int row = l & ~15, place = l & 15, count = control & 15;
    if (control < 0x100) return (l & ~3) | (control >> (2 * (l & 3)) & 3);  // quad_perm
    switch (control >> 4) {
    case 0x10:
        return place + count < 16 ? l + count : kNoLane;  // row_shl
    case 0x11:
        return place >= count ? l - count : kNoLane;  // row_shr
    case 0x12:
        return row | ((place - count) & 15);  // row_ror
    case 0x15:
        return row | count;  // row_newbcast
    }
    switch (control) {
    case 0x130:
        return l < 63 ? l + 1 : kNoLane;  // wave_shl
    case 0x134:
        return (l + 1) & 63;  // wave_rol
    case 0x138:
        return l > 0 ? l - 1 : kNoLane;  // wave_shr
    case 0x13c:
        return (l - 1) & 63;  // wave_ror
    case 0x140:
        return row | (15 - place);  // row_mirror
    case 0x141:
        return (l & ~7) | (7 - (l & 7));  // row_half_mirror
    case 0x142:
        return l >= 16 ? row - 1 : kNoLane;  // row_bcast:15
    case 0x143:
        return l >= 32 ? (l & 32) - 1 : kNoLane;  // row_bcast:31
    }
    return kNoLane;
}

// The lanes that row_mask and bank_mask let a DPP instruction write.
uint64_t dpp_written(const Instruction& in) {
    uint64_t lanes = 0;
    for (int group = 0; group < 16; group++)
        if (in.row_mask >> (group / 4) & 1 && in.bank_mask >> (group % 4) & 1) lanes |= 15ull << (4 * group);
    return lanes;
}

bool comes_by_dpp(const Instruction& in, int k) { return in.flags & kDpp && k == (in.flags & kDppOnSecond ? 1 : 0); }

struct Permutation {
    int8_t from[kLanes];  // kNoLane: the lane reads 0
};

// Where each lane reads, with the lanes that are not written taken out of the wave's write mask. A lane that EXEC masks
// off is no valid source: without bound_ctrl its reader is not written, with it the reader gets 0. Kernels rely on both
// (update_dpp with the identity of a sum), so it is no fault.
void permute(Wave& w, const Instruction& in, Permutation& permutation) {
    const uint64_t exec = w.exec();
    uint64_t invalid = 0;
    for (int l = 0; l < kLanes; l++) {
        int from = dpp_lane(in.control, l);
        if (from != kNoLane && !(exec >> from & 1)) from = kNoLane;
        if (from == kNoLane) invalid |= 1ull << l;
        permutation.from[l] = (int8_t)from;
    }
    w.write_mask &= dpp_written(in);
    if (!(in.flags & kBoundControl)) w.write_mask &= ~invalid;
}

uint64_t permuted(uint64_t bits, const Permutation& permutation) {
    uint64_t result = 0;
    for (int l = 0; l < kLanes; l++) {
        const int from = permutation.from[l];
        result |= (from == kNoLane ? 1 : bits >> from & 1) << l;
    }
    return result;
}

void apply_permutation(const Permutation& permutation, uint32_t* to, const uint32_t* from, Defined& defined) {
    for (int l = 0; l < kLanes; l++) to[l] = permutation.from[l] == kNoLane ? 0 : from[permutation.from[l]];
    for (int b = 0; b < 4; b++) defined.byte[b] = permuted(defined.byte[b], permutation);
}

struct Selection {
    int first, bytes;
};

Selection selection_of(uint8_t select) {
    if (select == kDword || select > kWord1) return {0, 4};
    return select < kWord0 ? Selection{select - kByte0, 1} : Selection{2 * (select - kWord0), 2};
}

// SDWA's selection of a source: the bytes move down, the rest becomes 0 or copies of the sign.
const uint32_t* select_source(const uint32_t* from, uint32_t* lane, Defined& defined, uint8_t select, bool sign) {
    const Selection s = selection_of(select);
    const int above = 32 - 8 * (s.first + s.bytes), down = 32 - 8 * s.bytes;
    if (sign)
        for (int l = 0; l < kLanes; l++) lane[l] = (uint32_t)((int32_t)(from[l] << above) >> down);
    else
        for (int l = 0; l < kLanes; l++) lane[l] = from[l] << above >> down;
    Defined moved = Defined::of(sign ? defined.byte[s.first + s.bytes - 1] : kAll);
    for (int b = 0; b < s.bytes; b++) moved.byte[b] = defined.byte[s.first + b];
    defined = moved;
    return lane;
}

float modified(const Wave& w, const Instruction& in, float x) {
    if (in.output_modifier) x *= in.output_modifier == 1 ? 2.0f : in.output_modifier == 2 ? 4.0f : 0.5f;
    if (in.flags & kClamp) x = x != x ? (w.mode.dx10_clamp ? 0.0f : x) : x > 0 ? (x < 1 ? x : 1.0f) : 0.0f;
    return x;
}

bool takes_output_modifier(const Wave& w, const Instruction& in, As type) {
    const int denormals = type == As::f32 ? w.mode.denormal_single : w.mode.denormal_double;
    return in.output_modifier && !w.mode.ieee && !(denormals & 2);  // else the unit ignores omod
}

uint32_t clamped_half(const Wave& w, uint32_t x) {
    const uint32_t magnitude = x & 0x7fff;
    if (magnitude > 0x7c00) return w.mode.dx10_clamp ? 0 : x;
    return x & 0x8000 || !magnitude ? 0 : magnitude < 0x3c00 ? x : 0x3c00;
}

uint32_t scaled_half(uint32_t x, int by) {  // omod flushes denormals and the sign of zero
    const uint32_t exponent = x >> 10 & 31;
    if (exponent == 31) return x;
    const int scaled = (int)exponent + by;
    if (!exponent || scaled <= 0) return 0;
    return scaled >= 31 ? (x & 0x8000) | 0x7c00 : (x & 0x83ff) | (uint32_t)scaled << 10;
}

void modify_results(const Wave& w, const Instruction& in, uint32_t* lane, As type) {
    const bool is_scaled = takes_output_modifier(w, in, type);
    Instruction effective = in;
    if (!is_scaled) effective.output_modifier = 0;
    for (int l = 0; l < kLanes; l++) {
        if (type == As::f16) {
            uint32_t half = lane[l] & 0xffff;
            if (is_scaled) half = scaled_half(half, in.output_modifier == 3 ? -1 : in.output_modifier);
            if (in.flags & kClamp) half = clamped_half(w, half);
            lane[l] = (lane[l] & 0xffff0000) | half;
        } else {
            uint32_t bits = bits_of(modified(w, effective, as<float>(lane[l])));
            if (is_scaled && !(bits & 0x7f800000)) bits = 0;
            lane[l] = bits;
        }
    }
}

// Moves the result to its place, and what it leaves of the register: zeros, copies of the sign, or what was there.
void place_result(const Wave& w, const Operand& to, uint32_t* lane, Defined& defined, Selection s, bool keeps,
                  bool signs) {
    const uint32_t mask = (s.bytes == 4 ? ~0u : (1u << 8 * s.bytes) - 1) << 8 * s.first;
    const int top = 8 * (s.first + s.bytes);
    for (int l = 0; l < kLanes; l++) {
        uint32_t x = lane[l] << 8 * s.first & mask;
        if (keeps) x |= w.v[to.index].lane[l] & ~mask;
        if (signs && top < 32 && x >> (top - 1) & 1) x |= ~0u << top;
        lane[l] = x;
    }
    Defined moved = keeps ? w.defined[to.index] : Defined::of(kAll);
    for (int b = 0; b < s.bytes; b++) moved.byte[s.first + b] = defined.byte[b];
    if (signs)
        for (int b = s.first + s.bytes; b < 4; b++) moved.byte[b] = defined.byte[s.bytes - 1];
    defined = moved;
}

}  // namespace

Vector& broadcast(Vector& room, uint32_t value) {
    for (int l = 0; l < kLanes; l++) room.lane[l] = value;
    return room;
}

Source read_unusual(Wave& w, const Instruction& in, int k, Vector& room, As type) {
    const Operand& from = in.source[k];
    Source source{room.lane, Defined::of(kAll), kNowhere};
    const uint32_t* lane = room.lane;
    if (from.kind == kVector) {
        source.defined = w.defined[from.index];
        source.origin = w.origin[from.index];
        if (comes_by_dpp(in, k)) {
            Permutation permutation;
            permute(w, in, permutation);
            apply_permutation(permutation, room.lane, w.v[from.index].lane, source.defined);
        } else {
            lane = w.v[from.index].lane;
        }
    } else if (from.kind == kConstant) {
        broadcast(room, (uint32_t)from.bits);
    } else {
        broadcast(room, w.s[from.index]);
        source.defined = scalar_bytes(w.scalar_defined[from.index]);
        source.origin = w.scalar_origin[from.index];
    }
    const bool is_half = type == As::f16 || type == As::bf16;
    if (in.flags & kSdwa && from.select != kDword)
        lane = select_source(lane, room.lane, source.defined, from.select, from.modifiers & kSignExtend);
    if (from.modifiers & kHigh && from.kind != kConstant)
        lane = select_source(lane, room.lane, source.defined, kWord1, false);
    if (!(from.modifiers & (kAbsolute | kNegate))) return {lane, source.defined, source.origin};
    const uint32_t sign = is_half ? 0x8000u : 0x80000000u;
    const uint32_t keep = from.modifiers & kAbsolute ? ~sign : ~0u, flip = from.modifiers & kNegate ? sign : 0;
    for (int l = 0; l < kLanes; l++) room.lane[l] = (lane[l] & keep) ^ flip;
    return source;
}

void write_unusual(Wave& w, const Instruction& in, const Operand& to, Vector& values, Defined defined, As type) {
    if (type != As::bits && type != As::bf16 && (in.flags & kClamp || in.output_modifier))
        modify_results(w, in, values.lane, type);
    if (in.flags & kSdwa && in.selected != kDword)
        place_result(w, to, values.lane, defined, selection_of(in.selected), in.flags & kPreservesUnused,
                     in.flags & kSignExtendsUnused);
    else if (to.modifiers & kHigh)
        place_result(w, to, values.lane, defined, {2, 2}, true, false);
    blend(w.v[to.index].lane, values.lane, w.write_mask);
    set_defined(w, to.index, defined, w.write_mask, w.origin[to.index]);
}

Source64 read64(Wave& w, const Instruction& in, int k, Vector64& room, As type) {
    const Operand& from = in.source[k];
    Source64 source{room.lane, kAll, kAll, kAll, kNowhere};
    if (from.kind == kVector) {
        Defined low = w.defined[from.index], high = w.defined[from.index + 1];
        const uint32_t *a = w.v[from.index].lane, *b = w.v[from.index + 1].lane;
        Vector moved[2];
        if (comes_by_dpp(in, k)) {
            Permutation permutation;
            permute(w, in, permutation);
            apply_permutation(permutation, moved[0].lane, a, low);
            apply_permutation(permutation, moved[1].lane, b, high);
            a = moved[0].lane, b = moved[1].lane;
        }
        for (int l = 0; l < kLanes; l++) room.lane[l] = a[l] | (uint64_t)b[l] << 32;
        source.low = low.whole(), source.high = high.whole();
        source.origin = source.low != kAll ? w.origin[from.index] : w.origin[from.index + 1];
    } else if (from.kind == kConstant) {
        for (int l = 0; l < kLanes; l++) room.lane[l] = from.bits;
    } else {
        const bool is_pair = from.dwords > 1;
        const uint64_t value = is_pair ? w.scalar64(from.index) : w.s[from.index];
        for (int l = 0; l < kLanes; l++) room.lane[l] = value;
        source.low = w.scalar_defined[from.index] == ~0u ? kAll : 0;
        source.high = !is_pair || w.scalar_defined[from.index + 1] == ~0u ? kAll : 0;
        source.origin = w.scalar_origin[from.index + (source.low == kAll && is_pair)];
    }
    source.defined = source.low & source.high;
    if (type == As::f64 && from.modifiers & (kNegate | kAbsolute)) {
        const uint64_t sign = 1ull << 63, keep = from.modifiers & kAbsolute ? ~sign : kAll;
        const uint64_t flip = from.modifiers & kNegate ? sign : 0;
        for (int l = 0; l < kLanes; l++) room.lane[l] = (room.lane[l] & keep) ^ flip;
    }
    return source;
}

void write64(Wave& w, const Instruction& in, const Operand& to, const Vector64& values, uint64_t defined,
             uint32_t origin, As type) {
    const bool is_modified = type == As::f64 && (in.flags & kClamp || takes_output_modifier(w, in, type));
    const double scale = !takes_output_modifier(w, in, type) ? 1
                         : in.output_modifier == 3           ? 0.5
                                                             : 2 * in.output_modifier;
    Vector low, high;
    for (int l = 0; l < kLanes; l++) {
        uint64_t bits = values.lane[l];
        if (is_modified) {
            double x;
            memcpy(&x, &bits, 8);
            x *= scale;
            if (in.flags & kClamp) x = x != x ? (w.mode.dx10_clamp ? 0.0 : x) : x > 0 ? (x < 1 ? x : 1.0) : 0.0;
            if (scale != 1 && x < 0x1p-1022 && x > -0x1p-1022) x = 0;
            memcpy(&bits, &x, 8);
        }
        low.lane[l] = (uint32_t)bits;
        high.lane[l] = (uint32_t)(bits >> 32);
    }
    blend(w.v[to.index].lane, low.lane, w.write_mask);
    blend(w.v[to.index + 1].lane, high.lane, w.write_mask);
    set_defined(w, to.index, Defined::of(defined), w.write_mask, origin);
    set_defined(w, to.index + 1, Defined::of(defined), w.write_mask, origin);
}

void write_mask(Wave& w, const Operand& to, uint64_t lanes, uint64_t defined, uint32_t origin) {
    const uint64_t exec = w.exec();
    write_scalar(w, to, lanes & exec, defined | ~exec, origin);
}

}  // namespace machine
