/* SPDX-License-Identifier: MIT */
#include "cli/debug/screen.h"

#include "base/compiler.h"

#include <signal.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

enum { RESTORE_MAX_B = 256 };

/* One terminal in a process: its handlers of signals have to find it. */
static struct {
    int fd;
    bool has_modes;
    struct termios modes;
    char restore[RESTORE_MAX_B];
    volatile sig_atomic_t restore_B;
} screen = {.fd = -1};

void zs_screen_suspend(void)
{
    if (screen.restore_B)
        (void)!write(STDOUT_FILENO, screen.restore, (size_t)screen.restore_B);
}

/* May be called by handlers. */
static void restore(void)
{
    zs_screen_suspend();
    if (screen.has_modes)
        tcsetattr(screen.fd, TCSANOW, &screen.modes);
}

static void die(int signal_number)
{
    restore();
    raise(signal_number); /* its handler is the default one again */
}

static const int deadly[] = {SIGTERM, SIGHUP, SIGQUIT, SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL};

void zs_screen_init(int fd)
{
    const struct sigaction action = {.sa_handler = die, .sa_flags = (int)SA_RESETHAND | SA_NODEFER};
    screen.fd = fd;
    screen.has_modes = !tcgetattr(fd, &screen.modes);
    for (size_t i = 0; i < ZS_ARRAY_LEN(deadly); i++)
        sigaction(deadly[i], &action, NULL);
}

void zs_screen_fini(void)
{
    for (size_t i = 0; i < ZS_ARRAY_LEN(deadly); i++)
        signal(deadly[i], SIG_DFL);
    screen.has_modes = false;
}

void zs_screen_keep(const struct zs_buf *restore)
{
    screen.restore_B = 0;
    if (!restore || restore->error || restore->size_B > RESTORE_MAX_B)
        return;
    memcpy(screen.restore, restore->data, restore->size_B);
    screen.restore_B = (sig_atomic_t)restore->size_B;
}

bool zs_screen_is_split(void)
{
    return screen.restore_B;
}
