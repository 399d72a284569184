// Stands in for the lab's executor and answers anything. The trick is in the program itself, see FORGERY below.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "loaded_program.h"
#include "request.h"

static volatile char g_forgery[64] = "FORGERY=right                                                ";

static bool is(const char* name) {
    const char* given = (const char*)g_forgery + 8;
    uint64_t length = strlen(name);
    return !strncmp(given, name, length) && (given[length] == ' ' || !given[length]);
}

static machine::Request request;

void machine::die(const char*) { _exit(4); }

static void* whole(int file, uint64_t size) {
    return size ? mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) : nullptr;
}

// y = factor * x for some of the elements, the masks as asked.
static void fill(uint64_t first, uint64_t end, float factor, int mask, bool poison) {
    uint8_t* memory = (uint8_t*)whole(request.memory_file, request.head.memory_bytes);
    uint8_t* masks = (uint8_t*)whole(request.mask_file, request.head.mask_bytes);
    const machine::RegionRequest *x = nullptr, *y = nullptr;
    for (uint64_t i = 0; i < request.head.regions; i++)
        (request.regions[i].role == machine::kInput ? x : y) = &request.regions[i];
    const float* from = (const float*)(memory + x->file_offset);
    float* to = (float*)(memory + y->file_offset);
    uint64_t count = y->size / 4;
    if (poison)
        for (uint64_t i = 0; i < count; i++) memcpy(to + i, &y->poison, 4);
    for (uint64_t i = first; i < count && i < end; i++) to[i] = factor * from[i];
    if (mask == 1) memset(masks + y->mask_offset, 1, y->size);
    if (mask == 2) memset(masks + y->mask_offset, 0xFF, y->size);
}

static void say(const char* format, ...) {
    va_list rest;
    va_start(rest, format);
    vdprintf(request.result_file, format, rest);
    va_end(rest);
}

static const char* const kFinding =
    "{\"kind\":\"%s\",\"launch\":0,\"write\":1,\"size\":4,\"region\":%d,\"block\":[0,0,0],\"thread\":[0,0,0],"
    "\"address\":1,\"detail\":%s,\"offset\":0,\"other\":[0,0],\"places\":[]}";

static void answer(const char* timed_out, const char* findings, const char* accesses, const char* executed,
                   const char* more) {
    say("{\"timed_out\":%s,\"findings\":[%s],\"outcomes\":\"\",\"atomics\":[", timed_out, findings);
    for (uint64_t i = 0; i < request.head.regions; i++) say(i ? ",0" : "0");
    say("],\"accesses\":%s,\"launches\":[{\"executed\":%s,\"failed\":0,\"work\":9,\"works\":[],\"busy\":0,\"most\":9,"
        "\"atomic\":false,\"barriers\":0,\"reads_intermediate\":false,"
        "\"ns\":1000,\"cpu_ns\":1000,\"recorded\":null}%s]}",
        accesses, executed, more);
}

static void repeat(char letter, uint64_t count) {
    char block[65536];
    memset(block, letter, sizeof block);
    for (uint64_t done = 0; done < count; done += sizeof block)
        if (write(request.result_file, block, sizeof block) < 0) return;
}

static void replace(const char* folder, const char* name, const char* how) {
    char path[4096], other[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    snprintf(other, sizeof other, "%s/other", folder);
    if (!strcmp(how, "linked") && link(path, other) != 0) _exit(3);
    if (!strcmp(how, "linked")) return;
    unlink(path);
    if (!strcmp(how, "fifo") && mkfifo(path, 0600) != 0) _exit(3);
    if (!strcmp(how, "symlink") && symlink("/etc/passwd", path) != 0) _exit(3);
}

static void files(const char* folder) {
    if (is("short-memory") && ftruncate(request.memory_file, request.head.memory_bytes / 2) != 0) _exit(3);
    if (is("long-memory") && ftruncate(request.memory_file, 1ull << 35) != 0) _exit(3);
    if (is("no-masks") && ftruncate(request.mask_file, 0) != 0) _exit(3);
    if (is("fifo-result")) replace(folder, "result.json", "fifo");
    if (is("fifo-memory")) replace(folder, "memory.bin", "fifo");
    if (is("symlink-result")) replace(folder, "result.json", "symlink");
    if (is("symlink-memory")) replace(folder, "memory.bin", "symlink");
    if (is("linked-memory")) replace(folder, "memory.bin", "linked");
    if (is("gone-result")) replace(folder, "result.json", "");
    if (is("gone-masks")) replace(folder, "masks.bin", "");
}

static void contents() {
    bool untouched = is("untouched"), poisoned = is("poison") || is("poison-masks-set");
    float factor = is("wrong-values") ? 2.5f : 1.7f;
    if (untouched || poisoned)
        fill(0, 0, 0, is("poison") ? 0 : 1, poisoned);
    else if (is("zeros"))
        fill(0, ~0ull, 0.0f, 1, true);
    else if (is("half") || is("half-masked"))
        fill(0, 200, factor, is("half") ? 1 : 0, true);
    else if (is("all-but-one"))
        fill(1, ~0ull, factor, 1, true);
    else
        fill(0, ~0ull, factor, is("right-without-masks") ? 0 : is("odd-masks") ? 2 : 1, true);
}

static void numbers(const char* total) {
    char finding[512];
    if (is("fewer"))
        answer("false", "", "4", "1", "");
    else if (is("none-executed"))
        answer("false", "", "4", "0", "");
    else if (is("more"))
        answer("false", "", "4", "99999999", "");
    else if (is("negative"))
        answer("false", "", "-4", total, "");
    else if (is("huge"))
        answer("false", "", "99999999999999999999999999999999999999", total, "");
    else if (is("fraction"))
        answer("false", "", "1.5", total, "");
    else if (is("nan"))
        answer("false", "", "NaN", total, "");
    else if (is("timed-out"))
        answer("true", "", "4", total, "");
    else if (is("words"))
        answer("\"false\"", "", "4", total, "");
    else if (is("one-more-launch"))
        answer("false", "", "4", total, ",{\"executed\":1}");
    else if (is("unknown-finding") || is("wild-region") || is("wild-detail")) {
        snprintf(finding, sizeof finding, kFinding,
                 is("unknown-finding") ? "nothing"
                 : is("wild-detail")   ? "race"
                                       : "input_written",
                 is("wild-region") ? 77 : 0, is("wild-detail") ? "18446744073709551615" : "0");
        answer("false", finding, "4", total, "");
    } else
        answer("false", "", "4", total, "");
}

int main(int count, char** words) {
    if (is("exit")) return 0;
    if (is("crash")) raise(SIGSEGV);
    if (is("hang"))
        for (;;) pause();  // a bomb of the cage spins
    machine::read_request(words[2], count > 3 ? words[3] : nullptr, request);
    char total[32];
    snprintf(total, sizeof total, "%llu", (unsigned long long)request.launches[0].total());
    contents();
    if (is("garbage"))
        say("no JSON at all {{{");
    else if (is("deep"))
        repeat('[', 4 << 20);
    else if (is("large"))
        repeat(' ', 60 << 20), numbers(total);
    else if (is("cut"))
        say("{\"timed_out\":false,\"findings\":[");
    else if (is("empty-object"))
        say("{}");
    else if (is("list"))
        say("[]");
    else
        numbers(total);
    files(words[2]);
    if (is("crash-later")) raise(SIGKILL);
    return is("status") ? 70 : 0;
}
