/* SPDX-License-Identifier: MIT */
/* Windows speaks UTF-16: every text is converted on its way in and out, whatever the code page. */
#include "base/os.h"
#include "base/parallel.h"

#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <share.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <wchar.h>

#define WIN32_LEAN_AND_MEAN
#include <windows.h>

#include <ntsecapi.h>
#include <shellapi.h>

#ifndef ENABLE_VIRTUAL_TERMINAL_PROCESSING
#define ENABLE_VIRTUAL_TERMINAL_PROCESSING 4
#endif

/* ---- errors and text ---- */

static int last_error(void)
{
    static const struct {
        DWORD code;
        int error;
    } rows[] = {
        {ERROR_FILE_NOT_FOUND, -ENOENT}, {ERROR_PATH_NOT_FOUND, -ENOENT},
        {ERROR_INVALID_NAME, -ENOENT},   {ERROR_BAD_NETPATH, -ENOENT},
        {ERROR_ACCESS_DENIED, -EACCES},  {ERROR_SHARING_VIOLATION, -EACCES},
        {ERROR_FILE_EXISTS, -EEXIST},    {ERROR_ALREADY_EXISTS, -EEXIST},
        {ERROR_DISK_FULL, -ENOSPC},      {ERROR_NOT_ENOUGH_MEMORY, -ENOMEM},
        {ERROR_BROKEN_PIPE, -EPIPE},     {ERROR_NO_DATA, -EPIPE},
    };
    DWORD code = GetLastError();
    for (size_t i = 0; i < ZS_ARRAY_LEN(rows); i++)
        if (rows[i].code == code)
            return rows[i].error;
    return -EIO;
}

/* The caller frees. NULL with errno for what is no UTF-8: no file has such a name. */
static wchar_t *to_wide(const char *text)
{
    int length = MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, text, -1, NULL, 0);
    wchar_t *wide = length > 0 ? malloc((size_t)length * sizeof(*wide)) : NULL;
    if (!wide)
        errno = length > 0 ? ENOMEM : ENOENT;
    else
        MultiByteToWideChar(CP_UTF8, 0, text, -1, wide, length);
    return wide;
}

static char *to_utf8(const wchar_t *wide)
{
    int length = WideCharToMultiByte(CP_UTF8, 0, wide, -1, NULL, 0, NULL, NULL);
    char *text = length > 0 ? malloc((size_t)length) : NULL;
    if (text)
        WideCharToMultiByte(CP_UTF8, 0, wide, -1, text, length, NULL, NULL);
    return text;
}

/* ---- files ---- */

static int take_info(HANDLE file, struct zs_path_info *ret_info)
{
    const int64_t ticks_per_s = 10000000, from_1601_to_1970_s = 11644473600;
    BY_HANDLE_FILE_INFORMATION info;
    DWORD type = GetFileType(file);
    if (type != FILE_TYPE_DISK) {
        *ret_info =
            (struct zs_path_info){.kind = type == FILE_TYPE_CHAR ? ZS_PATH_DEVICE : ZS_PATH_OTHER};
        return 0;
    }
    if (!GetFileInformationByHandle(file, &info))
        return last_error();
    uint64_t ticks =
        (uint64_t)info.ftLastWriteTime.dwHighDateTime << 32 | info.ftLastWriteTime.dwLowDateTime;
    *ret_info = (struct zs_path_info){
        .kind = info.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY ? ZS_PATH_FOLDER : ZS_PATH_FILE,
        .size_B = (uint64_t)info.nFileSizeHigh << 32 | info.nFileSizeLow,
        .mtime_s = (int64_t)ticks / ticks_per_s - from_1601_to_1970_s,
        .mtime_ns = (uint32_t)((int64_t)ticks % ticks_per_s * 100),
    };
    return 0;
}

int zs_os_path_info(const char *path, struct zs_path_info *ret_info)
{
    wchar_t *wide = to_wide(path);
    if (!wide)
        return -errno;
    HANDLE file = CreateFileW(
        wide, FILE_READ_ATTRIBUTES, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL,
        OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, NULL); /* else folders cannot be opened */
    int error = file == INVALID_HANDLE_VALUE ? last_error() : take_info(file, ret_info);
    if (file != INVALID_HANDLE_VALUE)
        CloseHandle(file);
    free(wide);
    return error;
}

int zs_os_file_info(int fd, struct zs_path_info *ret_info)
{
    HANDLE file = (HANDLE)_get_osfhandle(fd);
    return file == INVALID_HANDLE_VALUE ? -EBADF : take_info(file, ret_info);
}

static int open_wide(const char *path, int flags)
{
    wchar_t *wide = to_wide(path);
    if (!wide)
        return -errno;
    int fd = _wopen(wide, flags | _O_BINARY | _O_NOINHERIT, _S_IREAD | _S_IWRITE);
    int error = fd < 0 ? -errno : fd;
    free(wide);
    return error;
}

int zs_os_open_read(const char *path)
{
    struct zs_path_info info;
    int fd = open_wide(path, _O_RDONLY);
    if (fd == -EACCES && !zs_os_path_info(path, &info) && info.kind == ZS_PATH_FOLDER)
        return -EISDIR;
    return fd;
}

int zs_os_open_read_at(int dir_fd, const char *name)
{
    (void)dir_fd, (void)name;
    return -ENOSYS; /* descriptors of folders do not exist here */
}

int zs_os_open_device(const char *path)
{
    return open_wide(path, _O_WRONLY);
}

int zs_os_open_temp(char *name)
{
    enum { TRIES = 1000 };
    char *suffix = name + strlen(name) - 6;
    uint64_t value = GetTickCount64() ^ (uint64_t)GetCurrentProcessId() << 16;
    for (int i = 0; i < TRIES; i++) {
        value = value * 6364136223846793005u + 1442695040888963407u;
        for (int k = 0; k < 6; k++)
            suffix[k] = (char)('a' + (value >> (16 + 6 * k)) % 26);
        int fd = open_wide(name, _O_RDWR | _O_CREAT | _O_EXCL);
        if (fd != -EEXIST)
            return fd;
    }
    return -EEXIST;
}

char *zs_os_real_path(const char *path)
{
    return NULL; /* links are few here */
}

int zs_os_rename(const char *from, const char *to)
{
    wchar_t *wide_from = to_wide(from), *wide_to = to_wide(to);
    int error = 0;
    if (!wide_from || !wide_to)
        error = -errno;
    else if (!MoveFileExW(wide_from, wide_to, MOVEFILE_REPLACE_EXISTING))
        error = last_error();
    free(wide_from);
    free(wide_to);
    return error;
}

int zs_os_unlink(const char *path)
{
    wchar_t *wide = to_wide(path);
    int error = !wide || _wunlink(wide) ? -errno : 0;
    free(wide);
    return error;
}

enum { TRANSFER_B_MAX = 1 << 20 };

ssize_t zs_os_read(int fd, void *data, size_t size_B)
{
    int n = _read(fd, data, (unsigned)ZS_MIN(size_B, (size_t)TRANSFER_B_MAX));
    return n < 0 ? -errno : n;
}

ssize_t zs_os_write(int fd, const void *data, size_t size_B)
{
    int n = _write(fd, data, (unsigned)ZS_MIN(size_B, (size_t)TRANSFER_B_MAX));
    if (n >= 0)
        return n;
    /* the C library calls a pipe without a reader an invalid argument */
    HANDLE file = (HANDLE)_get_osfhandle(fd);
    bool is_pipe = file != INVALID_HANDLE_VALUE && GetFileType(file) == FILE_TYPE_PIPE;
    return errno == EINVAL && is_pipe ? -EPIPE : -errno;
}

bool zs_os_random(uint64_t *ret_value)
{
    return RtlGenRandom(ret_value, sizeof(*ret_value));
}

/* ---- terminals ---- */

static struct {
    bool is_terminal[3]; /* by descriptor: obeys escape sequences */
    DWORD old_mode[3];
    UINT old_code_page; /* 0: not changed */
} console;

static HANDLE console_of(int fd)
{
    return GetStdHandle(fd == 2 ? STD_ERROR_HANDLE : STD_OUTPUT_HANDLE);
}

/* The console outlives us and belongs to others, too. */
static void leave_console(void)
{
    for (int fd = 1; fd <= 2; fd++)
        if (console.is_terminal[fd])
            SetConsoleMode(console_of(fd), console.old_mode[fd]);
    if (console.old_code_page)
        SetConsoleOutputCP(console.old_code_page);
}

static void enter_console(void)
{
    for (int fd = 1; fd <= 2; fd++) {
        DWORD mode;
        if (!GetConsoleMode(console_of(fd), &mode))
            continue;
        console.old_mode[fd] = mode;
        console.is_terminal[fd] =
            SetConsoleMode(console_of(fd), mode | ENABLE_VIRTUAL_TERMINAL_PROCESSING) != 0;
        if (!console.old_code_page) {
            console.old_code_page = GetConsoleOutputCP();
            SetConsoleOutputCP(CP_UTF8);
            atexit(leave_console);
        }
    }
}

bool zs_os_is_terminal(int fd)
{
    return (fd == 1 || fd == 2) && console.is_terminal[fd];
}

unsigned zs_os_columns(int fd)
{
    CONSOLE_SCREEN_BUFFER_INFO info;
    if ((fd != 1 && fd != 2) || !GetConsoleScreenBufferInfo(console_of(fd), &info))
        return 0;
    return (unsigned)(info.srWindow.Right - info.srWindow.Left + 1);
}

/* ---- the program ---- */

/* Arguments as they were given, not in the code page of the system. */
static void take_arguments(int *argc, char ***argv)
{
    int count;
    wchar_t **wide = CommandLineToArgvW(GetCommandLineW(), &count);
    char **texts = wide ? calloc((size_t)count + 1, sizeof(*texts)) : NULL;
    if (!texts)
        return;
    for (int i = 0; i < count; i++)
        if (!(texts[i] = to_utf8(wide[i])))
            return;
    LocalFree(wide);
    *argc = count;
    *argv = texts;
}

/* The same for ZESCOPE_NAME=VALUE. */
static void take_environment(void)
{
    static const wchar_t prefix[] = L"ZESCOPE_";
    wchar_t *all = GetEnvironmentStringsW();
    for (const wchar_t *entry = all; entry && *entry; entry += wcslen(entry) + 1) {
        char *text = wcsncmp(entry, prefix, ZS_ARRAY_LEN(prefix) - 1) ? NULL : to_utf8(entry);
        if (text)
            _putenv(text);
        free(text);
    }
    FreeEnvironmentStringsW(all);
}

/* A console that gets a character of UTF-8 in pieces shows none: what is printed is gathered. */
static void gather_output(void)
{
    enum { BUFFER_B = 1 << 14 };
    setvbuf(stdout, NULL, _IOFBF, BUFFER_B);
    setvbuf(stderr, NULL, _IOFBF, BUFFER_B);
}

void zs_os_start(int *argc, char ***argv)
{
    for (int fd = 0; fd <= 2; fd++)
        _setmode(fd, _O_BINARY);
    gather_output();
    take_arguments(argc, argv);
    take_environment();
    enter_console();
}

uint32_t zs_host_cores(void)
{
    SYSTEM_INFO info;
    GetSystemInfo(&info);
    return info.dwNumberOfProcessors ? (uint32_t)info.dwNumberOfProcessors : 1;
}

bool zs_os_has_drives(void)
{
    return true;
}

void zs_os_expect_fill(void *data, size_t size_B)
{
    (void)data, (void)size_B;
}

bool zs_os_may_grow_to(uint64_t size_B)
{
    (void)size_B;
    return true;
}

/* zescope.exe leaves the locale as it is: C. */
struct zs_os_numbers zs_os_numbers_begin(void)
{
    return (struct zs_os_numbers){NULL, NULL};
}

void zs_os_numbers_end(struct zs_os_numbers numbers)
{
    (void)numbers;
}
