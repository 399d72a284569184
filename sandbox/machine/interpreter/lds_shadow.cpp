// What is remembered of LDS: the life of its records, and what barriers order.
#include <string.h>

#include "model_state.h"

namespace machine {

namespace {

constexpr uint32_t kWords = kMaxLdsBytes / 4;

LdsCells map_cells(uint64_t count) {
    return {(LdsRecord*)map_zeros(count * 4), (LdsRecord*)map_zeros(count * 4), (LdsRecord*)map_zeros(count * 4),
            (LdsRecord*)map_zeros(count * 4)};
}

void clear(LdsCells& cells, uint64_t count) {
    LdsRecord* const arrays[] = {cells.writer, cells.reader, cells.other, cells.plain};
    for (LdsRecord* array : arrays) memset(array, 0, count * 4);
}

}  // namespace

void begin_lds_again(ModelState& state) {
    LdsShadow& lds = state.lds;
    clear(lds.word, lds.words);
    clear(lds.byte, lds.words * 4ull);
    lds.tick = lds.start = lds.epoch = lds.safe = 0;
    memset(lds.known, 0, sizeof lds.known);
    memset(lds.carried, 0, sizeof lds.carried);
    memset(lds.met, 0, sizeof lds.met);
    for (Wave* wave : state.running) {
        if (!wave) continue;
        for (Operation& each : wave->pending.memory.operation) each.lds_tick = 0;
        for (Operation& each : wave->pending.local.operation) each.lds_tick = 0;
    }
}

void split_word(LdsShadow& lds, uint64_t word) {
    for (uint64_t b = 4 * word; b < 4 * word + 4; b++) {
        lds.byte.writer[b] = lds.word.writer[word];
        lds.byte.reader[b] = lds.word.reader[word];
        lds.byte.other[b] = lds.word.other[word];
        lds.byte.plain[b] = lds.word.plain[word];
    }
    const LdsRecord reader = lds.word.reader[word], writer = lds.word.writer[word];
    LdsRecord& latest = lds.word.other[word];  // of a word that is split: the last that touched any of its bytes
    latest = reader > latest ? reader : latest;
    latest = writer > latest ? writer : latest;
    lds.word.writer[word] = kSplit;
}

void begin_lds(ModelState& state, uint32_t bytes) {
    LdsShadow& lds = state.lds;
    if (!lds.written) {
        lds.word = map_cells(kWords + 16);
        lds.byte = map_cells(4 * kWords + 64);
        lds.written = (uint8_t*)map_zeros(kWords + 16);
        lds.place = (uint32_t*)map_zeros((kLastLdsTick + 2ull) * 4);
    }
    const uint32_t words = (bytes < kMaxLdsBytes ? bytes : kMaxLdsBytes) / 4 + 1;
    if (words > lds.words) lds.words = words;
    memset(lds.written, 0, lds.words);
    if (lds.tick > kLastLdsTick / 2) begin_lds_again(state);
    lds.start = lds.safe = lds.epoch = ++lds.tick;
    memset(lds.known, 0, sizeof lds.known);
    memset(lds.carried, 0, sizeof lds.carried);
    if (!state.rules.lanes_meet) return;
    for (auto& wave : lds.met)
        for (uint32_t& lane : wave) lane = lds.tick;
}

uint32_t completed_lds(const ModelState& state, const Wave& wave) {
    uint32_t first = state.lds.tick + 1;
    if (!wave.pending.touching_lds) return first - 1;
    const OperationQueue* const queues[] = {&wave.pending.memory, &wave.pending.local};
    for (const OperationQueue* queue : queues)
        for (uint32_t i = 0; i < queue->count; i++) {
            const Operation& each = queue->oldest(i);
            if ((each.kind & (kTouchesLds | kDirectToLds)) && each.lds_tick < first) first = each.lds_tick;
        }
    return first ? first - 1 : 0;
}

void lds_barrier(ModelState& state) {
    LdsShadow& lds = state.lds;
    lds.safe = lds.epoch = lds.tick;
    for (uint32_t w = 0; w < state.waves; w++) {
        const uint32_t completed = state.running[w] ? completed_lds(state, *state.running[w]) : lds.tick;
        if (completed < lds.safe) lds.safe = completed;
        for (uint32_t v = 0; v < state.waves; v++)
            if (completed > lds.known[v][w]) lds.known[v][w] = completed;
        if (!state.rules.lanes_meet) continue;
        for (uint32_t& lane : lds.met[w]) lane = lds.tick;
    }
    if (lds.safe < lds.start) lds.safe = lds.start;
}

}  // namespace machine
