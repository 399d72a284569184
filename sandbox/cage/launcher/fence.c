// Landlock and the filter of system calls, last before the program starts.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "launcher.h"

enum { kCreateRuleset = 444, kAddRule = 445, kRestrictSelf = 446, kBeneath = 1 };  // the same on every architecture
static const uint32_t kOwnPid = 0x4B535049;  // stands in the filter for the process's own number; see seccomp.py

struct Beneath {
    uint64_t rights;
    int32_t parent;
} __attribute__((packed));

// Rights of Landlock: execute 1, write 2, read 4, list 8, remove folder 10, remove file 20, make: character device 40,
// folder 80, file 100, socket 200, FIFO 400, block device 800, link 1000; refer 2000, truncate 4000, ioctl 8000 (hex).
static uint64_t rights_of(char kind, int is_folder) {
    uint64_t rights = kind == 'r' ? 0x000C : kind == 'x' ? 0x000D : kind == 'w' ? 0x61BE : 0x0006;
    return is_folder ? rights : rights & 0xC007;
}

static void forbid_files(const struct Order* order) {
    size_t size = order->landlock[2] ? 24 : order->landlock[1] ? 16 : 8;
    long ruleset = syscall(kCreateRuleset, order->landlock, size, 0);
    if (ruleset < 0) die(order, "landlock");
    for (size_t i = 0; i < order->path_count; i++) {
        struct stat about;
        int place = open(order->paths[i].name, O_PATH | O_CLOEXEC);
        if (place < 0) continue;  // this machine has no such path
        if (fstat(place, &about) != 0) die(order, order->paths[i].name);
        struct Beneath rule = {rights_of(order->paths[i].kind, S_ISDIR(about.st_mode)) & order->landlock[0], place};
        if (syscall(kAddRule, ruleset, kBeneath, &rule, 0) != 0) die(order, order->paths[i].name);
        close(place);
    }
    if (syscall(kRestrictSelf, ruleset, 0) != 0) die(order, "landlock");
    close((int)ruleset);
}

void fence(const struct Order* order) {
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) die(order, "no_new_privs");
    if (order->has_landlock) forbid_files(order);
    static struct sock_filter filter[kMostInstructions];
    for (size_t i = 0; i < order->instruction_count; i++) {
        uint64_t word = order->instructions[i];
        filter[i] = (struct sock_filter){word >> 48, word >> 40 & 255, word >> 32 & 255, (uint32_t)word};
        if (filter[i].k == kOwnPid) filter[i].k = (uint32_t)getpid();
    }
    struct sock_fprog program = {(unsigned short)order->instruction_count, filter};
    if (order->instruction_count && syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) != 0)
        die(order, "seccomp");
}
