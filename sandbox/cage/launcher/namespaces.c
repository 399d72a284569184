// A view of its own: an empty file system that holds the paths named and nothing else, no network, no other process.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/mount.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "launcher.h"

// <sys/mount.h> and <linux/mount.h> exclude each other in some C libraries.
int mount(const char*, const char*, const char*, unsigned long, const void*);
int umount2(const char*, int);
enum { kDetach = 2, kPrivate = 1 << 18, kRecursive = 16384, kNoSetUid = 2, kNoDevices = 4, kNoExecution = 8 };
enum { kOpenTree = 428, kMoveMount = 429, kMountSetAttr = 442 };  // the same on every architecture

static void write_file(const struct Order* order, const char* path, const char* text) {
    int file = open(path, O_WRONLY | O_CLOEXEC);
    if (file < 0 || write(file, text, strlen(text)) != (ssize_t)strlen(text)) die(order, path);
    close(file);
}

// The same user inside as outside: files it makes are this user's, and no other user can be had.
static void map_user(const struct Order* order, uid_t user, gid_t group) {
    char text[64];
    write_file(order, "/proc/self/setgroups", "deny");
    snprintf(text, sizeof text, "%u %u 1", user, user);
    write_file(order, "/proc/self/uid_map", text);
    snprintf(text, sizeof text, "%u %u 1", group, group);
    write_file(order, "/proc/self/gid_map", text);
}

static void open_trees(struct Order* order) {
    for (size_t i = 0; i < order->path_count; i++) {
        struct Path* path = &order->paths[i];
        path->tree = (int)syscall(kOpenTree, AT_FDCWD, path->name, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE);
        if (path->tree < 0 && errno != ENOENT && errno != ENOTDIR) die(order, path->name);
    }
}

static void make_parents(const struct Order* order, const char* path) {
    char part[4096];
    if (strlen(path) >= sizeof part || path[0] != '/') die(order, path);
    for (const char* slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        memcpy(part, path + 1, slash - path - 1);
        part[slash - path - 1] = 0;
        if (mkdir(part, 0755) != 0 && errno != EEXIST && errno != EROFS) die(order, path);
    }
}

static void attach(const struct Order* order, const struct Path* path) {
    struct stat about;
    if (fstat(path->tree, &about) != 0) die(order, path->name);
    const char* here = path->name + 1;  // the new root is the working folder
    make_parents(order, path->name);
    if (S_ISDIR(about.st_mode)) {
        if (mkdir(here, 0755) != 0 && errno != EEXIST && errno != EROFS) die(order, path->name);
    } else {
        int file = open(here, O_CREAT | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0644);
        if (file >= 0) close(file);
    }
    struct mount_attr attributes = {0};
    attributes.attr_set = MOUNT_ATTR_NOSUID;
    if (path->kind != 'd') attributes.attr_set |= MOUNT_ATTR_NODEV;
    if (path->kind != 'w') attributes.attr_set |= MOUNT_ATTR_RDONLY;
    if (path->kind == 'w' || path->kind == 'd') attributes.attr_set |= MOUNT_ATTR_NOEXEC;
    if (syscall(kMountSetAttr, path->tree, "", AT_EMPTY_PATH | AT_RECURSIVE, &attributes, sizeof attributes) != 0)
        die(order, path->name);
    if (syscall(kMoveMount, path->tree, "", AT_FDCWD, here, MOVE_MOUNT_F_EMPTY_PATH) != 0) die(order, path->name);
    close(path->tree);
}

void make_namespaces(struct Order* order) {
    uid_t user = geteuid();
    gid_t group = getegid();
    const int flags =
        CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP;
    if (unshare(flags) != 0) die(order, "unshare");
    map_user(order, user, group);
    if (mount(NULL, "/", NULL, kRecursive | kPrivate, NULL) != 0) die(order, "mount");
    open_trees(order);
    const char* base = access("/tmp", F_OK) == 0 ? "/tmp" : "/usr";
    if (mount("cage", base, "tmpfs", kNoSetUid | kNoDevices | kNoExecution, "size=1m,nr_inodes=4k,mode=755") != 0)
        die(order, "tmpfs");
    if (chdir(base) != 0) die(order, base);
    for (size_t i = 0; i < order->path_count; i++)
        if (order->paths[i].tree >= 0) attach(order, &order->paths[i]);
    if (syscall(SYS_pivot_root, ".", ".") != 0) die(order, "pivot_root");
    if (umount2(".", kDetach) != 0 || chdir("/") != 0) die(order, "umount2");
    struct mount_attr read_only = {.attr_set = MOUNT_ATTR_RDONLY};
    if (syscall(kMountSetAttr, AT_FDCWD, "/", 0, &read_only, sizeof read_only) != 0) die(order, "mount_setattr");
}

void drop_capabilities(const struct Order* order) {
    for (int capability = 0; prctl(PR_CAPBSET_READ, capability, 0, 0, 0) >= 0; capability++)
        if (prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0) die(order, "capabilities");
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct none[2] = {{0, 0, 0}, {0, 0, 0}};
    if (syscall(SYS_capset, &header, none) != 0) die(order, "capset");
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) die(order, "no_new_privs");
}
