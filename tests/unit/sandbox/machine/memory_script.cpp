// Reads sequences of memory operations, a line each, and plays them to the memory model. See test_memory_model.py.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memory_model.h"

using namespace machine;

namespace {

constexpr uint32_t kGroups = 8, kBytes = 1 << 16;

struct Group {
    MemoryModel model;
    Wave wave[kMaxWaves];
    uint32_t waves;
    uint8_t lds[kBytes], lds_written[kBytes];
};

Group* g_group[kGroups];
uint8_t g_memory[8][kBytes], g_written[8][kBytes];
uint32_t g_line;
MemoryRules g_rules = {false, false, false, false};
bool g_has_reported;

uint64_t number(const char* text, const char* key, uint64_t otherwise) {
    char pattern[32];
    snprintf(pattern, sizeof pattern, " %s=", key);
    const char* at = strstr(text, pattern);
    return at ? (uint64_t)strtoll(at + strlen(pattern), nullptr, 0) : otherwise;
}

bool has(const char* text, const char* word) {
    const size_t length = strlen(word);
    for (const char* at = strstr(text, word); at; at = strstr(at + 1, word))
        if (at > text && at[-1] == ' ' && (at[length] == ' ' || at[length] == '\n' || !at[length])) return true;
    return false;
}

Scope scope_of(const char* text) {
    return has(text, "system")  ? kSystemScope
           : has(text, "agent") ? kAgentScope
           : has(text, "group") ? kGroupScope
                                : kWaveScope;
}

void print(const Conflict& c) {
    static const char* const kinds[] = {
        "out_of_bounds", "", "", "", "", "", "", "", "", "", "race", "undrained", "uninitialised", "", "", "",
        "missing_wait"};
    static const char* const hazards[] = {"raw", "war", "waw"};
    static const char* const relations[] = {"instruction", "wave", "waves", "groups"};
    printf("%s %u %d %s %s lane=%u other=%d%s%s%s\n", kinds[c.kind], c.place, (int)c.other_place, hazards[c.hazard],
           relations[c.relation], c.lane, (int)c.other_lane, c.is_relaxed ? " relaxed" : "", c.is_stale ? " stale" : "",
           c.is_lost ? " lost" : "");
}

}  // namespace

namespace machine {

void report(Wave& wave, FindingKind kind, uint64_t, uint64_t detail, uint32_t origin) {
    g_has_reported = true;
    const Conflict& conflict = g_group[wave.hardware[0]]->model.conflict;
    if (kind == kMissingWait && !(conflict.kind == kMissingWait && conflict.place == wave.at))
        printf("missing_wait %u %d register=%d\n", wave.at, (int)origin, (int)detail);
    else
        print(conflict);
}

void report_undefined(Wave&, uint64_t, uint32_t) {}

}  // namespace machine

namespace {

struct Access {
    WaveAccess told;
    Vector data[4];
    uint64_t offset[kLanes];
    uint8_t *memory, *written;
};

void describe(Group& group, const char* text, const char* verb, Access& to) {
    to.told = {};
    to.told.lanes = kAll;
    if (const char* lanes = strstr(text, " lanes=")) {
        char* rest;
        const uint64_t first = strtoull(lanes + 7, &rest, 0),
                       last = *rest == '-' ? strtoull(rest + 1, nullptr, 0) : first;
        to.told.lanes = (last - first == 63 ? kAll : ((1ull << (last - first + 1)) - 1)) << first;
    }
    to.told.bytes = (uint32_t)number(text, "bytes", 4);
    const uint64_t at = number(text, "at", 0), step = number(text, "step", to.told.bytes),
                   turn = number(text, "turn", 0);
    const uint64_t modulus = number(text, "modulus", 1ull << 40);
    for (uint64_t l = 0; l < kLanes; l++) to.offset[l] = (at + (l + turn) % 64 * step % modulus) % kBytes;
    const bool is_add = !strncmp(verb, "add", 3), is_store = !strcmp(verb, "store") || !strcmp(verb, "direct");
    to.told.flags = is_add ? kReadsMemory | kWritesMemory | kAtomicAccess : is_store ? kWritesMemory : kReadsMemory;
    if (!strcmp(verb, "addret")) to.told.flags |= kReturnsOld;
    to.told.scope = is_add && scope_of(text) == kWaveScope ? kAgentScope : scope_of(text);
    if (to.told.scope != kWaveScope) to.told.flags |= kAtomicAccess;
    for (int d = 0; d < 4; d++)
        for (uint32_t l = 0; l < kLanes; l++)
            to.data[d].lane[l] = (uint32_t)number(text, "value", 0) + l * (uint32_t)number(text, "rising", 0);
    if (is_store && strcmp(verb, "direct")) to.told.data = to.data[0].lane;
    const bool is_lds = has(text, "lds") || !strcmp(verb, "direct");
    const uint32_t region = (uint32_t)number(text, "region", 0) & 7;
    to.told.region = is_lds ? kLdsRegion : region;
    to.told.memory = to.memory = is_lds ? group.lds : g_memory[region];
    to.told.written = to.written = is_lds ? group.lds_written : g_written[region];
}

void move(const Access& access) {
    const WaveAccess& told = access.told;
    if (!(told.flags & kWritesMemory)) return;
    for (uint32_t l = 0; l < kLanes; l++) {
        if (!(told.lanes >> l & 1)) continue;
        for (uint32_t b = 0; b < told.bytes; b++) {
            const uint8_t byte = (uint8_t)(access.data[b / 4].lane[l] >> b % 4 * 8);
            uint8_t& there = access.memory[access.offset[l] + b];
            there = told.flags & kReadsMemory ? (uint8_t)(there + byte) : byte;
            access.written[access.offset[l] + b] = 1;
        }
    }
}

void touch(Group& group, Wave& wave, const char* text, const char* verb) {
    static Access access;
    describe(group, text, verb, access);
    const bool is_direct = !strcmp(verb, "direct"), is_flat = has(text, "flat");
    const bool is_lds = access.told.region == kLdsRegion;
    for (uint64_t n = number(text, "times", 1); n && !g_has_reported; n--) {
        if (!group.model.note(wave, access.told, access.offset)) return;
        move(access);
        Operand result = {};
        result.kind = strstr(text, " to=s") ? kScalar : kVector;
        const char* to = strstr(text, " to=");
        result.index = to ? (uint32_t)atoi(to + 5) : 0;
        result.dwords = (uint8_t)((access.told.bytes + 3) / 4);
        const uint8_t counters = is_flat ? 3 : is_lds && !is_direct ? kCountsScalar : kCountsVector;
        const uint8_t kind = (is_flat ? kFlat : 0) | (is_direct ? kDirectToLds : is_lds ? kTouchesLds : 0);
        group.model.issue(wave, counters, kind, to ? &result : nullptr);
    }
}

void use(Group& group, Wave& wave, const char* text, bool is_result) {
    Instruction in = {};
    Operand& operand = is_result ? in.result[0] : in.source[0];
    (is_result ? in.results : in.sources) = 1;
    const char* name = strstr(text, is_result ? "write " : "use ") + (is_result ? 6 : 4);
    operand.kind = *name == 's' ? kScalar : kVector;
    operand.index = (uint32_t)atoi(name + 1);
    operand.dwords = 1;
    if (wave.pending.any) group.model.check_pending(wave, in);
}

void play(const char* text) {
    char verb[32] = "", who[32] = "";
    sscanf(text, "%31s %31s", who, verb);
    const uint32_t number_of_group = (uint32_t)atoi(who) % kGroups;
    if (!strcmp(who, "rules")) {
        g_rules = {has(text, "lanes_meet"), has(text, "global_needs_fence"), has(text, "needs_acquire"),
                   has(text, "lane_by_lane")};
    } else if (!strcmp(who, "region")) {
        const uint32_t region = (uint32_t)atoi(verb) & 7;
        prepare_region(region, kBytes);
        memset(g_written[region], has(text, "filled"), kBytes);
    } else if (!strcmp(who, "launch")) {
        open_launch((uint64_t)atoi(verb));
    } else if (!strcmp(verb, "begins")) {
        Group*& group = g_group[number_of_group];
        if (!group) group = (Group*)aligned_alloc(64, sizeof(Group)), memset((void*)group, 0, sizeof(Group));
        group->model.prepare(g_rules);
        group->waves = (uint32_t)number(text, "waves", 1);
        group->model.begin_workgroup(number(text, "linear", number_of_group), group->waves);
        memset(group->lds_written, 0, kBytes);
        for (uint32_t w = 0; w < group->waves; w++) {
            group->wave[w].number = w;
            group->wave[w].hardware[0] = number_of_group;
            group->model.begin_wave(group->wave[w]);
        }
    } else if (!strcmp(verb, "barrier")) {
        g_group[number_of_group]->model.barrier();
    } else if (Group* group = g_group[number_of_group]) {
        const char* dot = strchr(who, '.');
        Wave& wave = group->wave[dot ? (uint32_t)atoi(dot + 1) % kMaxWaves : 0];
        wave.at = g_line;
        if (!strcmp(verb, "wait"))
            group->model.wait(wave, (uint32_t)number(text, "vm", 255), (uint32_t)number(text, "lgkm", 255));
        else if (!strcmp(verb, "wbl2"))
            group->model.writeback(wave, scope_of(text));
        else if (!strcmp(verb, "inv"))
            group->model.invalidate(wave, scope_of(text));
        else if (!strcmp(verb, "meet"))
            group->model.meet(wave, kAll);
        else if (!strcmp(verb, "fence"))
            group->model.note_fence(wave);
        else if (!strcmp(verb, "use") || !strcmp(verb, "write"))
            use(*group, wave, text, *verb == 'w');
        else if (!strcmp(verb, "scalar")) {
            Operand result = {};
            result.kind = kScalar;
            result.index = (uint32_t)atoi(strstr(text, " to=") + 5);
            result.dwords = 1;
            group->model.issue(wave, kCountsScalar, kScalarLoad, &result);
        } else
            touch(*group, wave, text, verb);
    }
}

}  // namespace

int main() {
    char line[512];
    while (!g_has_reported && fgets(line, sizeof line, stdin)) {
        g_line++;
        if (*line != '\n' && *line != '#') play(line);
    }
    return 0;
}
