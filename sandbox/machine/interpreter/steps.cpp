#include "steps.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "findings.h"
#include "indexed.h"
#include "memory_map.h"
#include "wait_states.h"
#include "workgroup.h"

namespace machine {

namespace {

constexpr uint64_t kScalarCode = 1024, kMostRegisters = 640;
// Memory that a state may bring along and read again: a buffer, the first bytes of LDS, all lanes' private memory.
constexpr uint64_t kMemoryCode = 2048, kMemoryBytes = 4096, kMemories = 3, kStepBuffer = 1ull << 40;

struct StepMemory {
    uint8_t *bytes, *written;
};

struct Reader {
    const uint8_t* next;
    uint64_t left;

    const uint8_t* take(uint64_t bytes) {
        if (bytes > left) die("the states are cut short");
        const uint8_t* here = next;
        next += bytes;
        left -= bytes;
        return here;
    }
    uint64_t word() {
        uint64_t value;
        memcpy(&value, take(8), 8);
        return value;
    }
};

Reader open_states(const char* path) {
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    struct stat about;
    if (file < 0 || fstat(file, &about) != 0) die("the states cannot be read");
    void* place = mmap(nullptr, (uint64_t)about.st_size + 1, PROT_READ, MAP_PRIVATE, file, 0);
    if (place == MAP_FAILED) die("the states cannot be mapped");
    return {(const uint8_t*)place, (uint64_t)about.st_size};
}

bool is_register(uint64_t code) {
    return code < kVectors || code - kScalarCode < kScalars || code - kMemoryCode < kMemories;
}

StepMemory memory_of(const Wave& wave, uint64_t code) {
    if (code == kMemoryCode) return {g_memory.region[0].host, g_memory.region[0].written};
    if (code == kMemoryCode + 1) return {wave.group->lds, wave.group->lds_written};
    return {wave.scratch, wave.scratch_written};
}

void map_buffer() {
    Region& region = g_memory.region[0];
    region.guest = kStepBuffer;
    region.size = kMemoryBytes;
    region.host = (uint8_t*)calloc(2, kMemoryBytes);
    region.written = region.host + kMemoryBytes;
    region.role = kWorkspace;
    region.is_writable = region.is_watched = true;
    g_memory.count = 1;
}

void put(Wave& wave, uint64_t code, Reader& states) {
    if (code >= kMemoryCode) {
        const StepMemory memory = memory_of(wave, code);
        memcpy(memory.bytes, states.take(kMemoryBytes), kMemoryBytes);
        memcpy(memory.written, states.take(kMemoryBytes), kMemoryBytes);
        return;
    }
    if (code >= kScalarCode) {
        memcpy(&wave.s[code - kScalarCode], states.take(4), 4);
        memcpy(&wave.scalar_defined[code - kScalarCode], states.take(4), 4);
        return;
    }
    memcpy(wave.v[code].lane, states.take(sizeof(Vector)), sizeof(Vector));
    const uint8_t* bits = states.take(sizeof(Vector));
    wave.defined[code] = {};
    for (int l = 0; l < kLanes; l++)
        for (int b = 0; b < 4; b++) wave.defined[code].byte[b] |= (uint64_t)(bits[4 * l + b] == 255) << l;
}

void get(const Wave& wave, uint64_t code, FILE* out) {
    if (code >= kMemoryCode) {
        const StepMemory memory = memory_of(wave, code);
        fwrite(memory.bytes, kMemoryBytes, 1, out);
        fwrite(memory.written, kMemoryBytes, 1, out);
        return;
    }
    if (code >= kScalarCode) {
        fwrite(&wave.s[code - kScalarCode], 4, 1, out);
        fwrite(&wave.scalar_defined[code - kScalarCode], 4, 1, out);
        return;
    }
    uint8_t bits[4 * kLanes];
    for (int l = 0; l < kLanes; l++)
        for (int b = 0; b < 4; b++) bits[4 * l + b] = wave.defined[code].byte[b] >> l & 1 ? 255 : 0;
    fwrite(wave.v[code].lane, sizeof(Vector), 1, out);
    fwrite(bits, sizeof bits, 1, out);
}

Workgroup* one_wave(Worker& worker, Request& request, Launch& launch, const Program& program, Kernel& kernel) {
    request.head.launches = request.head.workers = request.head.checks = 1;
    request.launches = &launch;
    launch.grid[0] = launch.grid[1] = launch.grid[2] = launch.blocks = 1;
    launch.block[0] = 64;
    launch.block[1] = launch.block[2] = 1;
    kernel.mode = 0xf0 | 3 << 8;
    kernel.lds_bytes = kLdsBytes;
    kernel.scratch_bytes = kMemoryBytes / kLanes;
    worker.request = &request;
    worker.program = &program;
    worker.free_groups = (Workgroup**)calloc(4, sizeof(Workgroup*));
    worker.executed = (uint64_t*)calloc(program.head.instructions, 8);
    worker.regions = (uint16_t*)calloc(program.head.instructions, sizeof(uint16_t));
    return open_workgroup(worker, launch, 0, 0);
}

}  // namespace

int run_steps(const char* path, const char* states_path, const char* results) {
    Program program;
    Request request = {};
    Launch launch = {};
    Kernel kernel = {};
    Worker worker = {};
    read_program(path, program);
    map_buffer();
    find_close_pairs(program);
    program.kernels = &kernel;
    program.head.kernels = 1;
    Workgroup* group = one_wave(worker, request, launch, program, kernel);
    Wave& wave = *group->wave[0];
    Reader states = open_states(states_path);
    FILE* out = fopen(results, "wb");
    if (!out) die("the results cannot be written");
    const uint64_t count = states.word(), inputs = states.word(), outputs = states.word();
    if (inputs > kMostRegisters || outputs > kMostRegisters) die("that many registers cannot be");
    uint64_t code[2 * kMostRegisters];
    for (uint64_t i = 0; i < inputs + outputs; i++)
        if (!is_register(code[i] = states.word())) die("the states name a register that is none");
    for (uint64_t n = 0; n < count; n++) {
        wave.state = kRunning;
        group->failed = group->uses_undefined = false;
        memset(wave.passed, 0, sizeof wave.passed);
        wave.matrix_free = 0;
        for (uint64_t i = 0; i < inputs; i++) put(wave, code[i], states);
        for (wave.next = 0; wave.state == kRunning && wave.next < program.head.instructions;) {
            wave.at = wave.next++;
            wave.write_mask = wave.exec();
            if (program.close_pairs && !keep_distance(wave, program.code[wave.at])) break;
            execute(wave, program.run[wave.at], program.code[wave.at]);
        }
        for (uint64_t i = 0; i < outputs; i++) get(wave, code[inputs + i], out);
        const uint32_t reported = group->failed || group->uses_undefined;
        fwrite(&reported, 4, 1, out);
    }
    fclose(out);
    return 0;
}

}  // namespace machine
