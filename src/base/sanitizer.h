/* SPDX-License-Identifier: MIT */
/* Which of clang's sanitizers a file is built with, 0 or 1. */
#ifndef ZS_BASE_SANITIZER_H
#define ZS_BASE_SANITIZER_H

#if defined(__has_feature)
#define ZS_HAS_ASAN __has_feature(address_sanitizer)
#define ZS_HAS_TSAN __has_feature(thread_sanitizer)
#else
#define ZS_HAS_ASAN 0
#define ZS_HAS_TSAN 0
#endif

#endif
