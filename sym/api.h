// sym/api.h - what a library shows that takes in the static core.
//
//   #include "sym/api.h"
//   PROVISO_API_BEGIN
//   namespace proviso { .. }
//   PROVISO_API_END
//
// A static core is compiled with hidden visibility.  Headers whose names
// another library or a program may need stand between these words; what else is
// compiled is no part of what a library exports that is linked with it.
#pragma once

#if defined(__GNUC__) && !defined(_WIN32)
#define PROVISO_API_BEGIN _Pragma("GCC visibility push(default)")
#define PROVISO_API_END _Pragma("GCC visibility pop")
// Of a class that such a header only names.
#define PROVISO_HIDDEN __attribute__((visibility("hidden")))
#else
#define PROVISO_API_BEGIN
#define PROVISO_API_END
#define PROVISO_HIDDEN
#endif
