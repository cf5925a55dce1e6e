// sym/api.h - what a library shows that has the core in it.
//
//   #include "sym/api.h"
//   PROVISO_API_BEGIN
//   namespace proviso::inline v0_2 { .. }
//   PROVISO_API_END
//
// The core is compiled with hidden visibility.  Public headers stand between
// these words: what they declare can be called from outside a shared library.
// All else is in proviso::internal, and no part of what such a library exports.
//
// The inline namespace is the version of the binary interface: programs write
// proviso::Context and link proviso::v0_2::Context, so that libraries of two
// versions live in one process.
#pragma once

#if defined(__GNUC__) && !defined(_WIN32)
#define PROVISO_API_BEGIN _Pragma("GCC visibility push(default)")
#define PROVISO_API_END _Pragma("GCC visibility pop")
// Marks a class that a public header only names.
#define PROVISO_HIDDEN __attribute__((visibility("hidden")))
#else
#define PROVISO_API_BEGIN
#define PROVISO_API_END
#define PROVISO_HIDDEN
#endif
