/* SPDX-License-Identifier: MIT */
/*
 * Multiplications a second of systolic instructions in the interpreter alone, on one core, beside
 * what loops of the host's own instructions reach: single-precision multiply-add for floats,
 * products of bytes (VNNI) or pairs of words for integers. Process CPU time, the least of many
 * runs by turns.
 */
#include "eu/eu.h"

#include <immintrin.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { RUNS = 60, INSTS = 512, REPEATS = 40 };

static double cpu_s(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

/* ---- what the host can do: multiplications in a run ---- */

enum { CHAINS = 12, TURNS = 4000 };

/* `one` is applied to CHAINS independent accumulators, which nothing can tell apart from used. */
#define PEAK(name, isa, V, init, one)                                                              \
    __attribute__((target(isa))) static void name(void)                                            \
    {                                                                                              \
        V acc[CHAINS], x = init, y = init;                                                         \
        for (int i = 0; i < CHAINS; i++)                                                           \
            acc[i] = init;                                                                         \
        for (int t = 0; t < TURNS; t++) {                                                          \
            _Pragma("GCC unroll 12") for (int i = 0; i < CHAINS; i++)                              \
            {                                                                                      \
                acc[i] = one(acc[i], x, y);                                                        \
                __asm__ volatile("" : "+v"(acc[i]), "+v"(x));                                      \
            }                                                                                      \
        }                                                                                          \
    }
#define FMA256(a, x, y)   _mm256_fmadd_ps(x, y, a)
#define FMA512(a, x, y)   _mm512_fmadd_ps(x, y, a)
#define MADD256(a, x, y)  _mm256_add_epi32(a, _mm256_madd_epi16(x, y))
#define VNNI256(a, x, y)  _mm256_dpbusd_epi32(a, x, y)
#define VNNI512(a, x, y)  _mm512_dpbusd_epi32(a, x, y)
#define BF16_512(a, x, y) _mm512_dpbf16_ps(a, (__m512bh)(x), (__m512bh)(y))
PEAK(peak_fma, "avx2,fma", __m256, _mm256_setzero_ps(), FMA256)
PEAK(peak_fma512, "avx512f", __m512, _mm512_setzero_ps(), FMA512)
PEAK(peak_madd, "avx2", __m256i, _mm256_setzero_si256(), MADD256)
PEAK(peak_vnni, "avx512vnni,avx512vl,avx2", __m256i, _mm256_setzero_si256(), VNNI256)
PEAK(peak_vnni512, "avx512vnni,avx512f", __m512i, _mm512_setzero_si512(), VNNI512)
PEAK(peak_bf16, "avx512bf16,avx512f", __m512, _mm512_setzero_ps(), BF16_512)

static double measure_peak(void (*run)(void), double per_inst)
{
    double least_s = 1e9;
    for (int i = 0; i < RUNS; i++) {
        double start_s = cpu_s();
        run();
        double used_s = cpu_s() - start_s;
        least_s = used_s < least_s ? used_s : least_s;
    }
    return per_inst * CHAINS * TURNS / least_s * 1e-9;
}

/* ---- the interpreter ---- */

struct subject {
    const char *name, *dst, *src1, *src2;
    double products; /* of an instruction, by lane */
    bool is_xehpc;   /* only there */
};

static struct zs_eu_program *lower(enum zs_isa_platform platform, const struct subject *s,
                                   unsigned lanes, enum zs_eu_host host)
{
    static char text[INSTS * 96];
    struct zs_eu_program *program = NULL;
    struct zs_isa_asm_error where;
    struct zs_diag diag = {0};
    uint8_t *code = NULL;
    size_t size_B = 0, length = 0;
    for (unsigned i = 0; i < INSTS; i++)
        length += (size_t)snprintf(text + length, sizeof(text) - length,
                                   "dpas.8x8 (%u|M0) r%u:%s r%u:%s r40:%s r%u.0:%s\n", lanes,
                                   8 + i % 2 * 8, s->dst, 8 + i % 2 * 8, s->dst, s->src1,
                                   64 + i % 3 * 8, s->src2);
    snprintf(text + length, sizeof(text) - length,
             "(W) send.gtwy (8|M0) null r112 null:0 0x0 0x02000010 {EOT}\n");
    if (zs_isa_assemble(platform, (struct zs_span){(const uint8_t *)text, strlen(text)}, &code,
                        &size_B, &where))
        return NULL;
    const struct zs_eu_lower_params params = {
        .code = {code, size_B}, .simd = lanes, .platform = platform, .host = host};
    if (zs_eu_lower(&params, &program, &diag))
        program = NULL;
    free(code);
    return program;
}

/* Billions of multiplications a second; 0: not here. */
static double measure(enum zs_isa_platform platform, const struct subject *s, unsigned lanes,
                      enum zs_eu_host host)
{
    struct zs_eu_program *program = lower(platform, s, lanes, host);
    struct zs_eu_thread *t = aligned_alloc(64, (sizeof(*t) + 63) & ~(size_t)63);
    double least_s = 1e9;
    bool ok = program && t;
    for (int run = 0; ok && run < RUNS; run++) {
        double used_s = 0;
        for (int i = 0; i < REPEATS; i++) {
            zs_eu_thread_init(t, program, lanes == 16 ? 0xffff : 0xff);
            double start_s = cpu_s();
            if (zs_eu_run(t, program, UINT64_MAX) != ZS_EU_EOT) {
                fprintf(stderr, "dpas_bench: %s\n", t->fault.text);
                exit(1);
            }
            used_s += cpu_s() - start_s;
        }
        least_s = used_s < least_s ? used_s : least_s;
    }
    zs_eu_program_destroy(program);
    free(t);
    return ok ? s->products * lanes * 8 * INSTS * REPEATS / least_s * 1e-9 : 0;
}

static const struct subject subjects[] = {
    {"bf", "f", "bf", "bf", 16, false},       {"hf", "f", "hf", "hf", 16, false},
    {"b by b", "d", "b", "b", 32, false},     {"ub by b", "d", "ub", "b", 32, false},
    {"s4 by s4", "d", "s4", "s4", 64, false}, {"u4 by b", "d", "u4", "b", 32, false},
    {"s2 by s2", "d", "s2", "s2", 64, false}, {"tf32", "f", "tf32", "tf32", 8, true},
    {"bf8", "f", "bf8", "bf8", 32, true},
};

static void print_rows(enum zs_isa_platform platform, unsigned lanes, enum zs_eu_host host,
                       double real, double whole)
{
    for (unsigned i = 0; i < ZS_ARRAY_LEN(subjects); i++) {
        double peak = subjects[i].dst[0] == 'f' ? real : whole;
        if (subjects[i].is_xehpc && platform != ZS_ISA_XE_HPC)
            continue;
        double rate = measure(platform, &subjects[i], lanes, host);
        if (rate > 0)
            printf("| %s, %u lanes | %s | %.1f | %.1f | %.0f %% |\n", subjects[i].name, lanes,
                   zs_eu_host_name(host), rate, peak, rate / peak * 100);
    }
}

int main(void)
{
    printf("Billion multiplications per second and core:\n\n");
    printf("| elements | build | ours | host's own | part |\n|---|---|---|---|---|\n");
    for (enum zs_eu_host host = ZS_EU_HOST_AVX2; host < ZS_EU_HOST_COUNT; host++) {
        if (!zs_eu_host_usable(host))
            continue;
        double real = measure_peak(peak_fma, 8);
        double whole = measure_peak(peak_madd, 16);
        if (host == ZS_EU_HOST_AVX512) {
            whole = measure_peak(peak_vnni, 32);
            double wide = measure_peak(peak_vnni512, 64);
            whole = wide > whole ? wide : whole;
            wide = measure_peak(peak_fma512, 16);
            real = wide > real ? wide : real;
        }
        print_rows(ZS_ISA_XE_HPG, 8, host, real, whole);
        print_rows(ZS_ISA_XE_HPC, 16, host, real, whole);
    }
    if (__builtin_cpu_supports("avx512bf16"))
        printf(
            "\nThe host's own products of bf16 (vdpbf16ps, which rounds in its own way): %.1f.\n",
            measure_peak(peak_bf16, 32));
    return 0;
}
