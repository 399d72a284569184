// What is known of the lines that somebody touches.
#pragma once
#include <string.h>

#include "pages.h"

namespace machine {

// A value for each line, zero at first; of too many lines, all further ones are taken for new. A zeroed table is empty.
// Rows lie in the order in which they came, and their index grows with them: the system's work for a page that is
// touched is that of hundreds of lines, and most workgroups touch few.
template <class Value> class LineTable {
  public:
    static constexpr uint32_t kBits = 19, kMost = 3u << (kBits - 2);

    bool is_full() const { return rows_ == kMost; }
    // Null where the line is not there.
    Value* find(uint64_t line) const {
        const uint32_t row = row_ ? index_[place_of(line)] : 0;
        return row ? &row_[row - 1].value : nullptr;
    }
    // Null where the line is not there and finds no room.
    Value* at(uint64_t line) {
        if (!row_) open();
        uint32_t place = place_of(line);
        if (index_[place]) return &row_[index_[place] - 1].value;
        if (is_full()) return nullptr;
        if (rows_ >= (1u << bits_) / 2 && bits_ < kBits) grow(), place = place_of(line);
        row_[rows_] = {line, {}};
        index_[place] = ++rows_;
        return &row_[rows_ - 1].value;
    }
    // Whether the line is new.
    bool add(uint64_t line) {
        const uint32_t before = rows_;
        return !at(line) || rows_ > before;
    }
    void clear() {
        if (row_) memset(index_, 0, sizeof(uint32_t) << bits_);
        rows_ = 0;
        bits_ = kFewBits;
    }
    // Gives the memory back.
    void close() {
        if (!row_) return;
        munmap(row_, kMost * sizeof(Row));
        munmap(index_, sizeof(uint32_t) << kBits);
        *this = {};
    }

  private:
    static constexpr uint32_t kFewBits = 10;
    struct Row {
        uint64_t line;
        [[no_unique_address]] Value value;
    };

    void open() {
        row_ = (Row*)pages(kMost * sizeof(Row));
        index_ = (uint32_t*)pages(sizeof(uint32_t) << kBits);
        bits_ = kFewBits;
    }
    uint32_t place_of(uint64_t line) const {
        const uint32_t last = (1u << bits_) - 1;
        uint32_t place = (uint32_t)((line * 0x9E3779B97F4A7C15ull) >> (64 - bits_));
        while (index_[place] && row_[index_[place] - 1].line != line) place = (place + 1) & last;
        return place;
    }
    void grow() {
        memset(index_, 0, sizeof(uint32_t) << ++bits_);
        for (uint32_t i = 0; i < rows_; i++) index_[place_of(row_[i].line)] = i + 1;
    }

    Row* row_ = nullptr;
    uint32_t* index_ = nullptr;  // one more than a row's number, by its line
    uint32_t rows_ = 0, bits_ = 0;
};

struct Nothing {};
using LineSet = LineTable<Nothing>;

}  // namespace machine
