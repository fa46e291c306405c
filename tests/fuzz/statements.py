"""Statements: declarations, assignments, branches, loops and switches, nested a few levels deep."""

from random import Random

from .expressions import CELLS, SMALL, Expressions, Memory
from .names import FLOATS, INTEGERS, MATRICES, SCALARS, VALUES, Names, is_value, lanes_of, scalar_of, vector

_DEPTH = 3  # of expressions
_ATOMICS = ("Add", "Xor", "Or", "Max", "Min", "And")  # in the order of their cells in `tally`, which begin as 0, the last two as ~0


class Statements:
    """Writes the body of one function.

    Attributes:
        returns: The type that the function returns, "void" if none.
    """

    def __init__(self, random: Random, names: Names, memories: list[Memory], returns: str):
        self.random, self.names, self.memories, self.returns = random, names, memories, returns
        self.expressions = Expressions(random, names, memories)
        self._loops = self._switches = 0  # around the statement at hand

    def chance(self, of: float) -> bool:
        """Return True with this probability."""
        return self.random.random() < of

    def stored(self, type_: str, depth: int = _DEPTH) -> str:
        """Return an expression whose value may be stored."""
        return self.expressions.stored(type_, self.random.randint(1, depth))

    def block(self, count: int, nesting: int, is_body: bool = False) -> list[str]:
        """Return statements in a scope of their own, indented; `is_body` if they are the function's own."""
        with self.names.nested():
            lines = self._hiding() if not is_body and self.chance(0.15) else []
            lines += [line for _ in range(count) for line in self.statement(nesting)]
        return ["{", *(f"    {line}" for line in lines), "}"]

    def statement(self, nesting: int) -> list[str]:
        """Return one statement as lines, a level deeper at most `nesting` times."""
        self.expressions.cost, self.expressions.size = self.expressions.cost + self.expressions.factor, self.expressions.size + 1
        simple = [
            self._declaration, self._declaration, self._assignment, self._assignment, self._assignment, self._compound,
            self._compound, self._swizzle, self._increment, self._call, self._call, self._store, self._store, self._atomic,
            self._macro, self._array, self._property, self._wide, self._bools, self._grid, self._texel,
        ]  # fmt: skip
        nested = [self._if, self._if, self._for, self._for, self._while, self._do, self._switch, self._plain_block, self._jump]
        ways = simple + (nested * 2 if nesting else [self._jump])
        for _ in range(6):
            way = self.random.choice(ways)
            lines = way(nesting - 1) if way in nested else way()
            if lines:
                return lines
        return [f"int {self.names.new('rest')} = {self.stored('int')};"]

    # Declarations

    def _declaration(self) -> list[str]:
        return self._declared(self.names.new("v"))

    def _hiding(self) -> list[str]:
        """Return a declaration that hides another; first in its block, where Slang finds it from the beginning on."""
        names = [v.name for v in self.names.variables if v.is_writable and "." not in v.name]
        if not names:
            return []
        name = self.random.choice(names)
        self.names.hide(name)  # also in its own initial value
        return self._declared(name)

    def _declared(self, name: str) -> list[str]:
        structs = list(self.names.structs)
        type_ = self.random.choice([*VALUES, *INTEGERS, *INTEGERS, "float", "bool", *MATRICES[:1], *structs])
        value, form = self.stored(type_), self.random.random()
        if form < 0.12 and type_ in (*INTEGERS, "float2", "int3", *structs):
            head = self.random.choice([f"var {name} : {type_}", f"var {name}", f"let {name} : {type_}", f"let {name}"])
            value = f"{type_}({value})" if type_ in VALUES else value
            self.expressions.new_variable(name, type_, is_writable=head.startswith("var"))
            return [f"{head} = {value};"]
        if form < 0.22:
            other = self.names.new("v")
            lines = [f"{type_} {name} = {value}, {other} = {self.stored(type_)};"]
            self.expressions.new_variable(other, type_)
        elif form < 0.3:
            lines = [f"{type_} {name};", f"{name} = {value};"]
        else:
            lines = [f"{self.random.choice(['', '', '', 'const '])}{type_} {name} = {value};"]
        self.expressions.new_variable(name, type_, is_writable=not lines[0].startswith("const"))
        return lines

    def _wide(self) -> list[str]:
        """Return arithmetic of 64 or 16 bits."""
        name, target = self.names.new("wide"), self.names.some("int", writable=True)
        if target is None:
            return []
        type_ = self.random.choice(["int64_t", "uint64_t", "int16_t", "uint16_t"])
        operator = self.random.choice(["+", "*", "^", "-"])
        lines = [f"{type_} {name} = {type_}({self.stored('int', 2)});", f"{name} {operator}= {type_}({self.stored('int', 2)});"]
        lines.append(f"{name} {self.random.choice(['>>', '<<'])}= {self.random.randint(1, 9)};")
        return [
            *lines,
            f"{target.name} {self.random.choice(['=', '+=', '^='])} int({name}{self.random.choice(['', '++', ' / 3'])});",
        ]

    def _bools(self) -> list[str]:
        name, target = self.names.new("flags"), self.names.some("int", writable=True)
        if target is None:
            return []
        lanes = self.random.randint(2, 4)
        ints = f"int{lanes}"
        lines = [f"bool{lanes} {name} = {self.stored(ints)} {self.random.choice(['<', '>=', '!='])} {self.stored(ints, 2)};"]
        lines.append(f"{name}.{self.random.choice('xy')} = {self.expressions.condition(2)};")
        return [
            *lines,
            f"if ({self.random.choice(['any', 'all'])}({name}) {self.random.choice(['&&', '||'])} {name}.y) {target.name}++;",
        ]

    def _grid(self) -> list[str]:
        name, type_ = self.names.new("grid"), self.random.choice(["int", "uint", "float2"])
        at = f"[{self.expressions.index(2, 2)}][{self.expressions.index(3, 2)}]"
        rows = ", ".join(f"{{ {', '.join(self.stored(type_, 1) for _ in range(3))} }}" for _ in range(2))
        head = self.random.choice([f"{type_} {name}[2][3]", f"{type_}[3] {name}[2]"])
        target = self.expressions.lvalue(type_, 2)
        lines = [f"{head} = {{ {rows} }};", f"{name}{at} = {self.stored(type_)};"]
        return [*lines, *([f"{target} = {name}[{self.expressions.index(2, 2)}][1];"] if target else [])]

    def _array(self) -> list[str]:
        type_ = self.random.choice([*INTEGERS, "int", "float", "int2", "float3", "half", *self.names.structs])
        size, name = self.random.randint(2, 4), self.names.new("list")
        values = ", ".join(self.stored(type_, 2) for _ in range(size))
        head = self.random.choice([f"{type_} {name}[{size}]", f"{type_}[{size}] {name}"])
        self.expressions.new_variable(name, type_, size)
        return [f"{head} = {{ {values} }};"]

    # Changes

    def _tamed(self, target: str, type_: str) -> list[str]:
        is_small = (is_value(type_) and scalar_of(type_) in SMALL) or type_ in MATRICES
        return [f"{target} = tame({target});"] if is_small else []

    def _assignment(self) -> list[str]:
        type_ = self.random.choice([*VALUES, *SCALARS, *INTEGERS, "bool", *MATRICES, *self.names.structs])
        value = self.stored(type_)
        target = self.expressions.lvalue(type_, 2)
        return [f"{target} = {value};"] if target else []

    def _compound(self) -> list[str]:
        type_ = self.random.choice([*VALUES, *SCALARS, *INTEGERS])
        is_integer = scalar_of(type_) in INTEGERS
        operator = self.random.choice(["+", "-", "*", "&", "|", "^", "<<", ">>", "/", "%"] if is_integer else ["+", "-", "*"])
        value = self.stored(type_)
        one, mask = ("1", "7") if scalar_of(type_) == "int" else ("1u", "7u")
        if operator in ("<<", ">>"):
            value = f"({value} & {mask})"
        elif operator in ("/", "%"):
            value = f"(({value} & {mask}) + {one})"
        if operator == "%" and scalar_of(type_) == "int":
            operator = "/"
        target = self.expressions.lvalue(type_, 2)
        if target is None:
            return []
        if not is_integer and ("[" in target or "." in target):  # its index might be another the second time
            return [f"{target} = tame({value} {operator} {self.stored(type_)});"]
        return [f"{target} {operator}= {value};", *(self._tamed(target, type_) if not is_integer else [])]

    def _swizzle(self) -> list[str]:
        scalar, width = self.random.choice(SCALARS), self.random.randint(2, 4)
        wide = self.names.some(vector(scalar, width), writable=True)
        if wide is None:
            return []
        lanes = self.random.randint(1, width)
        letters = "".join(self.random.sample("xyzw"[:width], lanes))
        value = self.stored(vector(scalar, lanes))
        operator = self.random.choice(["=", "+=", "-="])
        return [f"{wide.name}.{letters} {operator} {value};", *self._tamed(wide.name, wide.type)]

    def _increment(self) -> list[str]:
        type_ = self.random.choice([*INTEGERS, *INTEGERS, "int2", "uint3"])
        target = self.expressions.lvalue(type_, 2)
        if target is None:
            return []
        operator = self.random.choice(["++", "--"])
        return [self.random.choice([f"{target}{operator};", f"{operator}{target};"]) if lanes_of(type_) == 1 else f"{target} += 1;"]

    def _property(self) -> list[str]:
        found = []
        for variable in self.names.parts():
            struct = self.names.structs.get(variable.type)
            if struct and not variable.size and variable.is_writable:
                found += [(f"{variable.name}.{name}", t) for name, t in struct.properties.items()]
                found += [(f"{variable.name}[{self.expressions.index(3, 2)}]", "int")] * struct.has_subscript
        if not found:
            return []
        target, type_ = self.random.choice(found)
        operator = self.random.choice(["=", "=", "+=", "-="]) if scalar_of(type_) in INTEGERS else "="
        return [f"{target} {operator} {self.stored(type_)};"]

    def _call(self) -> list[str]:
        functions = [f for f in self.names.functions if self.expressions.is_affordable(f)]
        if not functions:
            return []
        text = self.expressions.call(self.random.choice(functions), _DEPTH)
        return [f"{text};"] if text else []

    def _macro(self) -> list[str]:
        target = self.names.some("int", writable=True)
        if target is None:
            return []
        return [self.random.choice([f"BUMP({target.name});", f"BUMP_BY({target.name}, {self.stored('int', 2)});"])]

    # Memory

    def _store(self) -> list[str]:
        memories = [m for m in self.memories if m.form in ("buffer", "shared", "rows", "bytes")]
        memory = self.random.choice(memories)
        if memory.form == "bytes":
            lanes = self.random.choice(["", "2", "3", "4"])
            at = f"me * {4 * CELLS}u + {4 * self.random.randrange(CELLS - 4)}u"
            return [f"bytes.Store{lanes}({at}, {self.stored('uint' + lanes)});"]
        place = memory.name + self.expressions.place(memory, 2)
        if memory.type in self.names.structs:
            fields = [(n, t) for n, t in self.names.structs[memory.type].fields.items() if t in VALUES]
            if fields and self.chance(0.6):
                name, type_ = self.random.choice(fields)
                operator = self.random.choice(["=", "+=", "|="]) if scalar_of(type_) in INTEGERS else "="
                return [f"{place}.{name} {operator} {self.stored(type_)};"]
            return [f"{place} = {self.stored(memory.type)};"]
        if scalar_of(memory.type) in FLOATS:
            return [f"{place} = {self.stored(memory.type)};"]
        if self.chance(0.2) and lanes_of(memory.type) == 1:
            return [self.random.choice([f"{place}++;", f"--{place};"])]
        return [f"{place} {self.random.choice(['=', '=', '+=', '-=', '^=', '*='])} {self.stored(memory.type)};"]

    def _texel(self) -> list[str]:
        memories = [m for m in self.memories if m.form == "texels"]
        if not memories:
            return []
        place = memories[0].name + self.expressions.place(memories[0], 2)
        return [f"{place} {self.random.choice(['=', '+=', '^='])} {self.stored('uint')};"]

    def _atomic(self) -> list[str]:
        """Return an atomic on a cell of one's own, whose result is certain, or one without a result on a cell of all."""
        if self.chance(0.5):
            cell, name = self.random.choice(list(enumerate(_ATOMICS)))
            return [f"Interlocked{name}({self.random.choice(['tally', 'votes'])}[{cell}], {self.stored('uint')});"]
        variable = self.names.some("uint", writable=True)
        buffers = [m for m in self.memories if m.type == "uint" and m.form in ("buffer", "shared")]
        if variable is None or not buffers:
            return []
        memory = self.random.choice(buffers)
        place = memory.name + self.expressions.place(memory, 2)
        name = self.random.choice(_ATOMICS)
        if self.chance(0.25):
            return [f"InterlockedCompareExchange({place}, {self.stored('uint', 1)}, {self.stored('uint')}, {variable.name});"]
        if self.chance(0.3):
            at = f"me * {4 * CELLS}u + {4 * self.random.randrange(CELLS)}u"
            return [f"bytes.Interlocked{name}({at}, {self.stored('uint')}, {variable.name});"]
        return [f"Interlocked{name}({place}, {self.stored('uint')}, {variable.name});"]

    # Control flow

    def _plain_block(self, nesting: int) -> list[str]:
        return self.block(self.random.randint(1, 2), nesting)

    def _if(self, nesting: int) -> list[str]:
        lines = [f"if ({self.expressions.condition(_DEPTH)})"]
        if self.chance(0.25):
            with self.names.nested():
                inner = self._compound() or self._increment() or [f"int {self.names.new('rest')} = 1;"]
            lines += [f"    {inner[0]}"] if len(inner) == 1 else ["{", *(f"    {line}" for line in inner), "}"]
        else:
            lines += self.block(self.random.randint(1, 2), nesting)
        if self.chance(0.4):
            lines += [f"else if ({self.expressions.condition(2)})", *self.block(1, nesting)]
        if self.chance(0.4):
            lines += ["else", *self.block(1, nesting)]
        return lines

    def _looped(self, times: int, nesting: int, more: list[str] = ()) -> list[str]:
        # Slang makes invalid code of a jump out of a loop that runs once: a driver may refuse it, or do as it likes.
        loops, self._loops = self._loops, self._loops + 1 if times > 1 else 0
        switches, self._switches = self._switches, 0
        self.expressions.factor *= times
        lines = self.block(self.random.randint(1, 2), nesting)
        self.expressions.factor //= times
        self._loops, self._switches = loops, switches
        return [lines[0], *(f"    {line}" for line in more), *lines[1:]]

    def _for(self, nesting: int) -> list[str]:
        if self.expressions.factor > 20:
            return []
        times, name, type_ = self.random.randint(1, 4), self.names.new("i"), self.random.choice(INTEGERS)
        hint = self.random.choice(["", "", "", "[loop] ", "[unroll] ", "[ForceUnroll] "])
        last = times if type_ == "int" else f"{times}u"
        head = self.random.choice(
            [
                f"for ({type_} {name} = 0; {name} < {last}; {name}++)",
                f"for ({type_} {name} = 0; {name} < {last}; ++{name})",
                f"for ({type_} {name} = 0; {name} < {last}; {name} += 1)",
                f"for ({type_} {name} = {last}; {name} > 0; {name}--)",
            ]
        )
        more = []
        if not hint and self.chance(0.25) and (variable := self.names.some("int", writable=True)):
            head = f"for ({type_} {name} = 0; {name} < {last}; {name}++, {variable.name} += {self.random.randint(1, 5)})"
        elif not hint and self.chance(0.15):
            head, more = f"for ({type_} {name} = 0; ; {name}++)", [f"if ({name} >= {last}) break;"]
        with self.names.nested():
            self.expressions.new_variable(name, type_, is_writable=False)
            body = self._looped(times, nesting, more)
        return [hint + head, *body]

    def _while(self, nesting: int) -> list[str]:
        if self.expressions.factor > 20:
            return []
        times, name = self.random.randint(1, 4), self.names.new("n")
        lines = [f"int {name} = {times};"]
        head = self.random.choice([f"while ({name}-- > 0)", f"while (--{name} >= 0)", f"while ({name} > 0 && {name}-- < 9)"])
        return [*lines, head, *self._looped(times, nesting)]

    def _do(self, nesting: int) -> list[str]:
        if self.expressions.factor > 20:
            return []
        times, name = self.random.randint(1, 3), self.names.new("n")
        body = self._looped(times, nesting, [f"{name}++;"])
        return [f"int {name} = 0;", "do", *body[:-1], f"}} while ({name} < {times});"]

    def _switch(self, nesting: int) -> list[str]:
        lines = [f"switch ({self.stored('int', 2)} & 3)", "{"]
        values = self.random.sample(range(5), self.random.randint(1, 4))
        labels = [f"case {v}:" for v in values]
        labels.insert(self.random.randint(0, len(labels)), "default:")
        self._switches += 1
        for label in labels:
            if self.chance(0.2) and label != labels[-1]:
                lines.append(label)  # with the next one
                continue
            block = self.block(self.random.randint(1, 2), nesting)
            end = self.random.choice(["break;", "break;", "break;", ""]) if label != labels[-1] else "break;"
            if self._loops and self.chance(0.1):
                end = "continue;"
            lines += [label, *(f"    {line}" for line in block), *([f"    {end}"] if end else [])]
        self._switches -= 1
        return [*lines, "}"]

    def _jump(self, nesting: int) -> list[str]:
        ways = []
        if self._loops:
            ways += ["break;", "continue;"]
        if self.returns:
            ways.append(f"return {self.stored(self.returns, 2)};" if self.returns != "void" else "return;")
        if not ways:
            return []
        condition = self.expressions.condition(2)
        jump = self.random.choice(ways)
        return [f"if ({condition})", f"    {jump}"] if self.chance(0.5) else [f"if ({condition}) {{ {jump} }}"]
