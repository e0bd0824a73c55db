/* For IGC's vector compiler (vector.py): it makes a table of jumps of the switch. One thread. */
kernel void by_table(global int *out, global const int *in, int count)
{
    for (int i = 0; i < count; i++) {
        int v = in[i], r = i;
        switch (v & 15) {
        case 0:
            r = v * 3 + in[i + 1];
            break;
        case 1:
            r = v / 3;
            break;
        case 2:
            r = v ^ (i << 3);
            out[count + i] = v;
            break;
        case 3:
            r = v % 7;
            break;
        case 4:
            r = in[i + 2] * v;
            break;
        case 5:
            r = -v;
            out[count + i] = i;
            break;
        case 6:
            r = v >> 2;
            break;
        case 7:
            r = v * v;
            break;
        case 8:
            r = in[i + 3];
            break;
        case 9:
            r = v | 77;
            break;
        default:
            break;
        }
        out[i] = r;
    }
}
