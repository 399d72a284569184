// Plays operations on tables of lines, a letter and a number each, and prints what each answers. See test_line_table.py.
#include "line_table.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

namespace machine {

void die(const char* message) {
    fprintf(stderr, "%s\n", message);
    exit(1);
}

}  // namespace machine

int main() {
    machine::LineTable<uint32_t> counts = {};
    char verb;
    uint64_t line;
    while (scanf(" %c %" SCNu64, &verb, &line) == 2) {
        if (verb == 'n') {  // is it new?
            printf("%d", counts.add(line));
        } else if (verb == 'f') {  // how often was it counted?
            const uint32_t* const count = counts.find(line);
            printf("%d", count ? (int)(*count % 10) : 0);
        } else if (verb == 'c') {
            uint32_t* const count = counts.at(line);
            if (count) ++*count;
        } else if (verb == 'e') {
            counts.clear();
        } else {
            counts.close();
        }
    }
    return 0;
}
