/* SPDX-License-Identifier: MIT */
/* The fabric between devices: there is none, so there are no vertices and no handles of any. */
#include "driver/driver_priv.h"

#define NO_VERTEX(handle)                                                                          \
    ZS_REFUSE(ZE_RESULT_ERROR_INVALID_NULL_HANDLE, "%s: there are no fabric vertices", #handle)

ze_result_t ZE_APICALL zeFabricVertexGetExp(ze_driver_handle_t hDriver, uint32_t *pCount,
                                            ze_fabric_vertex_handle_t *phVertices)
{
    ZS_OBJECT(driver, driver, hDriver);
    ZS_CHECK_POINTER(pCount);
    *pCount = 0;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeDeviceGetFabricVertexExp(ze_device_handle_t hDevice,
                                                  ze_fabric_vertex_handle_t *phVertex)
{
    ZS_OBJECT(device, device, hDevice);
    ZS_CHECK_POINTER(phVertex);
    return ZE_RESULT_EXP_ERROR_DEVICE_IS_NOT_VERTEX;
}

ze_result_t ZE_APICALL zeFabricVertexGetSubVerticesExp(ze_fabric_vertex_handle_t hVertex,
                                                       uint32_t *pCount,
                                                       ze_fabric_vertex_handle_t *phSubvertices)
{
    return NO_VERTEX(hVertex);
}

ze_result_t ZE_APICALL zeFabricVertexGetPropertiesExp(
    ze_fabric_vertex_handle_t hVertex, ze_fabric_vertex_exp_properties_t *pVertexProperties)
{
    return NO_VERTEX(hVertex);
}

ze_result_t ZE_APICALL zeFabricVertexGetDeviceExp(ze_fabric_vertex_handle_t hVertex,
                                                  ze_device_handle_t *phDevice)
{
    return NO_VERTEX(hVertex);
}

ze_result_t ZE_APICALL zeFabricEdgeGetExp(ze_fabric_vertex_handle_t hVertexA,
                                          ze_fabric_vertex_handle_t hVertexB, uint32_t *pCount,
                                          ze_fabric_edge_handle_t *phEdges)
{
    return NO_VERTEX(hVertexA);
}

ze_result_t ZE_APICALL zeFabricEdgeGetVerticesExp(ze_fabric_edge_handle_t hEdge,
                                                  ze_fabric_vertex_handle_t *phVertexA,
                                                  ze_fabric_vertex_handle_t *phVertexB)
{
    return NO_VERTEX(hEdge);
}

ze_result_t ZE_APICALL zeFabricEdgeGetPropertiesExp(
    ze_fabric_edge_handle_t hEdge, ze_fabric_edge_exp_properties_t *pEdgeProperties)
{
    return NO_VERTEX(hEdge);
}
