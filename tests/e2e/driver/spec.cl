// The test makes a specialization constant of the number.
kernel void special(global int *p)
{
    p[get_global_id(0)] = 305419896 + (int)get_global_id(0);
}
