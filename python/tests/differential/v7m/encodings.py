"""Every data-processing and floating-point encoding as a pattern of bits, laid out like the manual's tables (A5, A6).

In a pattern `d n m a t u` are fields of core registers, `D N M` those of S or D registers (the extra bit written where
it stands), `i` is any immediate; every other letter is a field drawn over its whole range and named by a restriction.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

Fields = dict[str, int]


@dataclass(frozen=True)
class Encoding:
    """One row of the tables."""

    name: str
    pattern: str
    cores: str = "m3 m4 m7"
    # What makes the instruction predictable, beyond its registers being r0 to r12 and LR.
    holds: Callable[[Fields], bool] = field(default=lambda _: True)
    # The same register is written as n and m.
    one_operand: bool = False
    # FPSCR asks for rounding to nearest.
    nearest: bool = False

    def draw(self, rng: random.Random, **fixed: int) -> list[int]:
        """Halfwords with random fields, but those given."""
        while True:
            letters = [letter for letter in dict.fromkeys(self.pattern) if letter not in " 01"]
            fields = {letter: rng.getrandbits(self.pattern.count(letter)) for letter in letters}
            for letter in letters:
                if letter in "dnmatu" and self.pattern.count(letter) == 4:
                    fields[letter] = rng.choice((*range(13), 14))
            fields |= {letter: value for letter, value in fixed.items() if letter in fields}
            if self.one_operand:
                fields["m"] = fields["n"]
            if self.holds(fields):
                return self._halves(fields)

    def _halves(self, fields: Fields) -> list[int]:
        left = {letter: self.pattern.count(letter) for letter in fields}
        halves = []
        for half in self.pattern.split():
            value = 0
            for letter in half:
                if letter in "01":
                    bit = int(letter)
                else:
                    left[letter] -= 1
                    bit = fields[letter] >> left[letter] & 1
                value = value << 1 | bit
            assert len(half) == 16, (self.name, half)
            halves.append(value)
        return halves

    def operands(self) -> int:
        """How many core registers it reads as n and m."""
        return sum(self.pattern.count(letter) > 0 for letter in "nm") - self.one_operand


DSP = "m4 m7"
FLOAT = "m4 m7"
DOUBLE = "m7"


def _expandable(fields: Fields) -> bool:
    """A modified immediate that is not UNPREDICTABLE: imm12 is the field i (A5.3.2)."""
    return fields["i"] & 0xFF != 0 or fields["i"] & 0xF00 in (0, *range(0x400, 0x1000, 0x100))


def _immediates() -> list[Encoding]:
    names = {0: "and", 1: "bic", 2: "orr", 3: "orn", 4: "eor", 8: "add", 10: "adc", 11: "sbc", 13: "sub", 14: "rsb"}
    rows = [
        Encoding(f"{name} #", f"11110i0{op:04b}snnnn 0iiiddddiiiiiiii", holds=_expandable) for op, name in names.items()
    ]
    for op, name in {2: "mov", 3: "mvn"}.items():
        rows.append(Encoding(f"{name} #", f"11110i0{op:04b}s1111 0iiiddddiiiiiiii", holds=_expandable))
    for op, name in {0: "tst", 4: "teq", 8: "cmn", 13: "cmp"}.items():
        rows.append(Encoding(f"{name} #", f"11110i0{op:04b}1nnnn 0iii1111iiiiiiii", holds=_expandable))
    return rows


def _shifted_operand_encodings() -> list[Encoding]:
    names = {0: "and", 1: "bic", 2: "orr", 3: "orn", 4: "eor", 8: "add", 10: "adc", 11: "sbc", 13: "sub", 14: "rsb"}
    rows = []
    for op, name in names.items():
        rows.append(Encoding(f"{name} reg, shift", f"1110101{op:04b}snnnn 0iiiddddiiyymmmm"))
        rows.append(Encoding(f"{name} reg", f"1110101{op:04b}snnnn 0000dddd0000mmmm"))
    for op, name in {2: "mov", 3: "mvn"}.items():
        rows.append(Encoding(f"{name} reg, shift", f"1110101{op:04b}s1111 0iiiddddiiyymmmm"))
    for op, name in {0: "tst", 4: "teq", 8: "cmn", 13: "cmp"}.items():
        rows.append(Encoding(f"{name} reg, shift", f"1110101{op:04b}1nnnn 0iii1111iiyymmmm"))
        rows.append(Encoding(f"{name} reg", f"1110101{op:04b}1nnnn 000011110000mmmm"))
    return rows


# In these i is lsb and w is width - 1 or msb.
_BITS = [
    Encoding("sbfx", "111100110100nnnn 0iiiddddii0wwwww", holds=lambda f: f["i"] + f["w"] < 32),
    Encoding("ubfx", "111100111100nnnn 0iiiddddii0wwwww", holds=lambda f: f["i"] + f["w"] < 32),
    Encoding("bfi", "111100110110nnnn 0iiiddddii0wwwww", holds=lambda f: f["w"] >= f["i"]),
    Encoding("bfc", "1111001101101111 0iiiddddii0wwwww", holds=lambda f: f["w"] >= f["i"]),
    Encoding("movw", "11110i100100iiii 0iiiddddiiiiiiii"),
    Encoding("movt", "11110i101100iiii 0iiiddddiiiiiiii"),
    Encoding("addw", "11110i100000nnnn 0iiiddddiiiiiiii"),
    Encoding("subw", "11110i101010nnnn 0iiiddddiiiiiiii"),
    Encoding("ssat lsl", "111100110000nnnn 0iiiddddii0wwwww"),
    Encoding("ssat asr", "111100110010nnnn 0iiiddddii0wwwww", holds=lambda f: f["i"] != 0),
    Encoding("usat lsl", "111100111000nnnn 0iiiddddii0wwwww"),
    Encoding("usat asr", "111100111010nnnn 0iiiddddii0wwwww", holds=lambda f: f["i"] != 0),
    Encoding("ssat16", "111100110010nnnn 0000dddd0000wwww", DSP),
    Encoding("usat16", "111100111010nnnn 0000dddd0000wwww", DSP),
    *(
        Encoding(f"{name} reg", f"11111010{op:03b}snnnn 1111dddd0000mmmm")
        for op, name in enumerate(("lsl", "lsr", "asr", "ror"))
    ),
    *(
        Encoding(name, f"11111010{op:04b}1111 1111dddd10rrmmmm", cores)
        for op, name, cores in (
            (0, "sxth", "m3 m4 m7"),
            (1, "uxth", "m3 m4 m7"),
            (2, "sxtb16", DSP),
            (3, "uxtb16", DSP),
            (4, "sxtb", "m3 m4 m7"),
            (5, "uxtb", "m3 m4 m7"),
        )
    ),
    *(
        Encoding(name, f"11111010{op:04b}nnnn 1111dddd10rrmmmm", DSP)
        for op, name in enumerate(("sxtah", "uxtah", "sxtab16", "uxtab16", "sxtab", "uxtab"))
    ),
    *(
        Encoding(name, f"11111010{op:04b}nnnn 1111dddd10{low:02b}mmmm", one_operand=True)
        for op, low, name in ((9, 0, "rev"), (9, 1, "rev16"), (9, 2, "rbit"), (9, 3, "revsh"), (11, 0, "clz"))
    ),
]


def _parallel() -> list[Encoding]:
    operations = {1: "add16", 2: "asx", 6: "sax", 5: "sub16", 0: "add8", 4: "sub8"}
    prefixes = {0: "s", 1: "q", 2: "sh", 4: "u", 5: "uq", 6: "uh"}
    return [
        Encoding(prefix + name, f"111110101{op:03b}nnnn 1111dddd0{kind:03b}mmmm", DSP)
        for op, name in operations.items()
        for kind, prefix in prefixes.items()
    ]


def _apart(fields: Fields) -> bool:
    """Two destinations."""
    return fields["d"] != fields["a"]


_MULTIPLIES = [
    Encoding("mul", "111110110000nnnn 1111dddd0000mmmm"),
    Encoding("mla", "111110110000nnnn aaaadddd0000mmmm"),
    Encoding("mls", "111110110000nnnn aaaadddd0001mmmm"),
    Encoding("smulxy", "111110110001nnnn 1111dddd00xymmmm", DSP),
    Encoding("smlaxy", "111110110001nnnn aaaadddd00xymmmm", DSP),
    Encoding("smuad", "111110110010nnnn 1111dddd000xmmmm", DSP),
    Encoding("smlad", "111110110010nnnn aaaadddd000xmmmm", DSP),
    Encoding("smulwy", "111110110011nnnn 1111dddd000ymmmm", DSP),
    Encoding("smlawy", "111110110011nnnn aaaadddd000ymmmm", DSP),
    Encoding("smusd", "111110110100nnnn 1111dddd000xmmmm", DSP),
    Encoding("smlsd", "111110110100nnnn aaaadddd000xmmmm", DSP),
    Encoding("smmul", "111110110101nnnn 1111dddd000rmmmm", DSP),
    Encoding("smmla", "111110110101nnnn aaaadddd000rmmmm", DSP),
    Encoding("smmls", "111110110110nnnn aaaadddd000rmmmm", DSP),
    Encoding("usad8", "111110110111nnnn 1111dddd0000mmmm", DSP),
    Encoding("usada8", "111110110111nnnn aaaadddd0000mmmm", DSP),
    Encoding("smull", "111110111000nnnn aaaadddd0000mmmm", holds=_apart),
    Encoding("umull", "111110111010nnnn aaaadddd0000mmmm", holds=_apart),
    Encoding("smlal", "111110111100nnnn aaaadddd0000mmmm", holds=_apart),
    Encoding("umlal", "111110111110nnnn aaaadddd0000mmmm", holds=_apart),
    Encoding("smlalxy", "111110111100nnnn aaaadddd10xymmmm", DSP, _apart),
    Encoding("smlald", "111110111100nnnn aaaadddd110xmmmm", DSP, _apart),
    Encoding("smlsld", "111110111101nnnn aaaadddd110xmmmm", DSP, _apart),
    Encoding("umaal", "111110111110nnnn aaaadddd0110mmmm", DSP, _apart),
    Encoding("sdiv", "111110111001nnnn 1111dddd1111mmmm"),
    Encoding("udiv", "111110111011nnnn 1111dddd1111mmmm"),
    Encoding("pkhbt", "111010101100nnnn 0iiiddddii00mmmm", DSP),
    Encoding("pkhtb", "111010101100nnnn 0iiiddddii10mmmm", DSP),
    Encoding("sel", "111110101010nnnn 1111dddd1000mmmm", DSP),
    *(
        Encoding(name, f"111110101000nnnn 1111dddd10{op:02b}mmmm", DSP)
        for op, name in enumerate(("qadd", "qdadd", "qsub", "qdsub"))
    ),
]

DATA_PROCESSING = [*_immediates(), *_shifted_operand_encodings(), *_BITS, *_parallel(), *_MULTIPLIES]


def _float(name: str, pattern: str, cores: str = FLOAT) -> list[Encoding]:
    """The single and the double form: z is the size bit, D N M have their extra bits where they stand."""
    return [
        Encoding(f"{name}.f32", pattern.replace("z", "0"), cores),
        Encoding(f"{name}.f64", pattern.replace("z", "1").replace("e", "0"), DOUBLE),
    ]


def _three(name: str, top: str, op: int, cores: str = FLOAT) -> list[Encoding]:
    """d := n op m; `top` has the first halfword's bits around the extra bit of d."""
    return _float(name, f"{top}NNNN DDDD101ze{op}e0MMMM", cores)


def _anything(_: Fields) -> bool:
    return True


def _fraction_fits(fields: Fields) -> bool:
    """The field imm4:i, whose i stands first in the pattern, leaves no negative number of fraction bits in 16."""
    return (fields["i"] & 15) << 1 | fields["i"] >> 4 <= 16


def _fixed_point(width: str, extra: str, cores: str) -> list[Encoding]:
    """From 16 and 32 bits and to them. From fixed point rounds to nearest (A7.7.240); unicorn rounds by FPSCR."""
    return [
        Encoding(
            f"vcvt fixed {bits} {width}",
            f"111011101{extra}111k1u DDDD101{width}{long}1i0iiii",
            cores,
            _fraction_fits if long == 0 else _anything,
            nearest=True,
        )
        for bits, long in ((16, 0), (32, 1))
    ]


# The letter e stands for the low bit of an S register's number and for the zero on top of a D register's.
_FLOATS = [
    *_three("vmla", "111011100e00", 0),
    *_three("vmls", "111011100e00", 1),
    *_three("vnmls", "111011100e01", 0),
    *_three("vnmla", "111011100e01", 1),
    *_three("vmul", "111011100e10", 0),
    *_three("vnmul", "111011100e10", 1),
    *_three("vadd", "111011100e11", 0),
    *_three("vsub", "111011100e11", 1),
    *_three("vdiv", "111011101e00", 0),
    *_three("vfnms", "111011101e01", 0),
    *_three("vfnma", "111011101e01", 1),
    *_three("vfma", "111011101e10", 0),
    *_three("vfms", "111011101e10", 1),
    *_three("vsel", "111111100ecc", 0, DOUBLE),
    *_three("vmaxnm", "111111101e00", 0, DOUBLE),
    *_three("vminnm", "111111101e00", 1, DOUBLE),
    *_float("vmov imm", "111011101e11iiii DDDD101z0000iiii"),
    *_float("vmov", "111011101e110000 DDDD101z01e0MMMM"),
    *_float("vabs", "111011101e110000 DDDD101z11e0MMMM"),
    *_float("vneg", "111011101e110001 DDDD101z01e0MMMM"),
    *_float("vsqrt", "111011101e110001 DDDD101z11e0MMMM"),
    *_float("vcmp", "111011101e110100 DDDD101zk1e0MMMM"),
    *_float("vcmp #0", "111011101e110101 DDDD101zk1000000"),
    *_float("vrintr", "111011101e110110 DDDD101z01e0MMMM", DOUBLE),
    *_float("vrintz", "111011101e110110 DDDD101z11e0MMMM", DOUBLE),
    *_float("vrintx", "111011101e110111 DDDD101z01e0MMMM", DOUBLE),
    *_float("vrint anpm", "111111101e1110kk DDDD101z01e0MMMM", DOUBLE),
    Encoding("vcvt.f64.f32", "1110111010110111 DDDD101011e0MMMM", DOUBLE),
    Encoding("vcvt.f32.f64", "111011101e110111 DDDD10111100MMMM", DOUBLE),
    *(
        row
        for width, core in (("0", FLOAT), ("1", DOUBLE))
        for low, high in (("e", "0") if width == "1" else ("e", "e"),)
        for row in (
            Encoding(f"vcvt to int {width}", f"111011101{low}11110k DDDD101{width}k1{high}0MMMM", core),
            Encoding(f"vcvt anpm to int {width}", f"111111101{low}1111kk DDDD101{width}k1{high}0MMMM", DOUBLE),
            Encoding(f"vcvt from int {width}", f"111011101{high}111000 DDDD101{width}k1{low}0MMMM", core),
            Encoding(f"vcvtb t from half {width}", f"111011101{high}110010 DDDD101{width}k1{low}0MMMM", core),
            Encoding(f"vcvtb t to half {width}", f"111011101{low}110011 DDDD101{width}k1{high}0MMMM", core),
            *_fixed_point(width, high, core),
        )
    ),
]


_MOVES = [
    Encoding("vmov s, r", "111011100000NNNN tttt1010e0010000", FLOAT),
    Encoding("vmov r, s", "111011100001NNNN tttt1010e0010000", FLOAT),
    Encoding("vmov d[x], r", "1110111000x0NNNN tttt101100010000", FLOAT),
    Encoding("vmov r, d[x]", "1110111000x1NNNN tttt101100010000", FLOAT),
    Encoding("vmov s s, r r", "111011000100uuuu tttt101000e1MMMM", FLOAT, lambda f: f["M"] != 15),
    Encoding("vmov r r, s s", "111011000101uuuu tttt101000e1MMMM", FLOAT, lambda f: f["M"] != 15 and f["t"] != f["u"]),
    Encoding("vmov d, r r", "111011000100uuuu tttt10110001MMMM", FLOAT),
    Encoding("vmov r r, d", "111011000101uuuu tttt10110001MMMM", FLOAT, lambda f: f["t"] != f["u"]),
    Encoding("vmrs", "1110111011110001 tttt101000010000", FLOAT),
    Encoding("vmrs apsr", "1110111011110001 1111101000010000", FLOAT),
    Encoding("vmsr", "1110111011100001 tttt101000010000", FLOAT),
]

FLOATING_POINT = [*_FLOATS, *_MOVES]
