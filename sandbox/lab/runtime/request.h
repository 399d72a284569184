// What the parent asks for: a flat array of 64-bit words in request.bin, written by sandbox/lab/executor_request.py.
#pragma once
#include <stdint.h>

namespace ks {

constexpr uint64_t kMagic = 0x4b534c4142303130ull;
constexpr uint64_t kGranule = 65536;  // one granule belongs to at most one buffer
constexpr uint64_t kNone = ~0ull;

enum Role : uint64_t { kInput = 0, kOutput = 1, kWorkspace = 2, kUpdated = 3 };  // kUpdated: an output with contents

struct Header {
    uint64_t magic, recording, workers, deadline_us, regions, launches, lds_variables, recorded_blocks;
    uint64_t arena, arena_bytes;  // where the buffers lie: elsewhere in each execution
    uint64_t memory_bytes, mask_bytes, tls_bytes, tls_align, image_lo, image_hi;
    uint64_t constants_lo, constants_hi;  // of the candidate
    uint64_t variables_lo, variables_hi;  // its own __device__ variables that begin as something
    uint64_t zeros_lo, zeros_hi;          // those that begin as zeros
    uint64_t l1_lines, line_bytes, address_space_bytes;
    uint64_t checks;  // 0: bounds only; 1: all, but not unwritten buffers; 2: all
    uint64_t exact;   // 1: matrix instructions round as the hardware does
    uint64_t wave;    // lanes
    uint64_t segment_bytes, fill_bytes, address_lanes, l1_bytes_per_clock;  // see coalescing.h
    uint64_t joins_global;  // the compiler makes one wide access of neighbouring narrow ones to buffers too
    uint64_t shuffled;      // 1: another wave begins in each workgroup
    uint64_t backwards;     // 1: the last workgroup begins
};

struct RegionRequest {
    uint64_t role, size, arena_offset;
    uint64_t file_offset;  // kNone: in no file, it begins as zeros
    uint64_t mask_offset;  // kNone: nobody asks what was written
    uint64_t period;       // bytes in the file, which repeat up to the size
    uint64_t poison;       // the word that memory holds which nobody has written
};

struct LdsVariable {
    uint64_t tls_offset, size;  // size kNone: the dynamic LDS, its size comes with each launch
};

struct Argument {
    uint64_t kind, bits;  // 0 pointer, 1 integer, 2 double, 3 a struct, whose words stand behind all
};

struct Launch {
    uint64_t entry, grid[3], block[3], lds_bytes;
    uint64_t blocks, arguments, listed, structs;  // `blocks` of the grid are executed
    const Argument* argument;                     // `structs` words of structs stand behind them
    const uint64_t* list;                         // their numbers where `listed` is not 0
    uint64_t total() const { return grid[0] * grid[1] * grid[2]; }
    // The k-th executed workgroup: of the list, or evenly spread: with the first and the last, where faults are; to count from the
    // middle of as many equal parts, as those at the edges of a grid often have less to do.
    uint64_t linear(uint64_t k, bool count) const {
        if (listed) return list[k];
        if (count) return (unsigned __int128)(2 * k + 1) * total() / (2 * blocks);
        return blocks < 2 ? 0 : (unsigned __int128)k * (total() - 1) / (blocks - 1);
    }
};

struct Request {
    Header head;
    const uint8_t* phases;  // 2 directions, 4 widths, 64 lanes: see coalescing.h
    RegionRequest* regions;
    LdsVariable* lds;
    Launch* launches;
    // A few workgroups of a grid touch little of its buffers: pages come when they are touched, and only masks say what
    // was written.
    bool is_sparse() const {
        for (uint64_t i = 0; i < head.launches; i++)
            if (launches[i].listed) return true;
        return head.recording;
    }
    int input_file, memory_file, mask_file, result_file;
};

// Opens the four files of the folder, and the file of inputs for reading where they are not in the folder; ends the
// process with a message on stderr where that fails.
void read_request(const char* folder, const char* inputs, Request& request);
[[noreturn]] void die(const char* message);

}  // namespace ks
