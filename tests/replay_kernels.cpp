// SPDX-License-Identifier: GPL-3.0-or-later
// Loads the kernel library of Windows as ctypes does, replays recorded launches on its thread pool and saves the results.
//
//     replay_kernels LIBRARY LAUNCHES RESULTS
//
// LAUNCHES is what tests/test_prebuilt.py writes: records, each a Record, its Arguments, and the arrays, all multiples of
// 16 bytes. RESULTS is the same file with the arrays as the kernels left them.
#include <stdio.h>
#include <stdlib.h>
#include <windows.h>

union Slot {
    void *pointer;
    int integer;
    float real;
};
typedef void (*Range)(int first, int last, const Slot *slot);
struct Launch {
    Range range;
    const Slot *slot;
    int count, whole;
};
struct Record {
    char kernel[64];
    int count, arguments, whole, unused;
};
struct Argument {
    long long bytes;  // of an array, or 0: then `number` holds the bits of an int or a float
    int number, unused;
};

static const int most_arguments = 64, threads = 3;

static int fail(const char *what)
{
    fprintf(stderr, "%s (error %lu)\n", what, GetLastError());
    return 1;
}

int main(int count, char **argument)
{
    if (count != 4) return fail("usage: replay_kernels LIBRARY LAUNCHES RESULTS");
    HMODULE library = LoadLibraryA(argument[1]);
    if (!library) return fail("the library does not load");
    auto find = (Range(*)(const char *))GetProcAddress(library, "taffeta_kernel");
    auto start = (void *(*)(int))GetProcAddress(library, "taffeta_pool");
    auto run = (void (*)(void *, const Launch *, int))GetProcAddress(library, "taffeta_run");
    auto stop = (void (*)(void *))GetProcAddress(library, "taffeta_pool_free");
    if (!find || !start || !run || !stop) return fail("a function is not exported");

    FILE *file = fopen(argument[2], "rb");
    if (!file || fseek(file, 0, SEEK_END)) return fail("no launches");
    long size = ftell(file);
    char *image = (char *)malloc(size), *place = image;
    rewind(file);
    if (!image || fread(image, 1, size, file) != (size_t)size) return fail("the launches cannot be read");
    fclose(file);

    void *pool = start(threads);
    while (place < image + size) {
        const Record *record = (const Record *)place;
        const Argument *given = (const Argument *)(record + 1);
        if (record->arguments > most_arguments) return fail("too many arguments");
        Slot slot[most_arguments];
        place = (char *)(given + record->arguments);
        for (int k = 0; k < record->arguments; ++k) {
            if (given[k].bytes) slot[k].pointer = place;
            else slot[k].integer = given[k].number;
            place += given[k].bytes;
        }
        Launch launch = {find(record->kernel), slot, record->count, record->whole};
        if (!launch.range) return fail(record->kernel);
        run(pool, &launch, 1);
    }
    stop(pool);

    file = fopen(argument[3], "wb");
    if (!file || fwrite(image, 1, size, file) != (size_t)size || fclose(file)) return fail("the results cannot be saved");
    return 0;
}
