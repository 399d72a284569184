#include "request.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clock.h"
#include "loaded_program.h"

namespace machine {

namespace {

struct Words {
    uint64_t* at;
    uint64_t left;

    uint64_t* take(uint64_t count) {
        if (count > left) die("request.bin is cut short");
        uint64_t* here = at;
        at += count;
        left -= count;
        return here;
    }
};

int open_in(const char* folder, const char* name, int flags) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    const int file = open(path, flags | O_CLOEXEC);
    if (file < 0) die(name);
    return file;
}

Words read_words(int file) {
    struct stat about;
    if (fstat(file, &about) != 0) die("request.bin");
    char* words = (char*)malloc(about.st_size + 8);
    if (!words) die("no memory for the request");
    for (int64_t done = 0; done < about.st_size;) {
        const int64_t n = read(file, words + done, about.st_size - done);
        if (n <= 0) die("request.bin is cut short");
        done += n;
    }
    close(file);
    return {(uint64_t*)words, (uint64_t)about.st_size / 8};
}

void read_launch(Words& words, Launch& launch) {
    memcpy((void*)&launch, words.take(14), 14 * 8);
    launch.arguments = (const uint8_t*)words.take((launch.argument_bytes + 7) / 8);
    launch.list = words.take(launch.listed);
    launch.neighbour = words.take(launch.neighbours);
    const uint64_t lanes = launch.block[0] * launch.block[1] * launch.block[2];
    if (lanes < 1 || lanes > 1024) die("a workgroup has 1 to 1024 work-items");
    if (launch.listed && launch.listed != launch.blocks) die("request.bin lists other workgroups than it asks for");
}

void read_explored(Words& words, const Request& request, ExploredLaunch& explored) {
    memcpy((void*)&explored, words.take(3), 3 * 8);
    if (explored.launch >= request.head.launches || explored.row_words < ExploredLaunch::kNumberWords ||
        explored.row_words > 65536 || explored.rows > 1 << 20)
        die("request.bin explores what cannot be");
    explored.words = words.take(explored.rows * explored.row_words);
}

}  // namespace

void read_request(const char* folder, const char* inputs, Request& request) {
    Words words = read_words(open_in(folder, "request.bin", O_RDONLY));
    memcpy(&request.head, words.take(sizeof(RequestHeader) / 8), sizeof(RequestHeader));
    if (request.head.magic != kRequestMagic) die("request.bin has another format");
    if (request.head.launches > (request.head.shapes ? kMaxSurveyed : kMaxLaunches))
        die("request.bin has too many launches");
    request.phases = (const uint8_t*)words.take(2 * 4 * 64 / 8);
    request.regions = (const RegionRequest*)words.take(request.head.regions * sizeof(RegionRequest) / 8);
    request.launches_of = words.take(request.head.shapes);
    request.kind_of = words.take(request.head.shapes);
    if (request.head.survey_seen > 1ull << 24) die("request.bin has seen too much");
    request.seen = (const uint8_t*)words.take((request.head.survey_seen + 7) / 8);
    request.marks = words.take(request.head.marks);
    request.clock = words.take(request.head.clock_words);
    if (request.head.stream_steps && request.head.clock_words != kClockWords + request.head.launches * kResidencyWords)
        die("request.bin has another clock");
    uint64_t surveyed = 0;
    if (request.head.survey_known > request.head.shapes) die("request.bin knows more shapes than it has");
    for (uint64_t i = 0; i < request.head.shapes; i++) {
        if (request.kind_of[i] >= kMostKinds) die("request.bin has a shape of no kind");
        if (request.launches_of[i] > request.head.launches - surveyed) die("request.bin has a shape without launches");
        surveyed += request.launches_of[i];
    }
    request.launches = (Launch*)calloc(request.head.launches + 1, sizeof(Launch));
    if (!request.launches) die("no memory for the request");
    for (uint64_t i = 0; i < request.head.launches; i++) read_launch(words, request.launches[i]);
    if (request.head.explored > kMaxExplored) die("request.bin explores too many launches");
    request.explored = (ExploredLaunch*)calloc(request.head.explored + 1, sizeof(ExploredLaunch));
    if (!request.explored) die("no memory for the request");
    for (uint64_t i = 0; i < request.head.explored; i++) read_explored(words, request, request.explored[i]);
    request.memory_file = open_in(folder, "memory.bin", O_RDWR);
    request.input_file = inputs ? open(inputs, O_RDONLY | O_CLOEXEC) : request.memory_file;
    if (request.input_file < 0) die(inputs);
    request.mask_file = open_in(folder, "masks.bin", O_RDWR);
    request.result_file = open_in(folder, "result.json", O_RDWR);
}

}  // namespace machine
