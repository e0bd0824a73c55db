// Branches that diverge, nested loops, early exits, a switch.
__kernel void nested_loops(__global const int *restrict in, __global int *restrict out, int rows,
                           int columns)
{
    int sum = 0;
    for (int row = 0; row < rows; row++) {
        for (int column = 0; column < columns; column++) {
            int value = in[row * columns + column];
            if (value < 0)
                continue;
            if (value == 255)
                break;
            sum += value & (int)get_global_id(0) ? value : -value;
        }
        if (sum > 100000)
            break;
    }
    out[get_global_id(0)] = sum;
}

__kernel void collatz(__global uint *values, uint limit)
{
    uint value = values[get_global_id(0)], steps = 0;
    while (value > 1 && steps < limit) {
        value = value & 1 ? 3 * value + 1 : value >> 1;
        steps++;
    }
    values[get_global_id(0)] = steps;
}

__kernel void dispatch_on(__global const int *codes, __global float *values)
{
    size_t i = get_global_id(0);
    float x = values[i];
    switch (codes[i]) {
    case 0:
        x = sqrt(x);
        break;
    case 1:
        x = sin(x);
        break;
    case 2:
        do {
            x *= 0.5f;
        } while (x > 1.0f);
        break;
    case 7:
        return;
    default:
        x = -x;
    }
    values[i] = x;
}
