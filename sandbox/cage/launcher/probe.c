// Attempts to get out of the cage it runs in, and prints the name of each that succeeds.
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "launcher.h"

int probe(const char* secret, const char* other) {
    if (open(secret, O_RDONLY) >= 0) puts("read");
    if (open(secret, O_WRONLY) >= 0) puts("write");
    if (socket(AF_INET, SOCK_STREAM, 0) >= 0) puts("connect");
    if (socket(AF_UNIX, SOCK_STREAM, 0) >= 0) puts("connect-unix");
    if (kill(atoi(other), 0) == 0) puts("signal");
    pid_t child = fork();
    if (child == 0) _exit(0);
    if (child > 0) puts("fork");
    return fflush(stdout) == 0 ? 0 : 1;
}
