#include "indexed.h"

#include "report.h"

namespace machine {

namespace {

constexpr uint32_t kFile = 256;  // registers of one kind: v, or a

bool shift(Operand& operand, uint32_t by) {
    if (operand.kind != kVector) return true;
    const uint32_t end = operand.index < kFile ? kFile : kVectors;
    if (operand.index + by + operand.dwords > end) return false;
    operand.index += by;
    return true;
}

}  // namespace

void execute_indexed(Wave& w, Handler run, const Instruction& in) {
    const bool has_vectors = in.result[0].kind == kVector || in.source[0].kind == kVector;
    if (in.bytes || !has_vectors) return run(w, in);
    const uint32_t by = w.s[kM0] & 255;
    if ((w.scalar_defined[kM0] & 255) != 255) report_undefined(w, w.exec(), w.scalar_origin[kM0]);
    Instruction moved = in;
    bool is_inside = true;
    for (uint32_t k = 0; k < 3 && k < in.sources; k++)
        if (w.index_mode >> k & 1) is_inside &= shift(moved.source[k], by);
    if (w.index_mode & kIndexResult && in.results) is_inside &= shift(moved.result[0], by);
    if (is_inside)
        run(w, moved);
    else
        report(w, kOutOfBounds, w.exec(), by);
}

}  // namespace machine
