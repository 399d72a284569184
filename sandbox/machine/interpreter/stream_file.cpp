#include "stream_file.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace machine {

namespace {

constexpr uint64_t kStreamMagic = 0x4b53535452453031ull, kMostWords = 1ull << 28;

struct File {
    uint64_t* word;
    uint64_t words, at;

    void* take(uint64_t bytes) {
        const uint64_t count = (bytes + 7) / 8;
        if (count > words - at) die("stream.bin is too small");
        void* here = word + at;
        at += count;
        return here;
    }
    void put(const void* from, uint64_t bytes) { memcpy(take(bytes), from, bytes); }
    void put(uint64_t value) { put(&value, 8); }
    uint64_t get() { return *(uint64_t*)take(8); }
    uint64_t get(uint64_t below) {
        const uint64_t value = get();
        if (value >= below) die("stream.bin holds what cannot be");
        return value;
    }
};

File g_file;

File map_file(const char* path, int flags, int protection, int kind) {
    const int file = open(path, flags | O_CLOEXEC);
    if (file < 0) return {};
    struct stat about;
    if (fstat(file, &about) != 0 || about.st_size < 8 || (uint64_t)about.st_size / 8 > kMostWords) die(path);
    void* place = mmap(nullptr, (uint64_t)about.st_size, protection, kind, file, 0);
    close(file);
    if (place == MAP_FAILED) die(path);
    return {(uint64_t*)place, (uint64_t)about.st_size / 8, 0};
}

void save(File& file, const GroupStream& group) {
    file.put(group.linear);
    file.put(group.waves);
    for (uint32_t w = 0; w < group.waves; w++) {
        file.put(group.wave[w].executed);
        file.put(group.wave[w].kept);
        file.put(group.wave[w].step, group.wave[w].kept * sizeof(Step));
    }
    file.put(group.fresh, sizeof group.fresh);
    file.put(group.touches);
    file.put(group.touch, group.touches * sizeof(Touch));
    file.put(group.lines);
    file.put(group.line, group.lines * 8);
}

// Every index in the file is checked once, here.
void check(const GroupStream& group, uint64_t instructions) {
    for (uint64_t t = 0; t < group.touches; t++) {
        const Touch& touch = group.touch[t];
        if (touch.first_line > group.lines || touch.lines > group.lines - touch.first_line ||
            touch.kind > TouchKind::scratch_store)
            die("stream.bin holds what cannot be");
    }
    for (uint32_t w = 0; w < group.waves; w++)
        for (uint64_t i = 0; i < group.wave[w].kept; i++) {
            const Step& step = group.wave[w].step[i];
            if (step.at >= instructions || (step.touch != kNowhere && step.touch >= group.touches))
                die("stream.bin is of another program");
        }
}

void load(File& file, GroupStream& group, uint64_t instructions) {
    group.linear = file.get();
    group.waves = (uint32_t)file.get(kMaxWaves + 1);
    for (uint32_t w = 0; w < group.waves; w++) {
        group.wave[w].executed = file.get();
        group.wave[w].kept = file.get(kMostWords);
        group.wave[w].step = (Step*)file.take(group.wave[w].kept * sizeof(Step));
    }
    memcpy((void*)group.fresh, file.take(sizeof group.fresh), sizeof group.fresh);
    group.touches = file.get(kMostWords);
    group.touch = (Touch*)file.take(group.touches * sizeof(Touch));
    group.lines = file.get(kMostWords);
    group.line = (uint64_t*)file.take(group.lines * 8);
    check(group, instructions);
}

}  // namespace

void open_stream_file(const char* folder) {
    char path[4096];
    snprintf(path, sizeof path, "%s/stream.bin", folder);
    g_file = map_file(path, O_RDWR, PROT_READ | PROT_WRITE, MAP_SHARED);
}

void save_streams(const Streams& streams) {
    if (!g_file.word) return;
    g_file.put(kStreamMagic);
    g_file.put(uint64_t{0});
    g_file.put(&streams, offsetof(Streams, launch));
    for (uint64_t i = 0; i < streams.launches; i++) {
        const LaunchStream& launch = streams.launch[i];
        g_file.put(launch.groups);
        for (uint32_t g = 0; g < launch.groups; g++) save(g_file, launch.group[g]);
        g_file.put(launch.neighbours);
        g_file.put(launch.sharing, sizeof launch.sharing);
        g_file.put(launch.reuse, sizeof launch.reuse);
        g_file.put(launch.grid, sizeof launch.grid);
        g_file.put(&launch.residency, sizeof launch.residency);
        g_file.put(launch.scratch_bytes);
    }
    g_file.word[1] = g_file.at;  // words that are used
}

Streams load_streams(const char* path, const Program& program) {
    File file = map_file(path, O_RDONLY, PROT_READ, MAP_PRIVATE);
    if (!file.word || file.get() != kStreamMagic) die("stream.bin has another format");
    file.get();
    Streams streams;
    memcpy((void*)&streams, file.take(offsetof(Streams, launch)), offsetof(Streams, launch));
    if (streams.launches > kMaxLaunches || streams.regions > kMaxRegions || !streams.line_bytes)
        die("stream.bin holds what cannot be");
    streams.launch = (LaunchStream*)calloc(streams.launches + 1, sizeof(LaunchStream));
    if (!streams.launch) die("no memory for the streams");
    for (uint64_t i = 0; i < streams.launches; i++) {
        LaunchStream& launch = streams.launch[i];
        launch.groups = (uint32_t)file.get(kMostStreams + 1);
        for (uint32_t g = 0; g < launch.groups; g++) load(file, launch.group[g], program.head.instructions);
        launch.neighbours = (uint32_t)file.get();
        memcpy((void*)launch.sharing, file.take(sizeof launch.sharing), sizeof launch.sharing);
        memcpy((void*)launch.reuse, file.take(sizeof launch.reuse), sizeof launch.reuse);
        memcpy((void*)launch.grid, file.take(sizeof launch.grid), sizeof launch.grid);
        memcpy((void*)&launch.residency, file.take(sizeof launch.residency), sizeof launch.residency);
        launch.scratch_bytes = file.get();
    }
    return streams;
}

Clock load_clock(const char* path) {
    File file = map_file(path, O_RDONLY, PROT_READ, MAP_PRIVATE);
    if (!file.word) die("there is no such clock");
    Clock clock;
    memcpy((void*)&clock, file.take(sizeof clock), sizeof clock);
    return clock;
}

}  // namespace machine
