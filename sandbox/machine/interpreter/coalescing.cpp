#include "coalescing.h"

#include <string.h>

namespace machine {

// A size that divides addresses: a power of two on every device so far, for which a shift is enough.
struct Divisor {
    uint64_t size;
    int shift;

    explicit Divisor(uint64_t bytes) : size(bytes), shift(bytes & (bytes - 1) ? -1 : __builtin_ctzll(bytes)) {}
    uint64_t of(uint64_t address) const { return shift < 0 ? address / size : address >> shift; }
};

// Adds to a short list unless it is there; the newest entries are tried first.
static inline void add_once(uint64_t* list, uint32_t& count, uint64_t value) {
    for (uint32_t i = count; i-- > 0;)
        if (list[i] == value) return;
    list[count++] = value;
}

static inline void add_part(Lines& lines, uint32_t& count, uint64_t line, uint32_t part) {
    uint32_t i = count;
    while (i > 0 && lines.line[i - 1] != line) i--;
    if (i) {
        lines.parts[i - 1] |= 1u << part;
    } else if (count < kMaxLines) {
        lines.line[count] = line;
        lines.parts[count++] = 1u << part;
    }
}

// Lanes of which each stays within a line behind those of the lanes before it: nothing is shared. False where it is not
// so.
static bool count_apart(const Instance& instance, const RequestHeader& device, SiteCounts& counts, Lines& lines,
                        uint32_t& line_count) {
    const uint64_t last = instance.size - 1;
    const Divisor unit(device.segment_bytes), line(device.line_bytes), fill(device.fill_bytes);
    if (unit.shift < 0 || line.shift < 0 || fill.shift < 0 || !instance.size || instance.size > 128) return false;
    uint64_t next = 0, segments = 0;
    line_count = 0;
    for (uint64_t rest = instance.mask; rest; rest &= rest - 1) {
        const uint64_t low = instance.address[__builtin_ctzll(rest)], high = low + last, own = low >> line.shift;
        if (own < next || high >> line.shift != own) return false;
        next = own + 1;
        segments += (high >> unit.shift) - (low >> unit.shift) + 1;
        const uint64_t first = own << line.shift >> fill.shift;
        const uint32_t low_part = (uint32_t)((low >> fill.shift) - first),
                       high_part = (uint32_t)((high >> fill.shift) - first);
        lines.line[line_count] = own;
        lines.parts[line_count++] = (2u << high_part) - (1u << low_part);
    }
    const uint64_t clock = device.l1_bytes_per_clock;
    for (uint32_t first = 0; first < 64; first += (uint32_t)device.address_lanes) {
        const uint64_t group = instance.mask >> first & (~0ull >> (64 - device.address_lanes));
        const uint64_t here = (uint64_t)__builtin_popcountll(group), bytes = here * instance.size;
        const uint64_t data = (bytes + clock - 1) / clock;
        counts.unit_cycles += here > data ? here : data;
        counts.bytes += bytes;
    }
    counts.accesses += segments;
    counts.lines += line_count;
    counts.segments += segments;
    return true;
}

uint32_t count_global(const Instance& instance, const RequestHeader& device, SiteCounts& counts, Lines& lines) {
    uint64_t segments[kMaxLines], before = 0;
    uint32_t line_count = 0;
    if (count_apart(instance, device, counts, lines, line_count)) return line_count;
    line_count = 0;
    uint32_t segment_count = 0, group = (uint32_t)device.address_lanes;
    uint64_t size = instance.size > 128 ? 128 : instance.size;
    const Divisor unit(device.segment_bytes), line(device.line_bytes), fill(device.fill_bytes);
    for (uint32_t first = 0; first < 64; first += group) {
        uint64_t group_lines[kMaxLines / 2], quad_segments[16], group_bytes = 0;
        uint32_t group_count = 0;
        for (uint32_t quad = first; quad < first + group; quad += 4) {
            uint32_t quad_count = 0;
            for (uint32_t l = quad; l < quad + 4; l++) {
                if (!(instance.mask >> l & 1)) continue;
                uint64_t low = instance.address[l], high = low + size - 1;
                for (uint64_t s = unit.of(low); s <= unit.of(high); s++) {
                    if (quad_count < 16) add_once(quad_segments, quad_count, s);
                    if (segment_count < kMaxLines) add_once(segments, segment_count, s);
                }
                for (uint64_t n = line.of(low); n <= line.of(high); n++)
                    if (group_count < kMaxLines / 2) add_once(group_lines, group_count, n);
                for (uint64_t f = fill.of(low); f <= fill.of(high); f++) {
                    uint64_t at = f * fill.size, n = line.of(at);
                    add_part(lines, line_count, n, (uint32_t)fill.of(at - n * line.size));
                }
                if (low != before || !group_bytes) group_bytes += size;
                before = low;
            }
            counts.accesses += quad_count;
        }
        uint64_t cycles = group_count, data = (group_bytes + device.l1_bytes_per_clock - 1) / device.l1_bytes_per_clock;
        if (data > cycles) cycles = data;
        counts.unit_cycles += cycles;
        counts.bytes += group_bytes;
    }
    counts.lines += line_count;
    counts.segments += segment_count;
    return line_count;
}

static bool holds(const uint64_t* list, uint32_t count, const uint64_t* wanted, uint32_t wanted_count) {
    for (uint32_t i = 0; i < wanted_count; i++) {
        bool found = false;
        for (uint32_t k = 0; k < count && !found; k++) found = list[k] == wanted[i];
        if (!found) return false;
    }
    return true;
}

void count_lds(const Instance& instance, const LdsPhases& phases, bool merges, SiteCounts& counts) {
    bool write = counts.access != kLdsLoad, atomic = counts.access == kLdsAtomic;
    uint32_t words = (instance.size + 3) / 4 ? (instance.size + 3) / 4 : 1;
    uint32_t rest = words;
    for (uint32_t first = 0; rest; first += 4) {
        uint32_t width = rest > 4 ? 4 : rest;
        const uint8_t* phase = phases.phase[write][width - 1];
        uint64_t seen[16][256];
        uint32_t seen_count[16] = {};
        uint8_t bank_load[16][32] = {};
        bool used[16] = {};
        for (uint32_t l = 0; l < 64; l++) {
            if (!(instance.mask >> l & 1)) continue;
            uint32_t group = phase[l] & 15;
            used[group] = true;
            for (uint32_t w = 0; w < width; w++) {
                uint64_t word = instance.address[l] / 4 + first + w;
                uint32_t& count = seen_count[group];
                bool repeated = false;
                for (uint32_t i = count; !atomic && i-- > 0 && !repeated;) repeated = seen[group][i] == word;
                if (repeated) continue;  // the same word for several lanes is one access
                seen[group][count++] = word;
                bank_load[group][word % 32]++;
            }
        }
        for (uint32_t group = 0; group < 16; group++) {
            if (!used[group]) continue;
            if (merges && group % 2 && used[group - 1] &&
                holds(seen[group - 1], seen_count[group - 1], seen[group], seen_count[group]))
                continue;
            uint32_t worst = 1;
            for (uint32_t bank = 0; bank < 32; bank++)
                if (bank_load[group][bank] > worst) worst = bank_load[group][bank];
            counts.unit_cycles += worst;
            counts.conflicts += worst - 1;
        }
        counts.port_cycles += 4 * width + (write ? 4 : 0);
        rest -= width;
    }
    counts.bytes += (uint64_t)instance.size * __builtin_popcountll(instance.mask);
}

}  // namespace machine
