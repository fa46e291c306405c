"""Replace exchanges on software devices by compare-exchanges, since their driver crashes on an exchange in a buffer.

These are `InterlockedExchange` and the method `exchange` of `Atomic<T>`.
"""

import re

MODULE = "_exchange"
_NAME = "_rec_exchangeByCas_"  # as long as `InterlockedExchange`, so that columns do not change
_METHOD_NAME = "_rec_cas"  # as long as `exchange`
_CALL = re.compile(r"(?<!\w)InterlockedExchange(?=\s*\()")
_METHOD_CALL = re.compile(r"(?:(?<=\.)|(?<=->))exchange(?=\s*\()")
_OWN_METHOD = re.compile(r"[\w>\]]\s+exchange\s*(?:<[^()]*>\s*)?\([^()]*\)[^;{}()]*\{")
_FUNCTION = """
[ForceInline] public void {name}(__ref {type} cell, {type} value, out {type} original)
{{
    {type} seen = cell;
    for (;;)
    {{
        InterlockedCompareExchange(cell, seen, value, original);
        if ({same}) break;
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
_OF_ATOMIC = """
public extension Atomic<{type}>
{{
    [ForceInline] [__ref] public {type} {name}({type} value, constexpr MemoryOrder order = MemoryOrder.Relaxed)
    {{
        {type} seen = this.load();
        {type} original = this.compareExchange(seen, value, order);
        while (!({same}))
        {{
            seen = original;
            original = this.compareExchange(seen, value, order);
        }}
        return original;
    }}
}}
"""
# For each type of a cell, whether an exchange found the expected value: by its bits, since a NaN is not equal to itself.
_SAME = {
    "uint": "original == seen",
    "int": "original == seen",
    "uint64_t": "original == seen",
    "int64_t": "original == seen",
    "float": "asuint(original) == asuint(seen)",
    "half": "asuint16(original) == asuint16(seen)",
}
TEXT = f"module {MODULE};\n"
TEXT += "".join(_FUNCTION.format(name=_NAME, type=scalar, same=same) for scalar, same in _SAME.items() if scalar != "half")
TEXT += "".join(
    _METHOD.format(name=_NAME, buffer=buffer) for buffer in ("RWByteAddressBuffer", "RasterizerOrderedByteAddressBuffer")
)
TEXT += "".join(_OF_ATOMIC.format(name=_METHOD_NAME, type=scalar, same=same) for scalar, same in _SAME.items())


def by_compare_exchange(texts: list[str], are_modules: list[bool]) -> list[str]:
    """Replace the exchanges in a program's texts by compare-exchanges. If there are none, the texts are returned as they are.

    A method `exchange` that the program itself declares cannot be told from that of `Atomic<T>`, so then no method is replaced.

    Args:
        texts: The texts.
        are_modules: For each text, whether it is a module, not a text that others include.
    """
    replaced = [_CALL.sub(_NAME, text) for text in texts]
    if any("Atomic" in text for text in texts) and not any(_OWN_METHOD.search(text) for text in texts):
        replaced = [_METHOD_CALL.sub(_METHOD_NAME, text) for text in replaced]
    if replaced == texts:
        return texts
    imported = f"\nimport {MODULE};\n"
    return [text + imported * is_module for text, is_module in zip(replaced, are_modules, strict=True)]


def as_written(said: str) -> str:
    """Return a text of the compiler with the names of exchanges as the source has them."""
    return said.replace(_NAME, "InterlockedExchange").replace(_METHOD_NAME, "exchange")
