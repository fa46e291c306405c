"""Replace `InterlockedExchange` on software devices by compare-exchanges, since their driver crashes on an exchange in a buffer."""

import re

MODULE = "_exchange"
_NAME = "_rec_exchangeByCas_"  # as long as `InterlockedExchange`, so that columns do not change
_CALL = re.compile(r"(?<!\w)InterlockedExchange(?=\s*\()")
_FUNCTION = """
[ForceInline] public void {name}(__ref {type} cell, {type} value, out {type} original)
{{
    {type} seen = cell;
    for (;;)
    {{
        InterlockedCompareExchange(cell, seen, value, original);
        if (original == seen) break;
        seen = original;
    }}
}}

[ForceInline] public void {name}(__ref {type} cell, {type} value)
{{
    {type} original;
    {name}(cell, value, original);
}}
"""
_METHOD = """
public extension {buffer}
{{
    [ForceInline] public void {name}(uint address, uint value, out uint original)
    {{
        uint seen = this.Load(address);
        for (;;)
        {{
            this.InterlockedCompareExchange(address, seen, value, original);
            if (original == seen) break;
            seen = original;
        }}
    }}
}}
"""
# For exchanges that the driver supports, or for which there is no substitute.
_AS_IT_IS = """
[ForceInline] public void {name}(__ref {type} cell, {type} value, out {type} original)
{{
    InterlockedExchange(cell, value, original);
}}
"""
TEXT = f"module {MODULE};\n" + "".join(_FUNCTION.format(name=_NAME, type=one) for one in ("uint", "int"))
TEXT += "".join(_AS_IT_IS.format(name=_NAME, type=one) for one in ("float", "uint64_t", "int64_t"))
TEXT += "".join(_METHOD.format(name=_NAME, buffer=one) for one in ("RWByteAddressBuffer", "RasterizerOrderedByteAddressBuffer"))


def are_in(texts: list[str]) -> bool:
    """Return whether any of a program's texts calls `InterlockedExchange`."""
    return any(_CALL.search(text) for text in texts)


def by_compare_exchange(text: str, is_module: bool) -> str:
    """Replace the exchanges in a text by compare-exchanges; `is_module` is False for a text that others include."""
    return _CALL.sub(_NAME, text) + (f"\nimport {MODULE};\n" if is_module else "")
