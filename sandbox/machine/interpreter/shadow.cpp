#include "shadow.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

namespace machine {

namespace {

constexpr uint64_t kRoom = 64;  // cells behind the last one

uint64_t words_of(const Shadow& shadow) { return shadow.bytes / 4 + kRoom; }

void map_cells(Cells& cells, uint64_t count, bool has_places) {
    for (Record*& each : cells.record) each = (Record*)map_zeros(count * sizeof each[0]);
    for (uint32_t*& each : cells.place) each = has_places ? (uint32_t*)map_zeros(count * sizeof each[0]) : nullptr;
}

}  // namespace

void* map_zeros(uint64_t bytes) {
    void* place = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (place == MAP_FAILED) abort();
    return place;
}

void map_shadow(Shadow& shadow, uint64_t bytes, bool has_places) {
    shadow.bytes = bytes;
    map_cells(shadow.word, words_of(shadow), has_places);
    map_cells(shadow.byte, 4 * words_of(shadow), has_places);
}

void forget(Shadow& shadow) {
    if (!shadow.bytes) return;
    // Zeros again, without the memory that zeros would take.
    const auto forget_all = [](Record* first, uint64_t count) {
        if (madvise(first, count * sizeof *first, MADV_DONTNEED) != 0) abort();
    };
    for (Record* each : shadow.word.record) forget_all(each, words_of(shadow));
    for (Record* each : shadow.byte.record) forget_all(each, 4 * words_of(shadow));
}

void split_word(Shadow& shadow, uint64_t word, Record forgotten) {
    const Cells &whole = shadow.word, &parts = shadow.byte;
    if (load(whole.record[kWriter][word]) == kSplit) return;
    Record latest = 0;
    for (const Record* each : whole.record) latest = load(each[word]) > latest ? load(each[word]) : latest;
    for (int slot = 0; latest > forgotten && slot < kSlots; slot++) {
        const Record record = load(whole.record[slot][word]);
        for (uint64_t b = 4 * word; b < 4 * word + 4; b++) {
            store(parts.record[slot][b], record);
            if (parts.place[slot]) parts.place[slot][b] = whole.place[slot][word];
        }
    }
    store(whole.record[kOther][word], latest);
    store(whole.record[kWriter][word], kSplit);
}

}  // namespace machine
