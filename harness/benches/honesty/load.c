/* Work of a size that the first argument sets, and no output: a command whose true slowdown is known. */
#include <stdlib.h>

int main(int argc, char **argv) {
    volatile unsigned long sum = 0;
    unsigned long n = argc > 1 ? strtoul(argv[1], 0, 10) : 0;
    for (unsigned long i = 0; i < n; i++) {
        sum += i;
    }
    return 0;
}
