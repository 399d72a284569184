#include "coalescing.h"

#include <string.h>

namespace ks {

// Adds to a short list unless it is there; lanes mostly come in order, so the newest entries are tried first.
static inline void add_once(uint64_t* list, uint32_t& count, uint64_t value) {
    for (uint32_t i = count; i-- > 0;)
        if (list[i] == value) return;
    list[count++] = value;
}

uint32_t count_global(const Instance& instance, uint64_t line_bytes, SiteCounts& counts, uint64_t* lines) {
    uint64_t segments[kMaxLines], before = 0;
    uint32_t line_count = 0, segment_count = 0;
    uint64_t size = instance.size > 128 ? 128 : instance.size;
    for (uint32_t quarter = 0; quarter < 4; quarter++) {
        uint64_t quarter_lines[kMaxLines / 2], quad_segments[16], quarter_bytes = 0;
        uint32_t quarter_count = 0;
        for (uint32_t quad = 0; quad < 4; quad++) {
            uint32_t quad_count = 0;
            for (uint32_t l = quarter * 16 + quad * 4, end = l + 4; l < end; l++) {
                if (!(instance.mask >> l & 1)) continue;
                uint64_t low = instance.address[l], high = low + size - 1;
                for (uint64_t s = low / 64; s <= high / 64; s++) {
                    if (quad_count < 16) add_once(quad_segments, quad_count, s);
                    if (segment_count < kMaxLines) add_once(segments, segment_count, s);
                }
                for (uint64_t n = low / line_bytes; n <= high / line_bytes; n++) {
                    if (quarter_count < kMaxLines / 2) add_once(quarter_lines, quarter_count, n);
                    if (line_count < kMaxLines) add_once(lines, line_count, n);
                }
                if (low != before || !quarter_bytes) quarter_bytes += size;
                before = low;
            }
            counts.accesses += quad_count;
        }
        // 16 lanes a clock; one line a clock; 64 bytes a clock
        uint64_t cycles = quarter_count, data = (quarter_bytes + 63) / 64;
        if (data > cycles) cycles = data;
        counts.unit_cycles += cycles;
        counts.bytes += quarter_bytes;
    }
    counts.lines += line_count;
    counts.segments += segment_count;
    return line_count;
}

void count_lds(const Instance& instance, const LdsPhases& phases, SiteCounts& counts) {
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
