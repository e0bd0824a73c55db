// The other half of `imports.cl`.
int twice_plus(int x, int y)
{
    return 2 * x + y;
}

void poke(global int *p, int n)
{
    p[n] = 1; /* line 9 */
}
