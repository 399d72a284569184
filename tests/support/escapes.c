// Ways out of a cage, tried one after the other. Prints the name of each that succeeds; in a cage none may.
// escapes try SECRET FOLDER VICTIM PORT SOCKET ABSTRACT | escapes exec PROGRAM | escapes foreign
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/msg.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

extern char** environ;
static char g_text[8][4096];

static const char* in(int slot, const char* folder, const char* name) {
    snprintf(g_text[slot], sizeof g_text[slot], "%s/%s", folder, name);
    return g_text[slot];
}

static void tried(const char* name, int succeeded) {
    if (succeeded) puts(name);
}

static int reads(const char* path) {
    char byte;
    int file = open(path, O_RDONLY | O_NONBLOCK);
    int good = file >= 0 && read(file, &byte, 1) == 1;
    if (file >= 0) close(file);
    return good;
}

static int opens(const char* path, int flags) {
    int file = open(path, flags | O_NONBLOCK, 0600);
    if (file >= 0) close(file);
    return file >= 0;
}

static int lists(const char* path, const char* wanted) {
    DIR* folder = opendir(path);
    int found = 0;
    for (struct dirent* entry; folder && (entry = readdir(folder));) found |= strcmp(entry->d_name, wanted) == 0;
    if (folder) closedir(folder);
    return found;
}

static int creates(const char* path) {
    int made = opens(path, O_WRONLY | O_CREAT | O_EXCL);
    if (made) unlink(path);
    return made;
}

static void files(const char* secret, const char* folder, const char* victim) {
    char here[4096], way[4096] = "";
    snprintf(here, sizeof here, "%s", secret);
    *strrchr(here, '/') = 0;  // the folder of the secret
    const char* base = strrchr(secret, '/') + 1;
    tried("read_file", reads(secret));
    tried("read_passwd", reads("/etc/passwd"));
    tried("read_hosts", reads("/etc/hosts") || reads("/etc/hostname"));
    for (int i = 0; i < 30; i++) strcat(way, "../");
    strcat(way, secret + 1);
    tried("read_by_dots", reads(way));
    int place = open(secret, O_PATH);
    snprintf(way, sizeof way, "/proc/self/fd/%d", place);
    tried("read_by_place", place >= 0 && reads(way));
    snprintf(way, sizeof way, "/proc/self/root%s", secret);
    tried("read_by_own_root", reads(way));
    snprintf(way, sizeof way, "/proc/%s/root%s", victim, secret);
    tried("read_by_others_root", reads(way));
    int link = symlink(secret, in(0, folder, "link"));
    tried("link_symbolic", link == 0);
    tried("read_by_link", link == 0 && reads(in(0, folder, "link")));
    unlink(in(0, folder, "link"));
    tried("link_hard", linkat(AT_FDCWD, secret, AT_FDCWD, in(1, folder, "hard"), 0) == 0);
    unlink(in(1, folder, "hard"));
    tried("write_file", opens(secret, O_WRONLY));
    tried("append_file", opens(secret, O_WRONLY | O_APPEND));
    tried("truncate_file", truncate(secret, 6) == 0);
    tried("create_beside", creates(in(0, here, "new")));
    tried("create_tmp", creates("/tmp/ks-escape"));
    tried("create_shm", creates("/dev/shm/ks-escape"));
    tried("create_var_tmp", creates("/var/tmp/ks-escape"));
    tried("make_folder", mkdir(in(0, here, "made"), 0700) == 0 && rmdir(in(0, here, "made")) == 0);
    tried("rename_file", rename(in(0, here, "moved"), in(1, here, "moving")) == 0 &&
                             rename(in(1, here, "moving"), in(0, here, "moved")) == 0);
    tried("remove_file", unlink(in(0, here, "removed")) == 0);
    tried("rights_of_file", chmod(secret, 0600) == 0);
    tried("owner_of_file", chown(secret, getuid(), getgid()) == 0);
    tried("times_of_file", utimensat(AT_FDCWD, secret, NULL, 0) == 0);
    tried("attribute_of_file", setxattr(secret, "user.ks", "x", 1, 0) == 0);
    tried("set_user_bit", creat(in(0, folder, "suid"), 0700) >= 0 && chmod(in(0, folder, "suid"), 04755) == 0);
    tried("fifo", mkfifo(in(0, folder, "fifo"), 0600) == 0);
    unlink(in(0, folder, "fifo"));
    tried("device", mknod(in(0, folder, "null"), S_IFCHR | 0600, 0x103) == 0);
    unlink(in(0, folder, "null"));
    tried("list_folder", lists(here, base));
    tried("list_root", lists("/", "etc"));
    tried("list_devices", lists("/dev", "zero"));
    tried("watch_file", inotify_add_watch(inotify_init1(0), secret, IN_OPEN) >= 0);
    struct {
        unsigned bytes;
        int type;
        unsigned char handle[128];
    } handle = {128, 0, {0}};
    int number;
    tried("file_handle", syscall(SYS_name_to_handle_at, AT_FDCWD, secret, &handle, &number, 0) == 0);
    tried("sync", syscall(SYS_syncfs, place) == 0);
}

static void devices(void) {
    tried("device_zero", opens("/dev/zero", O_RDONLY));
    tried("device_terminals", opens("/dev/ptmx", O_RDWR));
    tried("device_messages", opens("/dev/kmsg", O_RDONLY));
    tried("device_tun", opens("/dev/net/tun", O_RDWR));
    tried("device_full", opens("/dev/full", O_RDWR));
    tried("sys", lists("/sys", "kernel"));
    tried("kernel_log", syscall(SYS_syslog, 10, NULL, 0) >= 0);
}

static void network(int port, const char* path, const char* name, const char* folder) {
    struct sockaddr_in there = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    struct sockaddr_in any = {.sin_family = AF_INET};
    struct sockaddr_un file = {.sun_family = AF_UNIX}, abstract = {.sun_family = AF_UNIX},
                       own = {.sun_family = AF_UNIX};
    snprintf(file.sun_path, sizeof file.sun_path, "%s", path);
    snprintf(abstract.sun_path + 1, sizeof abstract.sun_path - 1, "%s", name);
    snprintf(own.sun_path, sizeof own.sun_path, "%s/s", folder);
    socklen_t size = offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name);
    int pair[2];
    tried("tcp_connect", connect(socket(AF_INET, SOCK_STREAM, 0), (void*)&there, sizeof there) == 0);
    int server = socket(AF_INET, SOCK_STREAM, 0);
    tried("tcp_listen", bind(server, (void*)&any, sizeof any) == 0 && listen(server, 1) == 0);
    tried("udp_send", sendto(socket(AF_INET, SOCK_DGRAM, 0), "x", 1, 0, (void*)&there, sizeof there) == 1);
    tried("unix_connect", connect(socket(AF_UNIX, SOCK_STREAM, 0), (void*)&file, sizeof file) == 0);
    tried("abstract_connect", connect(socket(AF_UNIX, SOCK_STREAM, 0), (void*)&abstract, size) == 0);
    tried("unix_listen", bind(socket(AF_UNIX, SOCK_STREAM, 0), (void*)&own, sizeof own) == 0);
    unlink(own.sun_path);
    tried("netlink", socket(AF_NETLINK, SOCK_RAW, 0) >= 0);
    tried("socket_pair", socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
    tried("vsock", socket(40, SOCK_STREAM, 0) >= 0);
}

static void processes(pid_t victim) {
    char path[64], byte = 0;
    int ends[2];
    struct iovec local = {&byte, 1}, remote = {(void*)0x10000, 1};
    struct timespec when;
    struct rlimit limits;
    siginfo_t info = {.si_signo = SIGURG, .si_code = SI_QUEUE};
    cpu_set_t set;
    snprintf(path, sizeof path, "%d", victim);
    tried("list_processes", lists("/proc", path));
    for (const char** name = (const char*[]){"environ", "mem", "maps", "status", "cmdline", NULL}; *name; name++) {
        snprintf(path, sizeof path, "/proc/%d/%s", victim, *name);
        char label[64];
        snprintf(label, sizeof label, "proc_%s", *name);
        tried(label, opens(path, O_RDONLY));
    }
    tried("proc_self", opens("/proc/self/status", O_RDONLY));
    tried("signal", kill(victim, SIGURG) == 0);
    tried("signal_all", kill(-1, 0) == 0);
    tried("signal_group", kill(-getpgid(victim), 0) == 0);
    tried("signal_thread", syscall(SYS_tkill, victim, SIGURG) == 0);
    tried("signal_thread_of_group", syscall(SYS_tgkill, victim, victim, SIGURG) == 0);
    tried("signal_queue", syscall(SYS_rt_sigqueueinfo, victim, SIGURG, &info) == 0);
    tried("signal_by_descriptor", pipe(ends) == 0 && fcntl(ends[0], F_SETOWN, victim) == 0);
    tried("process_descriptor", syscall(SYS_pidfd_open, victim, 0) >= 0);
    tried("trace", ptrace(PTRACE_SEIZE, victim, NULL, NULL) == 0 && ptrace(PTRACE_DETACH, victim, NULL, NULL) <= 0);
    tried("memory_read", process_vm_readv(victim, &local, 1, &remote, 1, 0) >= 0 || errno == EFAULT);
    tried("memory_write", process_vm_writev(victim, &local, 1, &remote, 1, 0) >= 0 || errno == EFAULT);
    tried("affinity_of_other", sched_getaffinity(victim, sizeof set, &set) == 0);
    tried("pin_other", sched_setaffinity(victim, sizeof set, &set) == 0);
    tried("priority_of_other", setpriority(PRIO_PROCESS, victim, 0) == 0);
    tried("limits_of_other", prlimit(victim, RLIMIT_NOFILE, NULL, &limits) == 0);
    tried("clock_of_other", clock_gettime((clockid_t)(~(unsigned)victim << 3 | 2), &when) == 0);
    tried("compare", syscall(SYS_kcmp, getpid(), victim, 0, 0, 0) >= 0);
    tried("session_of_other", getsid(victim) >= 0);  // 0: its leader is outside our process namespace
}

static void children(const char* folder) {
    pid_t child = fork();
    if (child == 0) {
        if (setsid() > 0 && fork() == 0) {
            for (int file = 0; file < 3; file++) close(file);
            sleep(300);
        }
        _exit(0);
    }
    tried("fork", child > 0);
    if (child > 0) waitpid(child, NULL, 0);
    child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (child == 0) _exit(0);
    tried("clone", child > 0);
    uint64_t words[11] = {0, 0, 0, 0, SIGCHLD};
    child = (pid_t)syscall(SYS_clone3, words, sizeof words);
    if (child == 0) _exit(0);
    tried("clone3", child > 0);
    tried("leave_group", setpgid(0, 0) == 0 || setsid() > 0);
    tried("memory_file", memfd_create("x", 0) >= 0);
    (void)folder;
}

static void kernel(const char* folder) {
    struct {
        uint32_t words[32];
    } attributes = {{2, 4, 4, 1}};  // a map of arrays for BPF
    uint8_t ring[256] = {0}, events[128] = {0};
    uint32_t capabilities[6] = {0}, header[2] = {0x20080522, 0};
    tried("bpf", syscall(SYS_bpf, 0, &attributes, sizeof attributes) >= 0);
    tried("ring", syscall(425, 4, ring) >= 0);
    tried("page_faults", syscall(SYS_userfaultfd, 1) >= 0);
    *(uint32_t*)events = 1, *(uint32_t*)(events + 4) = sizeof events;
    tried("performance_events", syscall(SYS_perf_event_open, events, 0, -1, -1, 0) >= 0);
    tried("add_key", syscall(SYS_add_key, "user", "ks-escape", "x", 1, -2) >= 0);
    tried("keyring", syscall(SYS_keyctl, 0, -3, 1) >= 0);
    int shared = shmget(IPC_PRIVATE, 4096, 0600), queue = msgget(IPC_PRIVATE, 0600), set = semget(IPC_PRIVATE, 1, 0600);
    tried("shared_memory", shared >= 0);
    tried("message_queue", queue >= 0);
    tried("semaphores", set >= 0);
    shmctl(shared, IPC_RMID, NULL), msgctl(queue, IPC_RMID, NULL), semctl(set, 0, IPC_RMID);
    tried("user_namespace", unshare(CLONE_NEWUSER) == 0);
    tried("mount_namespace", unshare(CLONE_NEWNS) == 0);
    tried("mount", mount("x", folder, "tmpfs", 0, "") == 0);
    tried("change_root", chroot(folder) == 0);
    tried("join_namespace", syscall(SYS_setns, open("/proc/1/ns/net", O_RDONLY), 0) == 0);
    tried("lock_memory", mlockall(MCL_FUTURE) == 0);
    syscall(SYS_capget, header, capabilities);
    tried("capabilities", capabilities[0] || capabilities[1] || capabilities[3] || capabilities[4]);
    tried("other_user", setresuid(65534, 65534, 65534) == 0);
}

static void inherited(void) {
    int others = 0;
    for (int file = 3; file < 1024; file++) others |= fcntl(file, F_GETFD) >= 0;
    tried("descriptor", others);
    tried("environment", getenv("KS_TEST_SECRET") != NULL);
}

int main(int count, char** words) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (count > 2 && strcmp(words[1], "exec") == 0) {
        char* program[] = {words[2], "-c", "echo executed", NULL};
        execv(words[2], program);
        return 0;
    }
#ifdef __x86_64__
    if (count > 1 && strcmp(words[1], "foreign") == 0) {
        int process;
        __asm__ volatile("int $0x80" : "=a"(process) : "a"(20) : "memory");  // getpid by the numbers of i386
        tried("foreign_call", process == getpid());
        return 0;
    }
#endif
    if (count != 8) return 2;
    inherited();
    files(words[2], words[3], words[4]);
    devices();
    network(atoi(words[5]), words[6], words[7], words[3]);
    processes(atoi(words[4]));
    children(words[3]);
    kernel(words[3]);
    puts("done");
    return 0;
}
