// Variables of the program; OpenCL C 2.0.
__global int counter = 5;
__constant int table[4] = {10, 20, 30, 40};

kernel void globals(global int *out)
{
    if (get_global_id(0) == 0) {
        out[0] = counter;
        out[1] = table[3];
        counter += 100;
    }
}
