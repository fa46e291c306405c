"""Sources that try to slip a file of the machine, or code for a single target, past the source filter.

Each trick is harmless for whoever reads quotes, comments and line ends as Slang does, and reaches the file if the filter reads
them differently.
"""

from pathlib import Path

READ = "the-file-was-read"
"""A word that the compiler's messages contain if it has opened one of the files of `tricks`."""

_KERNEL = """
RWStructuredBuffer<uint> o;
[shader("compute")] [numthreads(1, 1, 1)]
void main(uint i : SV_GroupIndex) { o[i] = 1; }
"""
_SPACES = {
    "a vertical tab": "\x0b", "a form feed": "\x0c", "a next line": "\x85", "a line separator": "\u2028",
    "a paragraph separator": "\u2029", "a hard space": "\u00a0", "a byte order mark": "\ufeff", "a space without width": "\u200b",
    "a substitute": "\x1a", "a file separator": "\x1c", "an ideographic space": "\u3000", "a bell": "\x07", "a delete": "\x7f",
}  # fmt: skip
_QUOTES = {
    "an apostrophe before a comment": "#if 0\n' /* \n#endif\n{}\n// */\n",
    "a quote before a comment": '#if 0\n" /* \n#endif\n{}\n// */\n',
    "an apostrophe in an error": "#if 0\n#error don't /* \n#endif\n{}\n// */\n",
    "an apostrophe in a warning": "#warning don't /* \n{}\n// */\n",
    "a quote in a warning": '#warning a 5" screen /* \n{}\n// */\n',
    "an apostrophe in a macro": "#define Q ' /* \n{}\n// */\n",
    "a quote in a macro": '#define Q " /* \n{}\n// */\n',
    "a quote in a pragma": '#pragma warning " /* \n{}\n// */\n',
    "an apostrophe before a line comment": "#if 0\n' // \\\n'\n#endif\n{}",
    "a string over two lines": '#if 0\n"a\\\n/*\n"\n#endif\n{}\n//*/',
    "nested comments": "/* /* */\n{}\n// */ */",
    "a raw string in small letters": '#if 0\nr"(" /* )"\n#endif\n{}\n// */',
    "a raw string with a prefix": '#if 0\nu8R"x( /* )x"\n#endif\n{}\n// */',
    "a raw string after a space": '#if 0\nR "( /* \n)"\n#endif\n{}\n// */',
    "a raw string by a macro": '#define S(x)\nS(R/**/"(" )\n{}',
    "a comment continued": "//\\\\\n{}",
    "a digit separator": "static const uint z = 1'0/*'; \n{}\n//*/",
    "an escaped apostrophe": "#if 0\n'\\'' /* '\n#endif\n{}\n//*/",
    "three apostrophes": "#if 0\n''' /* \n#endif\n{}\n//*/",
    "two apostrophes": "#if 0\n'' /* */\n#endif\n{}",
    "an escaped backslash": '#if 0\n"\\\\" /* \n#endif\n{}\n//*/',
    "after a declaration": "uint q; {}",
    "after an import": "import workgroup; {}",
    "a trigraph": "//??/\n{}",
    "nothing": "{}",
}
_TARGET_CODE = {
    "spirv_asm": "void f() { spirv_asm { OpNop }; }",
    "spirv_asm after an apostrophe": "#warning don't /*\nuint f() { return spirv_asm { result:$$uint = OpNop }; }\n// */",
    "spirv_asm in a skipped part": "#if 0\n' /*\n#endif\nvoid f() { spirv_asm { OpNop }; }\n// */",
    "spirv_asm in two parts": "#define J(a,b) a##b\nvoid f() { J(spirv_,asm) { OpNop }; }",
    "__intrinsic_asm": 'uint f() { __intrinsic_asm "system(0)"; }',
    "__target_intrinsic": '__target_intrinsic(cpp, "x") uint f();',
    "__requirePrelude": 'uint f() { __requirePrelude("#include <x>"); return 1; }',
    "DllImport": '[DllImport("c")] uint getpid();',
    "__specialized_for_target": "__specialized_for_target(cpp) uint f() { return 1; }",
    "__target_switch": "uint f() { __target_switch { default: return 1; } }",
    "__requiresNVAPI": "[__requiresNVAPI] uint f() { return 1; }",
    "__glsl_version": "__glsl_version(450) uint f() { return 1; }",
    "__glsl_extension": "__glsl_extension(GL_EXT_shader_8bit_storage) uint f() { return 1; }",
    "__spirv_version": "__spirv_version(1.6) uint f() { return 1; }",
    "vk::ext_instruction": "[[vk::ext_instruction(1)]] uint f();",
    "vk::spirv_instruction": "[[vk::spirv_instruction(43)]] uint f();",
    "vk::spirv_instruction over two lines": "[[vk::\nspirv_instruction(43)]] uint f();",
    "vk_spirv_instruction": "[[vk_spirv_instruction(43)]] uint f();",
    "__builtin_type": "__builtin_type(0) struct X{};",
    "__intrinsic_op": "__intrinsic_op(0) uint f(uint x);",
    "__intrinsic_type": "__intrinsic_type(99999) struct X{};",
    "__magic_type": "__magic_type(TextureType) struct X{}",
    "KnownBuiltin": "[KnownBuiltin(0)] uint f() { return 1; }",
    "__extern_cpp": "__extern_cpp uint getpid();",
    "an attribute by its class": '[AttributeUsage] attribute_syntax [call(x:String)] : DllImportAttribute;\n[call("c")] uint f();',
    "a word by another name": "syntax another = __intrinsic_op;\nanother(0) uint f(uint x);",
    "a module by another name": "syntax another = import;",
}
_ACCEPTED_CODE = {
    "spirv_asm with an escape": "void f() { spirv\\u005fasm { OpNop }; }",
    "__FILE__": "static const String s = __FILE__;",
    "extern C": 'extern "C" uint getpid();',
    "printf": 'void g() { printf("x %d", 1); }',
    "__getAddress": "static uint g; uint f() { return *__getAddress(g); }",
    "a pointer": "uint f() { uint* p = (uint*)0x1000ull; return *p; }",
}
"""Code that is accepted: it names no file, and the sandbox confines what it does, if it compiles."""


def files(folder: Path) -> tuple[Path, Path]:
    """Write a header and a module that the compiler cannot open unnoticed. Return their paths."""
    header, module = folder / "inc.slang", folder / "mod.slang"
    for file in (header, module):
        file.write_text(f"#error {READ}\n")
    return header, module


def plain(folder: Path) -> dict[str, str]:
    """Return the three ways to name a file, without any trick."""
    header, module = files(folder)
    return {
        "include": f'#include "{header}"',
        "import": f'import "{module}";',
        "__include": f'__include "{header}";',
    }


def file_tricks(folder: Path) -> dict[str, str]:
    """Return sources that try to open a file in this folder, by the trick's name."""
    found = {}
    for way, line in plain(folder).items():
        for trick, text in _QUOTES.items():
            found[f"{way}: {trick}"] = text.replace("{}", line)
        for name, space in _SPACES.items():
            found[f"{way}: after {name}"] = space + line
            found[f"{way}: a comment ended by {name}"] = f"//{space}{line}"
            found[f"{way}: {name} inside"] = line.replace(" ", space, 1)
            if way == "include":
                found[f"{way}: {name} after the mark"] = f"#{space}{line[1:]}"
        found[f"{way}: an escape"] = line.replace("i", "\\u0069", 1)
        found[f"{way}: a line continued after a space"] = f"{line[:4]}\\ \n{line[4:]}"
        found[f"{way}: a line continued"] = f"{line[:4]}\\\n{line[4:]}"
        word = line.replace("#", "").rstrip(";")
        found[f"{way}: a macro's argument"] = f"#define E(x) x\nE({word});"
        found[f"{way}: a macro"] = f"#define X {word};\nX\n"
    header, module = files(folder)
    stem = module.with_suffix("")
    found |= {
        "include: a trigraph for the mark": plain(folder)["include"].replace("#", "??="),
        "include: a macro for the name": f'#define F "{header}"\n#include F',
        "#include_next": f'#include_next "{header}"',
        "#import": f'#import "{header}"',
        "#embed": f'static const uint x[] = {{\n#embed "{header}"\n}};',
        "#line": f'#line 1 "{header}"',
        "__has_include": f'#if __has_include("{header}")\n#error {READ}\n#endif',
        "using": f'using "{stem}";',
        "import: dots": f"import ..{'.'.join(stem.parts[1:])};",
        "import: a folder": f"import {'.'.join(stem.parts[1:])};",
        "import: of slangpy": "import slangpy;",
        "implementing": "implementing mod;",
        "module": f'module "{stem}";',
    }
    return {name: text + _KERNEL for name, text in found.items()}


def target_tricks() -> dict[str, str]:
    """Return sources with code that only one target has, or that the compiler keeps for its own library."""
    return {name: text + _KERNEL for name, text in _TARGET_CODE.items()}


def accepted_code() -> dict[str, str]:
    """Return sources with code that may look like that of a single target."""
    return {name: text + _KERNEL for name, text in _ACCEPTED_CODE.items()}
