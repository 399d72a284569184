#include "lane_registers.h"

#include "report.h"

namespace machine {

namespace {

bool is_signed(Form form) { return form == Form::sign || form == Form::low_half_sign || form == Form::high_half_sign; }

void extend(LaneData& data, uint32_t bytes) {
    for (uint32_t& value : data.dword[0].lane) value = bytes == 1 ? (uint32_t)(int8_t)value : (uint32_t)(int16_t)value;
    for (uint32_t b = bytes; b < 4; b++) data.defined[0].byte[b] = data.defined[0].byte[bytes - 1];
}

// Puts the lower half of the data into one half of the register, whose other half stays.
void merge_half(const Wave& wave, uint32_t index, LaneData& data, bool is_high) {
    const Vector& old = wave.v[index];
    Defined merged = wave.defined[index];
    for (int l = 0; l < kLanes; l++) {
        const uint32_t half = data.dword[0].lane[l] & 0xffff;
        data.dword[0].lane[l] = is_high ? (old.lane[l] & 0xffff) | half << 16 : (old.lane[l] & 0xffff0000u) | half;
    }
    merged.byte[is_high ? 2 : 0] = data.defined[0].byte[0];
    merged.byte[is_high ? 3 : 1] = data.defined[0].byte[1];
    data.defined[0] = merged;
}

}  // namespace

void clear(LaneData& data, uint32_t bytes) {
    for (uint32_t d = 0; d < (bytes + 3) / 4 && d < 4; d++) {
        data.defined[d] = {};
        data.dword[d] = {};
    }
}

void take(const Wave& wave, const Operand& from, bool is_high, LaneData& data) {
    for (uint32_t d = 0; d < from.dwords && d < 4; d++) {
        data.dword[d] = wave.v[from.index + d];
        data.defined[d] = wave.defined[from.index + d];
    }
    if (!is_high) return;
    for (uint32_t& value : data.dword[0].lane) value >>= 16;
    data.defined[0].byte[0] = data.defined[0].byte[2];
    data.defined[0].byte[1] = data.defined[0].byte[3];
}

bool take_scalars(Wave& wave, const Operand& from, LaneData& data) {
    if (from.kind != kScalar) return false;
    const int l = scalar_lane(wave);
    clear(data, 16);
    for (uint32_t d = 0; d < from.dwords && d < 4; d++) {
        const uint32_t index = from.index + d;
        if (~wave.scalar_defined[index]) report_undefined(wave, 1ull << l, wave.scalar_origin[index]);
        data.dword[d].lane[l] = wave.s[index];
        data.defined[d] = Defined::of(kAll);
    }
    return true;
}

void give(Wave& wave, const Instruction& in, LaneData& data, uint32_t bytes, uint64_t lanes, Form form,
          uint32_t skipped) {
    const uint32_t index = in.result[0].index + skipped, dwords = (bytes + 3) / 4;
    if (skipped + dwords > in.result[0].dwords) return;
    if (bytes < 4) {  // what the load leaves out is zeros, so it is defined
        for (uint32_t b = bytes; b < 4; b++) data.defined[0].byte[b] |= lanes;
        if (is_signed(form)) extend(data, bytes);
        const bool is_high = form == Form::high_half || form == Form::high_half_sign;
        if (form != Form::zeros && form != Form::sign) merge_half(wave, index, data, is_high);
    }
    for (uint32_t d = 0; d < dwords; d++) {
        blend(wave.v[index + d].lane, data.dword[d].lane, lanes);
        set_defined(wave, index + d, data.defined[d], lanes, wave.at);
    }
}

}  // namespace machine
