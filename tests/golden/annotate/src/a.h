typedef struct { float x, y; int k[3]; } pt_t;
static inline float norm1(float a) { return a < 0 ? -a : a; }
static inline float
dist(pt_t p, float w)
{
    float s = norm1(p.x) + norm1(p.y);
    for (int i = 0; i < 3; i++)
        s += p.k[i] * w;
    return s;
}
