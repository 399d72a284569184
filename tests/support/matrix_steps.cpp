// Executes matrix instructions, one a record: reads records from standard input until it ends, writes each as it is then.
#include <stdio.h>
#include <stdlib.h>

#include "matrix.h"
#include "report.h"

using namespace machine;

namespace {

constexpr int kWindow = 96;  // registers of the wave that a record holds

struct Record {
    char name[48];
    Instruction instruction;
    uint64_t exec, present, is_exact, base;  // base: the first register of the window
    uint64_t findings, kind, lanes, detail;  // out: how many, and the last one
    Vector values[kWindow];
    Defined defined[kWindow];
    uint32_t origin[kWindow];
};
static_assert(sizeof(Record) == 256 + kWindow * (256 + 32 + 4));

Record g_record;
Wave g_wave;

}  // namespace

namespace machine {

extern const SemanticsList kMatrix, kSparseMatrix;

void report(Wave&, FindingKind kind, uint64_t lanes, uint64_t detail, uint32_t) {
    g_record.findings++;
    g_record.kind = kind;
    g_record.lanes = lanes;
    g_record.detail = detail;
}

}  // namespace machine

static Handler find(const SemanticsList& list, const char* name) {
    for (uint32_t i = 0; i < list.count; i++)
        if (!strcmp(list.first[i].name, name)) return list.first[i].run;
    return nullptr;
}

static void execute(Handler run) {
    Wave& w = g_wave;
    memcpy(&w.v[g_record.base], g_record.values, sizeof g_record.values);
    memcpy(&w.defined[g_record.base], g_record.defined, sizeof g_record.defined);
    memcpy(&w.origin[g_record.base], g_record.origin, sizeof g_record.origin);
    w.set_scalar64(kExec, g_record.exec);
    w.write_mask = g_record.exec;
    w.present = g_record.present;
    w.at = 7;
    g_matrix_settings.is_exact = g_record.is_exact;
    run(w, g_record.instruction);
    memcpy(g_record.values, &w.v[g_record.base], sizeof g_record.values);
    memcpy(g_record.defined, &w.defined[g_record.base], sizeof g_record.defined);
    memcpy(g_record.origin, &w.origin[g_record.base], sizeof g_record.origin);
}

int main(int count, char**) {
    if (count > 1) {
        const SemanticsList* const lists[] = {&kMatrix, &kSparseMatrix};
        for (const SemanticsList* list : lists)
            for (uint32_t i = 0; i < list->count; i++) puts(list->first[i].name);
        return 0;
    }
    while (fread(&g_record, sizeof g_record, 1, stdin) == 1) {
        Handler run = find(kMatrix, g_record.name);
        if (!run) run = find(kSparseMatrix, g_record.name);
        if (!run || g_record.base + kWindow > kVectors) return 1;
        execute(run);
        if (fwrite(&g_record, sizeof g_record, 1, stdout) != 1) return 1;
    }
    return 0;
}
