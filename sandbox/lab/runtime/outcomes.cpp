#include "outcomes.h"

namespace ks {

extern "C" uint8_t ks_outcomes[2 * kConditions] = {};

void write_outcomes(FILE* out) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < kConditions; i++)
        if (ks_outcomes[2 * i] | ks_outcomes[2 * i + 1]) count = i + 1;
    for (uint32_t i = 0; i < count; i++)
        fputc('0' + (ks_outcomes[2 * i] ? 1 : 0) + (ks_outcomes[2 * i + 1] ? 2 : 0), out);
}

}  // namespace ks
