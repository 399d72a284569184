#ifndef KS_CAGE_LAUNCHER_H
#define KS_CAGE_LAUNCHER_H

#include <stddef.h>
#include <stdint.h>

// What the command line asks for; see launcher.c. A path's kind is r (read), x (read and execute), w (write), d (device).
enum { kMostPaths = 64, kMostLimits = 16, kMostKept = 16, kMostInstructions = 4096 };

struct Path {
    char kind;
    const char* name;
    int tree;  // a detached copy of its mount while the namespaces are made
};

struct Limit {
    int resource;
    uint64_t soft, hard;
};

struct Order {
    int namespaces, report, has_landlock;
    long parent;
    const char* folder;  // the program's working folder
    struct Path paths[kMostPaths];
    struct Limit limits[kMostLimits];
    int kept[kMostKept];
    size_t path_count, limit_count, kept_count, instruction_count;
    uint64_t landlock[3];  // rights on files, rights on the network, scopes
    uint64_t instructions[kMostInstructions];
    char** program;
};

int probe(const char* secret, const char* other);
void die(const struct Order* order, const char* what);
void make_namespaces(struct Order* order);
void drop_capabilities(const struct Order* order);
void fence(const struct Order* order);

#endif
