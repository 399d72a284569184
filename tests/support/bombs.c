// Programs that take without end: bombs NAME. Each must be ended by its limits.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static char g_block[1 << 20];

static void* sleeper(void* nothing) {
    for (;;) pause();
    return nothing;
}

static void spin(void) {
    for (volatile unsigned long n = 0;; n++) continue;
}

static void ignore_limits(void) {
    for (int number = 1; number < 32; number++) signal(number, SIG_IGN);
    spin();
}

static void memory(int sharing) {
    for (;;) {
        void* place = mmap(NULL, sizeof g_block, PROT_READ | PROT_WRITE, sharing | MAP_ANONYMOUS, -1, 0);
        if (place == MAP_FAILED) exit(3);
        memset(place, 1, sizeof g_block);
    }
}

static int recurse(int n) {
    volatile char frame[4096];
    frame[0] = (char)n;
    return recurse(n + 1) + frame[0];
}

static void files(int folders) {
    char name[64];
    for (unsigned n = 0;; n++) {
        snprintf(name, sizeof name, "%u", n);
        if (folders && mkdir(name, 0700) != 0) exit(3);
        if (!folders) close(open(name, O_CREAT | O_WRONLY, 0600));
    }
}

static void one_file(void) {
    int file = open("file", O_CREAT | O_WRONLY, 0600);
    while (write(file, g_block, sizeof g_block) > 0) continue;
}

static void many_large_files(void) {
    char name[64];
    for (unsigned n = 0;; n++) {
        snprintf(name, sizeof name, "%u", n);
        int file = open(name, O_CREAT | O_WRONLY, 0600);
        for (int i = 0; i < 4; i++)
            if (write(file, g_block, sizeof g_block) < 0) break;
        close(file);
    }
}

static void removed_files(int mapped) {
    for (unsigned n = 0;; n++) {
        int file = open("file", O_CREAT | O_RDWR, 0600);
        for (int i = 0; i < 4; i++)
            if (write(file, g_block, sizeof g_block) < 0) break;
        unlink("file");
        if (!mapped) continue;
        mmap(NULL, 4096, PROT_READ, MAP_SHARED, file, 0);
        close(file);
    }
}

static void deep_folders(void) {
    for (;;)
        if (mkdir("d", 0700) != 0 || chdir("d") != 0) exit(3);
}

static void threads(void) {
    pthread_attr_t small;
    pthread_t thread;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 16384);
    while (pthread_create(&thread, &small, sleeper, NULL) == 0) continue;
    for (;;) pause();
}

static void naps(void) {
    struct timespec nap = {0, 20000000};
    for (;;) {
        for (volatile int n = 0; n < 1000; n++) continue;
        nanosleep(&nap, NULL);
    }
}

int main(int count, char** words) {
    const char* name = count > 1 ? words[1] : "";
    signal(SIGXFSZ, SIG_IGN);
    if (!strcmp(name, "spin")) spin();
    if (!strcmp(name, "ignore")) ignore_limits();
    if (!strcmp(name, "sleep")) sleeper(NULL);
    if (!strcmp(name, "naps")) naps();
    if (!strcmp(name, "orphan")) {
        prctl(PR_SET_PDEATHSIG, 0);  // where that is possible, nobody ends it
        sleeper(NULL);
    }
    if (!strcmp(name, "silent")) {
        for (int file = 0; file < 3; file++) close(file);
        sleeper(NULL);
    }
    if (!strcmp(name, "fork"))
        for (;;)
            if (fork() < 0) return 3;
    if (!strcmp(name, "memory")) memory(MAP_PRIVATE);
    if (!strcmp(name, "shared")) memory(MAP_SHARED);
    if (!strcmp(name, "stack")) return recurse(0);
    if (!strcmp(name, "threads")) threads();
    if (!strcmp(name, "output"))
        while (write(1, g_block, sizeof g_block) > 0) continue;
    if (!strcmp(name, "file")) one_file();
    if (!strcmp(name, "files")) files(0);
    if (!strcmp(name, "folders")) files(1);
    if (!strcmp(name, "deep")) deep_folders();
    if (!strcmp(name, "disk")) many_large_files();
    if (!strcmp(name, "removed")) removed_files(0);
    if (!strcmp(name, "mapped")) removed_files(1);
    if (!strcmp(name, "sparse")) {
        int file = open("file", O_CREAT | O_RDWR, 0600);
        if (ftruncate(file, 1ll << 40) == 0) puts("made");
        return 3;
    }
    if (!strcmp(name, "execute"))
        for (;;) execv(words[0], words);
    return 2;
}
