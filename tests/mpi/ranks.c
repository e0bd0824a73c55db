/* SPDX-License-Identifier: MIT */
/* A rank of a program with MPI: 10 launches times its number and one, then a sum over all ranks.
 * Arguments: a SPIR-V module with add and scale. */
#include "../e2e/recorder/app.h"

#include <mpi.h>

int main(int argc, char **argv)
{
    struct app app;
    int rank, sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    app_init(&app);
    app_load(&app, argv[1]);
    app_fill(&app, 0);
    ze_command_list_handle_t list = app_immediate(&app, true);
    for (int i = 0; i < 10 * (rank + 1); i++)
        app_launch(&app, list, app.add, 1, NULL);
    MPI_Allreduce(&app.shared[0], &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d\n", sum);
    MPI_Finalize();
    return 0;
}
