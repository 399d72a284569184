// What the parent asks for: a flat array of 64-bit words in request.bin, as sandbox/lab/machine_lab.py writes it.
#pragma once
#include <stdint.h>

namespace machine {

constexpr uint64_t kRequestMagic = 0x4b534d5245513031ull;
constexpr uint64_t kNone64 = ~0ull;
constexpr uint32_t kMaxLaunches = 4096, kMaxExplored = 64, kMaxSurveyed = 1 << 17, kMostKinds = 1024;

enum Role : uint64_t { kInput = 0, kOutput = 1, kWorkspace = 2, kUpdated = 3 };  // kUpdated: an output with contents

enum Checks : uint64_t { kBoundsOnly = 0, kAllButUnwritten = 1, kAllChecks = 2 };

enum SourceRule : uint64_t {
    kLanesMeet = 1,  // lanes of a wave that share memory must meet in between, as HIP has it
    kNeedsFence =
        2,  // a raw barrier publishes global memory up to the last fence only: the listing has markers of those
};

// Of workgroups: the first begins, or the last; or some are there at once, and they and their waves take turns at
// atomic operations, barriers and cache control, as the seed has it.
enum GridOrder : uint64_t { kForwards = 0, kBackwards = 1, kExploring = 2 };

struct RequestHeader {
    uint64_t magic, recording, workers, deadline_us, regions, launches, recorded_blocks;
    uint64_t memory_bytes, mask_bytes, address_space_bytes;
    uint64_t l1_lines, line_bytes, segment_bytes, fill_bytes, address_lanes, l1_bytes_per_clock;
    uint64_t checks;        // Checks
    uint64_t exact;         // 1: matrix instructions round as the hardware does
    uint64_t seed;          // of the order in which waves and workgroups take turns
    uint64_t order;         // GridOrder
    uint64_t source_rules;  // SourceRule
    // A survey, see survey.h: how many shapes (0: none is asked for), how many of them are known, instructions in all and
    // of a workgroup.
    uint64_t shapes, survey_known, survey_instructions, survey_group;
    uint64_t survey_seen;            // bytes of what an earlier survey saw of the known shapes, or 0
    uint64_t explored, evaluations;  // launches that are explored, see explore.h; nodes that are evaluated in all
    uint64_t marks;                  // instructions of which the outcomes are told
    // Instructions of a recorded workgroup, and of each wave of its neighbours, that make a timeline; 0: none is made.
    uint64_t stream_steps, neighbour_steps;
    uint64_t clock_words;  // of clock.h
};

struct RegionRequest {
    uint64_t role, size, guest;
    uint64_t file_offset;  // kNone64: in no file, it begins as zeros
    uint64_t mask_offset;  // kNone64: nobody asks what was written
    uint64_t period;       // bytes in the file, which repeat up to the size
    uint64_t poison;       // the word that memory holds which nobody has written
};

struct Launch {
    uint64_t kernel, grid[3], block[3], lds_bytes;  // lds_bytes: the dynamic LDS
    uint64_t blocks, listed;                        // `blocks` of the grid are executed
    uint64_t together;                              // 1: all of them run at once
    uint64_t sets_variables;                        // 1: what a host does before a launch, so it may write constants
    uint64_t neighbours;                            // workgroups of one chiplet, see stream.h
    uint64_t argument_bytes;
    const uint8_t* arguments;   // padded to 8
    const uint64_t* list;       // their numbers where `listed` is not 0
    const uint64_t* neighbour;  // the neighbours' numbers
    uint64_t total() const { return grid[0] * grid[1] * grid[2]; }
    // The k-th executed workgroup: of the list, or evenly spread. With the first and the last, where faults are; to count,
    // from the middle of as many equal parts, as those at the edges of a grid often have less to do.
    uint64_t linear(uint64_t k, bool count) const {
        if (listed) return list[k];
        if (count) return (unsigned __int128)(2 * k + 1) * total() / (2 * blocks);
        return blocks < 2 ? 0 : (unsigned __int128)k * (total() - 1) / (blocks - 1);
    }
};

// One launch's numbers: shape, grid, block, dynamic LDS, the argument segment.
struct LaunchNumbers {
    const uint64_t* word;
    uint64_t argument_bytes;

    uint64_t shape() const { return word[0]; }
    uint32_t dword(uint32_t offset) const;  // of the arguments, or of the packet behind them
};

// A launch of a known shape, and the numbers that it has for other shapes; the first row are its own.
struct ExploredLaunch {
    uint64_t launch, rows, row_words;
    const uint64_t* words;
    LaunchNumbers row(uint64_t i) const { return {words + i * row_words, 8 * (row_words - kNumberWords)}; }
    static constexpr uint64_t kNumberWords = 8;
};

struct Request {
    RequestHeader head;
    const uint8_t* phases;  // 2 directions, 4 widths, 64 lanes: the LDS's conflict groups
    const RegionRequest* regions;
    // Of each shape of a survey: how many launches; and which kind of shape it is: all kinds take as many instructions.
    const uint64_t *launches_of, *kind_of;
    const uint8_t* seen;
    const uint64_t* marks;
    const uint64_t* clock;
    Launch* launches;
    ExploredLaunch* explored;
    int input_file, memory_file, mask_file, result_file;
    // A few workgroups of a grid touch little of its buffers: pages come when they are touched.
    bool is_sparse() const {
        for (uint64_t i = 0; i < head.launches; i++)
            if (launches[i].listed) return true;
        return head.recording || head.shapes;
    }
};

// Opens the files of the folder, and the file of inputs where they are not in the folder; dies where that fails.
void read_request(const char* folder, const char* inputs, Request& request);

}  // namespace machine
