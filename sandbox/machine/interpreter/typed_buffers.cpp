// Loads and stores of buffers whose elements have a format: one to four components, which become a register each, or half
// of one. The format stands in the instruction (tbuffer_) or in the descriptor (buffer_..._format_).
#include "lane_registers.h"
#include "memory_model.h"
#include "places.h"
#include "report.h"

namespace machine {

namespace {

enum class Number : uint8_t { unorm, snorm, uscaled, sscaled, uint, sint, none, real };

struct DataFormat {
    uint8_t bytes, bits[4];  // of the components, from the lowest bit on
};

// By the codes of the data format, 8 to 32_32_32_32; 0 and 15 are none.
constexpr DataFormat kFormats[16] = {{},
                                     {1, {8}},
                                     {2, {16}},
                                     {2, {8, 8}},
                                     {4, {32}},
                                     {4, {16, 16}},
                                     {4, {11, 11, 10}},
                                     {4, {10, 11, 11}},
                                     {4, {2, 10, 10, 10}},
                                     {4, {10, 10, 10, 2}},
                                     {4, {8, 8, 8, 8}},
                                     {8, {32, 32}},
                                     {8, {16, 16, 16, 16}},
                                     {12, {32, 32, 32}},
                                     {16, {32, 32, 32, 32}},
                                     {}};
constexpr uint32_t kFirstComponent = 4, kIdentity = 4 | 5 << 3 | 6 << 6 | 7 << 9;  // of DST_SEL; 0 and 1 are themselves

struct Format {
    DataFormat data;
    Number number;
    uint32_t selects;     // three bits for each component that the instruction names
    uint32_t components;  // that it names
    bool is_half;         // they are 16 bits each in registers

    bool is_integer() const { return number == Number::uint || number == Number::sint; }
    uint32_t one() const { return is_integer() ? 1 : is_half ? 0x3c00 : 0x3f800000; }
    uint32_t first_bit(uint32_t c) const {
        uint32_t bit = 0;
        for (uint32_t i = 0; i < c; i++) bit += data.bits[i];
        return bit;
    }
};

// The format of this access; false after a report of one that the hardware does not have. Without a format in the text
// it is 8, unorm.
bool read_format(Wave& wave, const Instruction& in, bool is_typed, bool is_half, bool is_store, Format& to) {
    const uint32_t described = wave.s[in.source[kDescriptorSource].index + 3];
    const uint32_t code = !is_typed ? (described >> 15 & 15) | (described >> 12 & 7) << 4 : in.control ? in.control : 1;
    to.data = kFormats[code & 15];
    to.number = (Number)(code >> 4 & 7);
    to.selects = is_typed ? kIdentity : described & 0xfff;
    to.is_half = is_half;
    to.components = in.bytes / (is_half ? 2 : 4);
    bool is_good = to.data.bytes && to.number != Number::none && !(in.flags & kToLds);
    for (uint32_t c = 0; c < 4; c++) {
        const uint32_t bits = to.data.bits[c], select = to.selects >> 3 * c & 7;
        const bool is_real =
            bits == 16 || bits == 32 || (!is_store && (bits == 10 || bits == 11) && to.data.bits[0] != 2);
        is_good &= !bits || (to.number == Number::real ? is_real : bits != 32 || to.is_integer());
        if (is_store)  // every component is stored, as it stands
            is_good &= !bits || (c < to.components && select == kFirstComponent + c);
        else
            is_good &= c >= to.components || select < 2 || select >= kFirstComponent;
    }
    is_good &= !is_store || to.number <= Number::snorm || to.is_integer() || to.number == Number::real;
    if (!is_good) report(wave, kIllegal, wave.exec(), 1);
    return is_good;
}

float half_value(uint32_t bits) {
    const uint16_t low = (uint16_t)bits;
    _Float16 half;
    memcpy(&half, &low, 2);
    return (float)half;
}

uint32_t half_bits(float value) {
    const _Float16 half = (_Float16)value;
    uint16_t bits;
    memcpy(&bits, &half, 2);
    return bits;
}

float value_of(uint32_t bits) {
    float value;
    memcpy(&value, &bits, 4);
    return value;
}

uint32_t bits_of(float value) {
    uint32_t bits;
    memcpy(&bits, &value, 4);
    return bits;
}

int32_t extended(uint32_t raw, uint32_t bits) { return (int32_t)(raw << (32 - bits)) >> (32 - bits); }

float real_value(uint32_t raw, uint32_t bits, Number number) {
    const float whole = (float)((1u << bits) - 1), half = (float)((1u << (bits - 1)) - 1);
    const int32_t value = extended(raw, bits);
    switch (number) {
    case Number::unorm:
        return (float)raw / whole;
    case Number::snorm:
        return (float)value / half < -1 ? -1 : (float)value / half;
    case Number::uscaled:
        return (float)raw;
    case Number::sscaled:
        return (float)value;
    default:  // floats of 10 and 11 bits are halves without a sign and without their last bits
        return half_value(bits == 16 ? raw : raw << (15 - bits));
    }
}

// A component as its register holds it, in 32 or in 16 bits.
uint32_t loaded(uint32_t raw, uint32_t bits, const Format& format) {
    uint32_t value = raw;
    if (format.number == Number::sint)
        value = (uint32_t)extended(raw, bits);
    else if (!format.is_integer() && !(bits == 32 || (bits == 16 && format.number == Number::real && format.is_half)))
        value = format.is_half ? half_bits(real_value(raw, bits, format.number))
                               : bits_of(real_value(raw, bits, format.number));
    else if (bits == 32 && format.number == Number::real && format.is_half)
        value = half_bits(value_of(raw));
    return format.is_half ? value & 0xffff : value;
}

// A register's value as a component: clamped to what it holds.
uint32_t stored(uint32_t value, uint32_t bits, const Format& format) {
    const uint64_t most = (1ull << bits) - 1;
    const int64_t half = (int64_t)(most >> 1);
    if (format.number == Number::uint) return (uint32_t)(value < most ? value : most);
    if (format.number == Number::sint) {
        const int64_t whole = format.is_half ? (int16_t)value : (int32_t)value;
        return (uint32_t)((uint64_t)(whole > half ? half : whole < ~half ? ~half : whole) & most);
    }
    const float real = format.is_half ? half_value(value) : value_of(value);
    if (format.number == Number::real) {
        if (bits == 16) return format.is_half ? value : half_bits(real);
        return bits_of(real);
    }
    const float low = format.number == Number::snorm ? -1 : 0;
    const float kept = real >= low ? real < 1 ? real : 1 : real < low ? low : 0;  // NaN becomes 0
    const float scaled = kept * (float)(format.number == Number::snorm ? half : (int64_t)most);
    return (uint32_t)((uint64_t)(int64_t)__builtin_rintf(scaled) & most);
}

uint32_t raw_bits(const LaneData& data, int lane, uint32_t first, uint32_t bits) {
    return data.dword[first / 32].lane[lane] >> first % 32 & (uint32_t)((1ull << bits) - 1);
}

// Lanes in which all bytes of a stretch of bits are defined.
uint64_t known_lanes(const LaneData& data, uint32_t first, uint32_t bits) {
    uint64_t known = kAll;
    for (uint32_t b = first / 8; b <= (first + bits - 1) / 8; b++) known &= data.defined[b / 4].byte[b % 4];
    return known;
}

void set_component(const Format& format, uint32_t i, int lane, uint32_t value, LaneData& to) {
    const uint32_t bits = format.is_half ? 16 : 32, bit = i * bits;
    to.dword[bit / 32].lane[lane] |= value << bit % 32;
}

template <bool kTyped, bool kHalf, Form kForm = Form::zeros> void load(Wave& wave, const Instruction& in) {
    Format format;
    LaneAddresses from;
    LaneData raw, data;
    if (!read_format(wave, in, kTyped, kHalf, false, format) || !buffer_addresses(wave, in, format.data.bytes, from))
        return;
    clear(raw, 16);
    clear(data, 16);
    const uint64_t inside = from.lanes, lanes = wave.exec();
    if (!visit_global(wave, from, format.data.bytes, Access::load, [&](Place& place) {
            if (!place.host) return;
            note_access(wave, in, Segment::global, place, Access::load, nullptr, format.data.bytes);
            if (wave.state != kEnded) load_lanes(place, format.data.bytes, raw);
        }))
        return;
    for (Defined& each : data.defined) each = Defined::of(kAll);
    for (uint32_t i = 0; i < format.components; i++) {
        const uint32_t select = format.selects >> 3 * i & 7, c = select - kFirstComponent;
        const uint32_t bits = select < kFirstComponent ? 0 : format.data.bits[c], first = format.first_bit(c & 3);
        const uint32_t otherwise = select == 1 || select == kFirstComponent + 3 ? format.one() : 0;
        for (uint64_t rest = inside; rest; rest &= rest - 1) {
            const int l = __builtin_ctzll(rest);
            set_component(format, i, l, bits ? loaded(raw_bits(raw, l, first, bits), bits, format) : otherwise, data);
        }
        const uint64_t known = bits ? known_lanes(raw, first, bits) | ~inside : kAll;
        for (uint32_t b = 0; b < (kHalf ? 2 : 4); b++) {
            const uint32_t byte = i * (kHalf ? 2 : 4) + b;
            data.defined[byte / 4].byte[byte % 4] = known;
        }
    }
    give(wave, in, data, in.bytes, lanes, kForm);
    issue(wave, in, kCountsVector);
}

template <bool kTyped, bool kHalf, bool kHigh = false> void store(Wave& wave, const Instruction& in) {
    Format format;
    LaneAddresses to;
    LaneData from, data;
    if (!read_format(wave, in, kTyped, kHalf, true, format) || !buffer_addresses(wave, in, format.data.bytes, to))
        return;
    clear(from, 16);
    clear(data, 16);
    take(wave, in.source[kDataSource], kHigh, from);
    for (Defined& each : data.defined) each = Defined::of(kAll);
    for (uint32_t c = 0; c < format.components && format.data.bits[c]; c++) {
        const uint32_t bits = format.data.bits[c], first = format.first_bit(c), width = kHalf ? 16 : 32;
        for (int l = 0; l < kLanes; l++)
            data.dword[first / 32].lane[l] |= stored(raw_bits(from, l, c * width, width), bits, format) << first % 32;
        const uint64_t known = known_lanes(from, c * width, width);
        for (uint32_t b = first / 8; b <= (first + bits - 1) / 8; b++) data.defined[b / 4].byte[b % 4] &= known;
    }
    if (visit_global(wave, to, format.data.bytes, Access::store, [&](Place& place) {
            if (!place.host) return;
            note_access(wave, in, Segment::global, place, Access::store, &data, format.data.bytes);
            if (wave.state != kEnded) store_lanes(place, format.data.bytes, data);
        }))
        issue(wave, in, kCountsVector);
}

}  // namespace

#define FORMATTED(PREFIX, TYPED)                                                                 \
    {PREFIX "_load_format", load<TYPED, false>}, {PREFIX "_load_format_d16", load<TYPED, true>}, \
        {PREFIX "_store_format", store<TYPED, false>}, {                                         \
        PREFIX "_store_format_d16", store<TYPED, true>                                           \
    }

MACHINE_SEMANTICS(kTypedBuffers, FORMATTED("buffer", false), FORMATTED("tbuffer", true),
                  {"buffer_load_format_d16_high", load<false, true, Form::high_half>},
                  {"buffer_store_format_d16_high", store<false, true, true>})

}  // namespace machine
