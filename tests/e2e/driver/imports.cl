int twice_plus(int x, int y);

kernel void use_import(global int *p)
{
    size_t i = get_global_id(0);
    p[i] = twice_plus(p[i], 7);
}

void poke(global int *p, int n);

kernel void use_poke(global int *p, int n)
{
    poke(p, n);
}
