"""Private memory of the fine rasteriser."""

from splatscope.gpu.spirv import private_arrays


def test_private_arrays_are_counted_from_their_types():
    text = """
      %float = OpTypeFloat 32
       %uint = OpTypeInt 32 0
    %v3float = OpTypeVector %float 3
     %uint_5 = OpConstant %uint 5
       %pair = OpTypeStruct %v3float %uint
       %many = OpTypeArray %pair %uint_5
   %ptr_many = OpTypePointer Function %many
   %ptr_uint = OpTypePointer Function %uint
 %ptr_shared = OpTypePointer Workgroup %many
          %a = OpVariable %ptr_many Function
          %b = OpVariable %ptr_uint Function
          %c = OpVariable %ptr_shared Workgroup
    """
    assert private_arrays(text) == {"%many": 80}
