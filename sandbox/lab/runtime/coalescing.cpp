#include "coalescing.h"

#include <string.h>

namespace ks {

// Adds to a short list unless it is there; lanes mostly come in order, so the newest entries are tried first.
static inline void add_once(uint64_t* list, uint32_t& count, uint64_t value) {
    for (uint32_t i = count; i-- > 0;)
        if (list[i] == value) return;
    list[count++] = value;
}

static void add_part(Lines& lines, uint32_t& count, uint64_t line, uint32_t part) {
    for (uint32_t i = count; i-- > 0;) {
        if (lines.line[i] != line) continue;
        lines.parts[i] |= 1u << part;
        return;
    }
    if (count == kMaxLines) return;
    lines.line[count] = line;
    lines.parts[count++] = 1u << part;
}

uint32_t count_global(const Instance& instance, const Header& device, SiteCounts& counts, Lines& lines) {
    uint64_t segments[kMaxLines], before = 0;
    uint32_t line_count = 0, segment_count = 0, group = (uint32_t)device.address_lanes;
    uint64_t size = instance.size > 128 ? 128 : instance.size, unit = device.segment_bytes, line = device.line_bytes;
    for (uint32_t first = 0; first < 64; first += group) {
        uint64_t group_lines[kMaxLines / 2], quad_segments[16], group_bytes = 0;
        uint32_t group_count = 0;
        for (uint32_t quad = first; quad < first + group; quad += 4) {
            uint32_t quad_count = 0;
            for (uint32_t l = quad; l < quad + 4; l++) {
                if (!(instance.mask >> l & 1)) continue;
                uint64_t low = instance.address[l], high = low + size - 1;
                for (uint64_t s = low / unit; s <= high / unit; s++) {
                    if (quad_count < 16) add_once(quad_segments, quad_count, s);
                    if (segment_count < kMaxLines) add_once(segments, segment_count, s);
                }
                for (uint64_t n = low / line; n <= high / line; n++)
                    if (group_count < kMaxLines / 2) add_once(group_lines, group_count, n);
                for (uint64_t f = low / device.fill_bytes; f <= high / device.fill_bytes; f++) {
                    uint64_t at = f * device.fill_bytes;
                    add_part(lines, line_count, at / line, (uint32_t)(at % line / device.fill_bytes));
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

}  // namespace ks
