// The instruction cache, which two units share that run the same kernel: 64 KB, 1,024 lines of 64 bytes.
#pragma once
#include <stdint.h>
#include <stdlib.h>

#include "cache.h"

namespace machine {

// What is executed for the first time is taken to be fetched ahead: only lines that were there before are missed.
class CodeCache {
  public:
    explicit CodeCache(uint32_t lines) : known_((bool*)calloc(lines + 2, 1)), lines_(lines) {
        if (!known_) die("no memory for the timeline");
        cache_.clear(kLines);
    }
    ~CodeCache() { free(known_); }
    CodeCache(const CodeCache&) = delete;
    CodeCache& operator=(const CodeCache&) = delete;

    // Whether a wave that goes on to this line has to wait for it; the line behind it comes with it.
    bool misses(uint32_t line) {
        const bool was_known = known_[line];
        known_[line] = true;
        const bool is_new = cache_.touch(line, 1);
        if (is_new && line + 1 < lines_ && known_[line + 1]) cache_.touch(line + 1, 1);
        return is_new && was_known;
    }

  private:
    static constexpr uint64_t kLines = 1024;
    LineCache cache_ = {};
    bool* known_;
    uint32_t lines_;
};

}  // namespace machine
