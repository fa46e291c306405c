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
_OF_ATOMIC = """
public extension Atomic<{type}>
{{
    [ForceInline] [__ref] public {type} {name}({type} value, constexpr MemoryOrder order = MemoryOrder.Relaxed)
    {{
        {body}
    }}
}}
"""
_BY_COMPARE_EXCHANGE = """{type} seen = this.load();
        {type} original = this.compareExchange(seen, value, order);
        while (original != seen)
        {{
            seen = original;
            original = this.compareExchange(seen, value, order);
        }}
        return original;"""
TEXT = f"module {MODULE};\n" + "".join(_FUNCTION.format(name=_NAME, type=one) for one in ("uint", "int"))
TEXT += "".join(_AS_IT_IS.format(name=_NAME, type=one) for one in ("float", "uint64_t", "int64_t"))
TEXT += "".join(_METHOD.format(name=_NAME, buffer=one) for one in ("RWByteAddressBuffer", "RasterizerOrderedByteAddressBuffer"))
for _type in ("uint", "int"):
    TEXT += _OF_ATOMIC.format(name=_METHOD_NAME, type=_type, body=_BY_COMPARE_EXCHANGE.format(type=_type))
for _type in ("float", "half", "uint64_t", "int64_t"):
    TEXT += _OF_ATOMIC.format(name=_METHOD_NAME, type=_type, body="return this.exchange(value, order);")


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
