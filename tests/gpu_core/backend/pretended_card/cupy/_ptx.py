# SPDX-License-Identifier: GPL-3.0-or-later
"""PTX to C++, an instruction a statement, so that what NVRTC made of the kernels runs where there is no card.

Registers become variables, labels stay labels, arithmetic has the same roundings as on a card; only rcp.approx, which
NVRTC puts into powf, is exact here and off by an ulp there. Each access to memory is held against the arrays that the
launch was given. A thread that comes to a barrier puts its registers by, and goes on there once all of its block have
come as far or ended. What the translator does not know, such as an atomic on floats, it refuses.
"""

from __future__ import annotations

import re
from itertools import accumulate

HEAD = r"""
#include <math.h>
#include <stdint.h>
#include <string.h>
#ifdef __SSE__
#include <xmmintrin.h>
#endif
struct Array { uint64_t first, last; };
static thread_local uint32_t tid, ctaid, ntid;
static thread_local const Array *arrays, *recent;
static thread_local int array_count;
static thread_local uint64_t fault;
static thread_local int place[1024];  /* of a thread: 0 the beginning, k the k-th barrier in the text, -1 the end */
static thread_local uint8_t of_block[1 << 14];

/* The place of n numbers in one of the launch's arrays; elsewhere the fault is noted, and nothing is touched. */
template <class T> static T *at(uint64_t place, int n)
{
    static thread_local uint64_t nowhere[4];
    uint64_t size = n * sizeof(T);
    if (recent && place >= recent->first && place + size <= recent->last && place % size == 0) return (T *)place;
    for (recent = arrays; recent < arrays + array_count; ++recent)
        if (place >= recent->first && place + size <= recent->last && place % size == 0) return (T *)place;
    recent = 0, fault = place;
    return (T *)memset(nowhere, 0, sizeof nowhere);
}
template <class T> static T *own(uint64_t place, int) { return (T *)place; }
template <class T> static T *shared(uint64_t place, int n)
{
    static thread_local uint64_t nowhere[4];
    if (place + n * sizeof(T) <= sizeof of_block && place % (n * sizeof(T)) == 0) return (T *)(of_block + place);
    fault = place + 1;
    return (T *)memset(nowhere, 0, sizeof nowhere);
}
template <class To, class From> static To bits(From from) { To to; memcpy(&to, &from, sizeof to); return to; }
static uint32_t reversed(uint32_t v)
{
    uint32_t r = 0;
    for (int k = 0; k < 32; ++k) r |= (v >> k & 1) << (31 - k);
    return r;
}

/* All threads, the first first or last; the address of a bad access, or 0. */
template <class Thread> static uint64_t launch(uint32_t blocks, uint32_t threads, int backwards, Thread thread)
{
#ifdef __SSE__
    unsigned mode = _mm_getcsr();
    _mm_setcsr(mode | 0x8040); /* subnormals are flushed, as CuPy always asks for */
#endif
    ntid = threads, fault = 0, recent = 0;
    for (uint32_t b = 0; b < blocks; ++b) {
        ctaid = backwards ? blocks - 1 - b : b;
        memset(place, 0, sizeof place), memset(of_block, 0xFF, sizeof of_block);
        for (bool all = false; !all;) {
            all = true;
            for (uint32_t k = 0; k < threads; ++k) {
                tid = backwards ? threads - 1 - k : k;
                if (place[tid] < 0) continue;
                thread();
                all &= place[tid] < 0;
            }
        }
    }
#ifdef __SSE__
    _mm_setcsr(mode);
#endif
    return fault;
}
"""
ENTRY = """
extern "C" __attribute__((visibility("default"))) uint64_t run_{name}(
    uint32_t blocks, uint32_t threads, int backwards, void **a, const Array *given, int count)
{{
    arrays = given, array_count = count;
    return launch(blocks, threads, backwards, [&] {{
{body}
    place[tid] = -1;
    }});
}}
"""
TYPES = {
    **{f"{letter}{size}": f"uint{size}_t" for letter in "bu" for size in (8, 16, 32, 64)},
    **{f"s{size}": f"int{size}_t" for size in (16, 32, 64)},
    "f32": "float",
    "pred": "bool",
}
BARRIER = "barrier;"
ENTRIES = r"\.visible \.entry (\w+)\((.*?)\)\n(?:\.\w+[^\n]*\n)*\{\n(.*?)\n\}"
SPECIAL = {"%tid.x": "tid", "%ctaid.x": "ctaid", "%ntid.x": "ntid"}
#: Suffixes that change nothing here.
#: Atomics on integers: the order does not change the result.
ATOMICS = {
    "atom.global.min.s32": "if (v < *t) *t = v;",
    "atom.global.max.s32": "if (v > *t) *t = v;",
    "atom.global.add.u32": "*t += v;",
}
IMPLIED = re.compile(r"\.(ftz|rn|lo|shiftamt)\b|(?<=^rcp)\.approx|(?<=^cvta)\.[\w.]+")


def _table(text: str) -> dict[str, str]:
    return dict(line.split(maxsplit=1) for line in text.strip().splitlines())


COMPARE = _table("""
    eq   {0} == {1}
    ne   {0} < {1} || {0} > {1}
    lt   {0} < {1}
    le   {0} <= {1}
    gt   {0} > {1}
    ge   {0} >= {1}
    neu  !({0} == {1})
    ltu  !({0} >= {1})
    leu  !({0} > {1})
    gtu  !({0} <= {1})
    geu  !({0} < {1})
""")
BOTH = _table("""
    add   {0} + {1}
    sub   {0} - {1}
    mul   {0} * {1}
    div   {0} / {1}
    neg   -{0}
    mov   {0}
    cvta  {0}
    selp  {2} ? {0} : {1}
""")
REAL = BOTH | _table("""
    abs   fabsf({0})
    sqrt  sqrtf({0})
    rcp   1.0f / {0}
    max   fmaxf({0}, {1})
    min   fminf({0}, {1})
    fma   fmaf({0}, {1}, {2})
""")
WHOLE = BOTH | _table("""
    mad     {0} * {1} + {2}
    mul.hi  ((int64_t){0} * {1}) >> 32
    rem     {0} % {1}
    and     {0} & {1}
    or      {0} | {1}
    xor     {0} ^ {1}
    not     ~{0}
    max     {0} > {1} ? {0} : {1}
    min     {0} < {1} ? {0} : {1}
    brev    reversed({0})
    bfind   {0} ? __builtin_clz({0}) : ~0u
    shl     {1} < {bits} ? {0} << {1} : 0
    shr     {0} >> ({1} < {bits} ? {1} : {bits} - 1)
""")
PREDICATE = WHOLE | {"not": "!{0}"}
WIDE = {"s32": "(int64_t){0} * (int64_t){1}", "u32": "(uint64_t){0} * (uint64_t){1}"}
ROUND = {"rzi": "truncf({0})", "rni": "rintf({0})", "rmi": "floorf({0})", "rpi": "ceilf({0})"}


class PtxError(ValueError):
    """An instruction that the translator does not know."""


def translate(ptx: str) -> tuple[str, dict[str, list[str]]]:
    """C++ with a function run_NAME an entry, and the types of each entry's parameters by its name."""
    numbers = re.findall(r"^\.global \.align \d+ \.f32 (\w+) = 0f(\w+);", ptx, re.MULTILINE)
    text = [HEAD, *(f"static const uint32_t {name} = 0x{value}u;\n" for name, value in numbers)]
    shared, entries = re.findall(r"\.shared \.align \d+ \.b8\s+(\w+)\[(\d+)\];", ptx), {}
    for name, head, body in re.findall(ENTRIES, ptx, re.DOTALL):
        parameters = re.findall(r"\.param \.(\w+) (\w+)", head)
        places = {parameter: k for k, (_, parameter) in enumerate(parameters)}
        statements = (_statement(line.strip(), places) for line in re.sub(r"//.*", "", body).splitlines())
        declared, done = [_of_block(body, shared)], []
        for statement in filter(None, statements):
            (declared if statement.startswith("/*r*/") else done).append(statement)
        text.append(ENTRY.format(name=name, body="\n".join([*declared, *_waiting(declared, done)])))
        entries[name] = [kind for kind, _ in parameters]
    return "".join(text), entries


def _of_block(body: str, shared: list[tuple[str, str]]) -> str:
    """The places of the arrays that the threads of a block share, one after the other: of a function's in all that
    call it."""
    words = set(re.findall(r"\w+", body))
    found = [(name, size) for name, size in shared if name in words]
    ends = accumulate(-(-int(size) // 16) * 16 for _, size in found)
    return (
        "enum { none"
        + "".join(f", {name} = {end - int(size)}" for (name, size), end in zip(found, ends, strict=True))
        + " };"
    )


def _waiting(declared: list[str], done: list[str]) -> list[str]:
    """The statements, in which a thread can wait: at each barrier it keeps its registers, and takes them up there."""
    if BARRIER not in done:
        return done
    kinds = [match for match in (re.fullmatch(r"/\*r\*/ (\w+) (\w+ = 0.*);", text) for text in declared) if match]
    fields = " ".join(f"{kind[1]} {kind[2].replace(' = 0', '')};" for kind in kinds)
    registers = [name for kind in kinds for name in re.findall(r"(\w+) = 0", kind[2])]
    keep, take = (" ".join(form.format(name) for name in registers) for form in ("k.{0} = {0};", "{0} = k.{0};"))
    text, stops = [], 0
    for statement in done:
        if statement == BARRIER:
            stops += 1
            statement = f"{keep} place[tid] = {stops}; return; stop_{stops}: {take}"
        text.append(statement)
    goes_on = " ".join(f"case {stop}: goto stop_{stop};" for stop in range(1, stops + 1))
    kept = f"static thread_local struct {{ {fields} }} kept[1024]; auto &k = kept[tid];"
    return [kept, f"switch (place[tid]) {{ {goes_on} }}", *text]


def _statement(line: str, places: dict[str, int]) -> str:
    """places: of the entry's parameters by name."""
    if not line or line.startswith((".pragma", ".shared")):
        return ""
    if match := re.fullmatch(r"\.reg \.(\w+)\s+%(\w+)(?:<(\d+)>)?;", line):
        names = [f"{match[2]}{k}" for k in range(int(match[3]))] if match[3] else [match[2]]
        return f"/*r*/ {TYPES[match[1]]} " + ", ".join(f"{name} = 0" for name in names) + ";"
    if match := re.fullmatch(r"\.local \.align (\d+) \.b8\s+(\w+)\[(\d+)\];", line):
        return f"/*r*/ alignas({match[1]}) uint8_t {match[2]}[{match[3]}];"
    if line.endswith(":"):
        return line.replace("$", "") + ";"
    match = re.fullmatch(r"(?:@(!?)%(\w+)\s+)?([\w.]+)(?:\s+(.*?))?;", line)
    if match is None:
        raise PtxError(line)
    arguments = re.split(r",\s*(?![^{]*\})", match[4]) if match[4] else []
    try:
        statement = _instruction(match[3], arguments, places)
    except KeyError as error:
        raise PtxError(line) from error
    return f"if ({match[1]}{match[2]}) {{ {statement} }}" if match[2] else statement


def _instruction(opcode: str, arguments: list[str], places: dict[str, int]) -> str:
    """Raises KeyError where it is not known."""
    name, _, kind = opcode.rpartition(".")
    if opcode in ("ret", "bra", "bra.uni"):
        return f"goto {arguments[0].replace('$', '')};" if arguments else "{ place[tid] = -1; return; }"
    if opcode == "bar.sync":
        return BARRIER
    space = name.split(".")[1] if "." in name else ""
    if name == "ld.param":
        return f"{arguments[0][1:]} = *({TYPES[kind]} *)a[{places[arguments[1].strip('[]')]}];"
    if name.startswith(("ld.", "st.")):
        return _memory(name, kind, {"global": "at", "local": "own", "shared": "shared"}[space], arguments)
    if opcode in ATOMICS:
        start = f"int32_t *t = at<int32_t>({_address(arguments[1])}, 1), v = {_operand(arguments[2], kind)}"
        return f"{{ {start}; {arguments[0][1:]} = *t; {ATOMICS[opcode]} }}"
    return f"{arguments[0][1:]} = {_value(IMPLIED.sub('', name), kind, arguments)};"


def _memory(name: str, kind: str, find: str, arguments: list[str]) -> str:
    what, place = arguments if name.startswith("ld") else arguments[::-1]
    registers = what.strip("{}").split(", ")
    start = f"{TYPES[kind]} *t = {find}<{TYPES[kind]}>({_address(place)}, {len(registers)})"
    if name.startswith("st"):
        return f"{{ {start}; " + " ".join(f"t[{k}] = {_operand(r, kind)};" for k, r in enumerate(registers)) + " }"
    taken = ", ".join(f"t{k} = t[{k}]" for k in range(len(registers)))  # the address may be among the registers
    given = " ".join(f"{r[1:]} = t{k};" for k, r in enumerate(registers) if r != "_")
    return f"{{ {start}, {taken}; {given} }}"


def _value(name: str, kind: str, arguments: list[str]) -> str:
    if name.startswith("cvt."):
        *rounding, into = name.split(".")[1:]
        value = _operand(arguments[1], kind)
        return f"({TYPES[into]})" + (ROUND[rounding[0]].format(value) if rounding else value)
    given = [_operand(text, kind) for text in arguments[1:]]
    if name == "selp":
        given[2] = arguments[3][1:]
    if name.startswith("setp."):
        order = name.removeprefix("setp.")
        return COMPARE["neu" if order == "ne" and kind != "f32" else order].format(*given)
    if name == "mul.wide":
        return WIDE[kind].format(*given)
    if name == "mov" and kind == "b32" and arguments[1].startswith("%"):
        to = "float" if re.match("%f[0-9]", arguments[0]) else "uint32_t"
        return f"bits<{to}>({arguments[1][1:]})"
    forms = {"f32": REAL, "pred": PREDICATE}.get(kind, WHOLE)
    if name in ("shl", "shr"):
        given[1] = _operand(arguments[2], "u32")
    return f"({TYPES[kind]})(" + forms[name].format(*given, bits=kind[1:]) + ")"


def _operand(text: str, kind: str) -> str:
    """A register, a number, a special register or the name of a variable, as a value of this type."""
    if text in SPECIAL:
        return SPECIAL[text]
    if text.startswith("0f"):
        return f"bits<float>(0x{text[2:]}u)"
    if text.startswith("%"):
        return text[1:] if kind in ("f32", "pred") else f"(({TYPES[kind]}){text[1:]})"
    if kind == "pred":
        return "false" if text == "0" else "true"
    return f"(({TYPES[kind]}){text}{'ll' if text.lstrip('-').isdigit() else ''})"


def _address(text: str) -> str:
    match = re.fullmatch(r"\[%?(\w+)(?:\+(-?\d+))?\]", text)
    if match is None:
        raise KeyError(text)
    return f"{match[1]} + {match[2] or 0}ll"
