#include "isa/isa_priv.h"
void zs_isa_decode_message(enum zs_isa_platform platform, const struct zs_isa_inst *inst,
                           struct zs_isa_message *message)
{
    (void)platform;
    (void)inst;
    (void)message;
}
