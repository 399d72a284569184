// The instruction cache, which two units share that run the same kernel: 64 KB, 1,024 lines of 64 bytes.
#pragma once
#include <stdint.h>
#include <stdlib.h>

#include "cache.h"

namespace machine {

// What is executed for the first time is taken to be fetched ahead: only lines that were there before are missed.
class CodeCache {
  public:
    CodeCache(uint32_t lines, double latency)
        : arrival_((double*)calloc(lines + 1, sizeof(double))), lines_(lines), latency_(latency) {
        if (!arrival_) die("no memory for the timeline");
        cache_.clear(kLines);
    }
    ~CodeCache() { free(arrival_); }
    CodeCache(const CodeCache&) = delete;
    CodeCache& operator=(const CodeCache&) = delete;

    // When a wave that goes on to this line has it; the line behind it comes with it.
    double arrival(uint32_t line, double now) {
        if (cache_.touch(line, 1)) {
            fetch(line, now);
            if (line + 1 < lines_ && cache_.touch(line + 1, 1)) fetch(line + 1, now);
        }
        return arrival_[line];
    }

  private:
    static constexpr uint64_t kLines = 1024;
    static constexpr double kAhead = 1e-9;  // it was fetched before
    void fetch(uint32_t line, double now) { arrival_[line] = arrival_[line] > 0 ? now + latency_ : kAhead; }

    LineCache cache_ = {};
    double* arrival_;
    uint32_t lines_;
    double latency_;
};

}  // namespace machine
