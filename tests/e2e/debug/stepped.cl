// Kernels that a debugger steps through, line by line. They are C as well: there L(...) and Q(...) write
// down what the variables hold when a line begins, here they are nothing.
#ifndef L
#define L(...)
#define Q(...)
#endif
typedef struct {
    int a;
    float b;
    long c;
    short d[4];
} thing;

// clang-format off
float scaled(float value, int by)
{
    L(value, by) float more = value * (float)by;
    L(value, by, more) more += 0.5f;
    L(value, by, more) return more;
}

kernel void straight(global const int *in, global float *out, int n, float scale)
{
    L(n, scale) int i = get_global_id(0);
    L(n, scale, i) int first = in[i];
    L(n, scale, i, first) int second = first * 3 + n;
    L(n, scale, i, first, second) float third = (float)second * scale;
    L(n, scale, i, first, second, third) int dead = first;
    L(n, scale, i, first, second, third, dead) second = second * 5 + 1;
    L(n, scale, i, first, second, third, dead) third = third + (float)second;
    L(n, scale, i, first, second, third, dead) out[i] = third;
    L(n, scale, i, first, second, third, dead) out[i + 64] = third * 2.0f;
}

kernel void sums(global const int *in, global float *out, int n, float scale)
{
    L(n, scale) int i = get_global_id(0), sum = n;
    for (int k = 0; Q(n, scale, i, sum, k) k < in[i]; Q(n, scale, i, sum, k) k++) {
        L(n, scale, i, sum, k) sum += in[k] * 3 + k;
    }
    L(n, scale, i, sum) if (sum & 1) {
        L(n, scale, i, sum) sum = sum * 5 + 1;
    }
    L(n, scale, i, sum) out[i] = (float)sum;
}

kernel void branches(global const int *in, global float *out, int n, float scale)
{
    L(n, scale) int i = get_global_id(0);
    L(n, scale, i) int x = in[i];
    L(n, scale, i, x) float y = 1.0f;
    L(n, scale, i, x, y) if (x > 3) {
        L(n, scale, i, x, y) int t = x * x;
        L(n, scale, i, x, y, t) y = (float)t * scale;
        L(n, scale, i, x, y, t) x = in[t % n];
    } else if (x > 1) {
        L(n, scale, i, x, y) int u = in[x + 1] - x;
        L(n, scale, i, x, y, u) for (int k = 0; Q(n, scale, i, x, y, u, k) k < u; Q(n, scale, i, x, y, u, k) k++) {
            L(n, scale, i, x, y, u, k) y += (float)in[k] / scale;
        }
        L(n, scale, i, x, y, u) x = x - 1;
    }
    L(n, scale, i, x, y) y = y + (float)x;
    L(n, scale, i, x, y) out[i] = y;
}

kernel void vectors(global const int *in, global float *out, int n, float scale)
{
    L(n, scale) int i = get_global_id(0);
    L(n, scale, i) float4 v = {(float)in[i], (float)i, scale, 2.0f};
    L(n, scale, i, v) int2 pair = {i, in[i]};
    L(n, scale, i, v, pair) float4 acc = {0.0f, 0.0f, 0.0f, 0.0f};
    L(n, scale, i, v, pair, acc) for (int k = 0; Q(n, scale, i, v, pair, acc, k) k < n; Q(n, scale, i, v, pair, acc, k) k++) {
        L(n, scale, i, v, pair, acc, k) float t = v.x * (float)k + scale;
        L(n, scale, i, v, pair, acc, k, t) acc += v * t;
        L(n, scale, i, v, pair, acc, k, t) v = v.yzwx;
    }
    L(n, scale, i, v, pair, acc) pair = pair * 3 + pair.yx;
    L(n, scale, i, v, pair, acc) out[i] = acc.x + acc.w + (float)pair.x;
    L(n, scale, i, v, pair, acc) out[i + 64] = acc.y - acc.z + (float)pair.y;
}

kernel void longs(global const int *in, global float *out, int n, float scale)
{
    L(n, scale) int i = get_global_id(0);
    L(n, scale, i) long big = (long)in[i] * 123456789012L;
    L(n, scale, i, big) ulong hash = (ulong)big ^ 0x9e3779b97f4a7c15UL;
    L(n, scale, i, big, hash) long2 both = {big, (long)hash};
    L(n, scale, i, big, hash, both) short small = (short)(i * 1000);
    L(n, scale, i, big, hash, both, small) uchar byte = (uchar)(i * 37);
    L(n, scale, i, big, hash, both, small, byte) both.x += (long)small, both.y += (long)byte;
    L(n, scale, i, big, hash, both, small, byte) hash = hash * 31UL + (ulong)both.x;
    L(n, scale, i, big, hash, both, small, byte) big = big + both.y;
    L(n, scale, i, big, hash, both, small, byte) out[i] = (float)(hash >> 40);
    L(n, scale, i, big, hash, both, small, byte) out[i + 64] = (float)big;
}

kernel void structures(global const int *in, global float *out, int n, float scale)
{
    L(n, scale) int i = get_global_id(0);
    L(n, scale, i) thing t = {i, scale, (long)in[i] << 33, {1, 2, 3, (short)i}};
    L(n, scale, i, t) thing s = t;
    L(n, scale, i, t, s) s.a = t.a + in[i];
    L(n, scale, i, t, s) s.d[in[i] & 3] = (short)n;
    L(n, scale, i, t, s) s.c += t.c;
    L(n, scale, i, t, s) t.b = s.b * (float)s.d[1];
    L(n, scale, i, t, s) out[i] = t.b + (float)s.a;
    L(n, scale, i, t, s) out[i + 64] = (float)(s.c >> 33) + (float)s.d[i & 3];
}

kernel void arrays(global const int *in, global float *out, int n, float scale)
{
    L(n, scale) int i = get_global_id(0);
    L(n, scale, i) int a[8];
    for (int k = 0; Q(n, scale, i, k) k < 8; Q(n, scale, i, k) k++) {
        L(n, scale, i, k) a[k] = in[(i + k) & 31] * k;
    }
    L(n, scale, i, a) int at = in[i] & 7;
    L(n, scale, i, a, at) a[at] += n;
    L(n, scale, i, a, at) int got = a[(at + 3) & 7];
    L(n, scale, i, a, at, got) a[7 - at] = got * 2;
    L(n, scale, i, a, at, got) out[i] = (float)(a[i & 7] + got) * scale;
}

kernel void loops(global const int *in, global float *out, int n, float scale)
{
    L(n, scale) int i = get_global_id(0), left = in[i] * 2, turns = 0, last = -1;
    L(n, scale, i, left, turns, last) while (Q(n, scale, i, left, turns, last) left > 0) {
        L(n, scale, i, left, turns, last) int v = in[left & 31];
        L(n, scale, i, left, turns, last, v) turns++;
        L(n, scale, i, left, turns, last, v) if (v == 3) {
            L(n, scale, i, left, turns, last, v) break;
        }
        L(n, scale, i, left, turns, last, v) if (v == 2) {
            L(n, scale, i, left, turns, last, v) left -= 3;
            L(n, scale, i, left, turns, last, v) continue;
        }
        L(n, scale, i, left, turns, last, v) last = v;
        L(n, scale, i, left, turns, last, v) left -= 1 + (v & 1);
    }
    L(n, scale, i, left, turns, last) out[i] = (float)(turns * 100 + last);
    L(n, scale, i, left, turns, last) out[i + 64] = (float)left * scale;
}

kernel void calls(global const int *in, global float *out, int n, float scale)
{
    L(n, scale) int i = get_global_id(0);
    L(n, scale, i) float one = scaled(scale, in[i]);
    L(n, scale, i, one) float two = scaled(one, i & 3);
    L(n, scale, i, one, two) n = n + in[i];
    L(n, scale, i, one, two) two = two * (float)n;
    L(n, scale, i, one, two) scale = one - two;
    L(n, scale, i, one, two) out[i] = scale;
    L(n, scale, i, one, two) out[i + 64] = two;
}

kernel void shared(global const int *in, global float *out, int n, float scale)
{
    L(n, scale) local float tile[32];
    L(n, scale) int l = get_local_id(0), i = get_global_id(0);
    L(n, scale, l, i) float mine = (float)in[i] * scale;
    L(n, scale, l, i, mine) tile[l] = mine;
    L(n, scale, l, i, mine) barrier(CLK_LOCAL_MEM_FENCE);
    L(n, scale, l, i, mine) float next = tile[(l + 1) & 31];
    L(n, scale, l, i, mine, next) float sum = 0.0f;
    L(n, scale, l, i, mine, next, sum) for (int k = 0; Q(n, scale, l, i, mine, next, sum, k) k < n; Q(n, scale, l, i, mine, next, sum, k) k++) {
        L(n, scale, l, i, mine, next, sum, k) sum += tile[(l * k) & 31];
    }
    L(n, scale, l, i, mine, next, sum) mine = next - sum;
    L(n, scale, l, i, mine, next, sum) out[i] = mine;
}
