#include "isa/isa_priv.h"
int zs_isa_make_blocks(struct zs_isa_kernel *k)
{
    (void)k;
    return 0;
}
int zs_isa_make_liveness(struct zs_isa_kernel *k, struct zs_diag *diag)
{
    (void)k;
    (void)diag;
    return 0;
}
void zs_isa_decode_message(enum zs_isa_platform platform, const struct zs_isa_inst *inst,
                           struct zs_isa_message *message)
{
    (void)platform;
    (void)inst;
    (void)message;
}
