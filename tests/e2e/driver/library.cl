// The other half of `imports.cl`.
int twice_plus(int x, int y)
{
    return 2 * x + y;
}
