#include "request.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ks {

void die(const char* message) {
    fprintf(stderr, "lab: %s\n", message);
    _exit(70);
}

static int open_in(const char* folder, const char* name, int flags) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    int file = open(path, flags | O_CLOEXEC);
    if (file < 0) die(name);
    return file;
}

static uint64_t* read_words(int file) {
    struct stat about;
    if (fstat(file, &about) != 0) die("request.bin");
    char* words = (char*)malloc(about.st_size + 8);
    for (int64_t done = 0; done < about.st_size;) {
        int64_t n = read(file, words + done, about.st_size - done);
        if (n <= 0) die("request.bin is cut short");
        done += n;
    }
    close(file);
    return (uint64_t*)words;
}

void read_request(const char* folder, const char* inputs, Request& request) {
    uint64_t* word = read_words(open_in(folder, "request.bin", O_RDONLY));
    memcpy(&request.head, word, sizeof(Header));
    if (request.head.magic != kMagic) die("request.bin has another format");
    word += sizeof(Header) / 8;
    request.phases = (const uint8_t*)word;
    word += 2 * 4 * 64 / 8;
    request.regions = (RegionRequest*)word;
    word += request.head.regions * sizeof(RegionRequest) / 8;
    request.lds = (LdsVariable*)word;
    word += request.head.lds_variables * sizeof(LdsVariable) / 8;
    request.launches = (Launch*)calloc(request.head.launches, sizeof(Launch));
    for (uint64_t i = 0; i < request.head.launches; i++) {
        Launch& launch = request.launches[i];
        memcpy((void*)&launch, word, 12 * 8);
        word += 12;
        launch.argument = (const Argument*)word;
        word += launch.arguments * 2 + launch.structs;
        launch.list = word;
        word += launch.listed;
    }
    request.memory_file = open_in(folder, "memory.bin", O_RDWR);
    request.input_file = inputs ? open(inputs, O_RDONLY | O_CLOEXEC) : request.memory_file;
    if (request.input_file < 0) die(inputs);
    request.mask_file = open_in(folder, "masks.bin", O_RDWR);
    request.result_file = open_in(folder, "result.json", O_RDWR);
}

}  // namespace ks
