/**
 * Programs that try to exceed limits on memory, time, depth or parsing. Each row has
 * the expected outcome. This file only creates the programs; it runs none.
 *
 * It is one piece because the attacks are easiest to compare next to each other.
 */

/** A program and its expected outcome. */
export interface Attack {
  readonly name: string;
  readonly source: string;
  /**
   * `resource`: out of steps, memory, depth or output. `timeout`: out of time.
   * `error`: an error of the program. `static`: it does not compile. `done`: it is
   * harmless.
   */
  readonly ends: "resource" | "timeout" | "error" | "static" | "done";
  /** Part of the message. */
  readonly says?: string;
  /** Whether the step limit is so high that only time or memory can end the program. @default false */
  readonly manySteps?: boolean;
}

const memory = "out of memory";
const steps = "out of steps";
const depth = "Starlark stack overflow";

/** `[[[…]]]` as a graph: each level refers twice to the one below, with `levels` objects in total. */
function graph(levels: number): string {
  return `x = ["leaf"]\nfor _ in range(${levels}): x = [x, x]\n`;
}

/** A list with `levels` levels of nesting. */
function nested(levels: number): string {
  return `x = []\nfor _ in range(${levels}): x = [x]\n`;
}

function grow(statement: string, start = "xs = [0]"): string {
  return `${start}\nwhile True: ${statement}`;
}

/** Programs that use much memory; the limit is 32 MB. */
export const memoryBombs: readonly Attack[] = [
  { name: "a list and itself", source: grow("xs = xs + xs"), ends: "resource", says: memory },
  { name: "a list extended by itself", source: grow("xs.extend(xs)"), ends: "resource", says: memory },
  { name: "a list added to in place", source: grow("xs += xs"), ends: "resource", says: memory },
  { name: "a list of ints, one by one", source: grow("xs.append(1)"), ends: "resource", says: steps },
  { name: "a list of floats", source: grow("xs.append(len(xs) / 3)"), ends: "resource", says: memory },
  { name: "a list of strings", source: grow("xs.append(str(len(xs)))"), ends: "resource", says: memory },
  { name: "a list of lists", source: grow("xs.append([])"), ends: "resource", says: memory },
  { name: "a list of dicts", source: grow('xs.append({"a": 1})'), ends: "resource", says: memory },
  { name: "a list of copies", source: grow("xs.append(list(range(1000)))"), ends: "resource", says: memory },
  {
    name: "a list of slices",
    source: grow("ys.append(xs[:])", "xs = list(range(1000))\nys = []"),
    ends: "resource",
    says: memory,
  },
  { name: "insertions in front", source: grow("xs.insert(0, 1)"), ends: "resource" },
  { name: "a string and itself", source: grow("s += s", 's = "ab"'), ends: "resource", says: memory },
  {
    name: "a string in a list, ever longer",
    source: grow('s += "x"; xs.append(s + "y")', 's = ""\nxs = []'),
    ends: "resource",
    says: memory,
  },
  { name: "bytes and itself", source: grow("b += b", 'b = b"ab"'), ends: "resource", says: memory },
  { name: "a tuple and itself", source: grow("t += t", "t = (1,)"), ends: "resource", says: memory },
  { name: "a repeated string", source: '"a" * (1 << 29)', ends: "resource", says: memory },
  { name: "a repeated string, too often", source: '"a" * (1 << 62)', ends: "error" },
  { name: "a repeated list", source: "[0] * (1 << 28)", ends: "resource", says: memory },
  { name: "a repeated tuple", source: "(0,) * (1 << 28)", ends: "resource", says: memory },
  { name: "repeated bytes", source: 'b"a" * (1 << 29)', ends: "resource", says: memory },
  { name: "a repetition of a repetition", source: '[["a" * 1000] * 1000] * 1000000', ends: "done" },
  { name: "a range as a list", source: "list(range(1 << 40))", ends: "resource", says: memory },
  { name: "a range as a tuple", source: "tuple(range(1 << 40))", ends: "resource", says: memory },
  { name: "a range as a set", source: "set(range(1 << 40))", ends: "resource", says: memory },
  {
    name: "a range in a dict comprehension",
    source: "{x: x for x in range(1 << 40)}",
    ends: "resource",
    says: memory,
  },
  { name: "a range in order", source: "sorted(range(1 << 40))", ends: "resource" },
  { name: "a range backwards", source: "reversed(range(1 << 40))", ends: "resource" },
  { name: "a range with numbers", source: "enumerate(range(1 << 40))", ends: "resource" },
  { name: "ranges side by side", source: "zip(*([range(1 << 40)] * 100))", ends: "resource" },
  { name: "a range as arguments", source: "def f(*args): pass\nf(*range(1 << 40))", ends: "resource" },
  {
    name: "a dict as arguments",
    source: "def f(**kw): pass\nf(**{str(i): i for i in range(1 << 40)})",
    ends: "resource",
    says: memory,
  },
  { name: "a dict, one by one", source: grow("d[len(d)] = 1", "d = {}"), ends: "resource", says: memory },
  {
    name: "a dict with tuples for keys",
    source: grow('d[(len(d), "x" * 100)] = 1', "d = {}"),
    ends: "resource",
    says: memory,
  },
  {
    name: "dicts united",
    source: "d = {}\nfor i in range(1 << 30): d |= {i: i}",
    ends: "resource",
    says: memory,
  },
  {
    name: "a dict in a dict",
    source: grow('d = {"k": d, "l": [d]}', "d = {}"),
    ends: "resource",
    says: memory,
  },
  { name: "sets united", source: "s = set()\nfor i in range(1 << 30): s |= set([i])", ends: "resource" },
  { name: "a joined string", source: '",".join(["a" * 100000] * 100000)', ends: "resource", says: memory },
  {
    name: "a string replaced by long ones",
    source: '("a" * 100000).replace("a", "b" * 100000)',
    ends: "resource",
    says: memory,
  },
  {
    name: "a string with something between its letters",
    source: '("a" * 100000).replace("", "b" * 100000)',
    ends: "resource",
    says: memory,
  },
  { name: "a split string", source: '("a," * 4000000).split(",")', ends: "resource", says: memory },
  { name: "the lines of a string", source: '("\\n" * 8000000).splitlines()', ends: "resource", says: memory },
  {
    name: "the letters of a string",
    source: 'list(("ab" * 4000000).elems())',
    ends: "resource",
    says: memory,
  },
  {
    name: "an upper case that is longer",
    source: '("ÿ" * 7000000).upper() + ("ÿ" * 7000000).upper()',
    ends: "resource",
    says: memory,
  },
  {
    name: "an upper case that takes long",
    source: '("ß" * 7000000).upper() + ("ß" * 7000000).upper()',
    ends: "resource",
    says: steps,
  },
  {
    name: "every end of a string",
    source: 's = "ab" * 1000000\nxs = [s[i:] for i in range(1000000)]',
    ends: "resource",
    says: memory,
  },
  {
    name: "a filled string",
    source: 'xs = []\nwhile True: xs.append(f"{1:9999}")',
    ends: "resource",
    says: memory,
  },
  {
    name: "a percent format of long strings",
    source: '"%s" * 1000 % tuple(["a" * 100000] * 1000)',
    ends: "resource",
    says: memory,
  },
  {
    name: "a format of long strings",
    source: '("{0}" * 10000).format("a" * 100000)',
    ends: "resource",
    says: memory,
  },
  {
    name: "an f-string of long strings",
    source: 's = "a" * 20000000\nt = f"{s}{s}"',
    ends: "resource",
    says: memory,
  },
  { name: "a graph as text", source: `${graph(40)}s = str(x)`, ends: "resource" },
  { name: "a graph in a format", source: `${graph(40)}s = "%r" % (x,)`, ends: "resource" },
  { name: "a graph in an error", source: `${graph(40)}fail(x)`, ends: "resource" },
  {
    name: "a graph as a key that is missing",
    source: "t = (1,)\nfor _ in range(40): t = (t, t)\n{}[t]",
    ends: "resource",
  },
  { name: "a graph printed", source: `${graph(40)}print(x)`, ends: "resource" },
  { name: "a graph as JSON", source: `${graph(40)}s = json.encode(x)`, ends: "resource" },
  {
    name: "long strings as JSON",
    source: 'json.encode(["\\u0001" * 1000000] * 100)',
    ends: "resource",
    says: memory,
  },
  {
    name: "JSON, indented",
    source: `s = json.encode([[[]]] * 100000)\njson.indent(s, prefix="x" * 1000)`,
    ends: "resource",
    says: memory,
  },
  {
    name: "a long array from JSON",
    source: 'json.decode("[" + "0," * 5000000 + "0]")',
    ends: "resource",
    says: memory,
  },
  { name: "a deep array from JSON", source: 'json.decode("[" * 5000000)', ends: "error" },
  {
    name: "objects from JSON",
    source: 'json.decode("[" + "{}," * 1000000 + "0]")',
    ends: "resource",
    says: memory,
  },
  {
    name: "a struct of many fields",
    source: 'struct(**{"f%d" % i: i for i in range(1000000)})',
    ends: "resource",
    says: memory,
  },
  { name: "functions", source: grow("xs.append(lambda: xs)", "xs = []"), ends: "resource", says: memory },
  {
    name: "functions with defaults",
    source: "xs = []\nwhile True: xs.append(lambda a=1, b=2, c=3: a)",
    ends: "resource",
    says: memory,
  },
  {
    name: "closures",
    source: "def f(x):\n  y = x\n  return lambda: y\nxs = []\nwhile True: xs.append(f(1))",
    ends: "resource",
    says: memory,
  },
  { name: "bound methods", source: grow("xs.append(xs.append)"), ends: "resource", says: memory },
  {
    name: "errors",
    source: 'xs = []\nwhile True:\n  try: fail("x" * 1000)\n  except Error as e: xs.append(e)',
    ends: "resource",
    says: memory,
  },
  {
    name: "attempts",
    source: "xs = []\nwhile True: xs.append(attempt(fail, 1))",
    ends: "resource",
    says: memory,
  },
  { name: "a big int, squared", source: grow("n *= n", "n = 3"), ends: "resource", says: "int too large" },
  { name: "a big int from text", source: 'int("9" * 10000000)', ends: "error" },
  { name: "big ints", source: grow("xs.append((1 << 511) * len(xs))"), ends: "resource", says: memory },
  { name: "output", source: 'while True: print("a" * 1000)', ends: "resource", says: "print wrote more" },
  {
    name: "long lines of output",
    source: 'print("a" * 20000000)',
    ends: "resource",
    says: memory,
  },
  {
    name: "fibers with a string each",
    source: 'parallel_map(lambda n: [later(0, 1), "a" * 1000000 + str(n)], range(1000), limit=64)',
    ends: "resource",
    says: memory,
  },
  {
    name: "long results of fibers",
    source: 'parallel_map(lambda n: "a" * 100000 + str(n), range(1000))',
    ends: "resource",
    says: memory,
  },
  { name: "a long error", source: 'fail("a" * 15000000)', ends: "error" },
  { name: "a long key that is missing", source: '{}["a" * 7000000]', ends: "error" },
  {
    name: "long keys and one that is missing",
    source: 'd = {("k%d" % i) + "x" * 100000: i for i in range(100)}\nd["k" + "x" * 100000]',
    ends: "error",
  },
  { name: "a nested list as text", source: `${nested(100000)}str(x)`, ends: "error" },
  { name: "sums of lists", source: "sum([[1, 2, 3]] * 10000000, [])", ends: "resource", says: memory },
  {
    name: "a frame with much in it, many times",
    source: "def f(n):\n  x = list(range(10000))\n  return f(n + 1)\nf(0)",
    ends: "resource",
  },
  { name: "code points in bytes", source: 'bytes("€" * 12000000)', ends: "resource", says: memory },
  { name: "text of bytes", source: 'str(b"ab" * 15000000)', ends: "resource", says: memory },
  { name: "bytes of ints", source: "bytes(range(1 << 40))", ends: "resource", says: memory },
  {
    name: "characters",
    source: "xs = []\nwhile True: xs.append(chr(0x10000 + len(xs) % 1000) * 100)",
    ends: "resource",
    says: memory,
  },
  {
    name: "lines between lines",
    source: '("a\\n" * 100000).replace("\\n", "\\n" + "b" * 10000)',
    ends: "resource",
    says: memory,
  },
  {
    name: "a table that is filled and emptied",
    source: "d = {}\nfor i in range(1 << 40):\n  d[i] = i\n  if i > 1000: d.pop(i - 1000)",
    ends: "resource",
    says: steps,
  },
  { name: "unreachable values", source: 'while True: x = "a" * 1000000', ends: "resource", says: steps },
  { name: "unreachable lists", source: "while True: x = list(range(10000))", ends: "resource", says: steps },
  { name: "a split string of spaces", source: '("a " * 4000000).split()', ends: "resource", says: memory },
  {
    name: "a range in a comprehension",
    source: "[x for x in range(1 << 40)]",
    ends: "resource",
    says: memory,
  },
  {
    name: "the code points of a string",
    source: 'list(("ab" * 4000000).codepoint_ords())',
    ends: "resource",
    says: memory,
  },
];

/** Two equal long strings that are separate objects. */
const longPair = 'a = "a" * 5000000 + "b"\nb = "a" * 5000000 + "b"\n';

/** Programs that use much time; the limit is 10,000,000 steps, or two seconds with more steps. */
export const timeBombs: readonly Attack[] = [
  { name: "nothing, for ever", source: "while True: pass", ends: "resource", says: steps },
  {
    name: "nothing, for ever, with many steps",
    source: "while True: pass",
    ends: "timeout",
    manySteps: true,
  },
  {
    name: "a loop in a loop in a loop",
    source: "for a in range(1 << 30):\n  for b in range(1 << 30):\n    for c in range(1 << 30): pass",
    ends: "timeout",
    manySteps: true,
  },
  {
    name: "a comprehension without elements",
    source: "[x for x in range(1 << 50) if x < 0]",
    ends: "timeout",
    manySteps: true,
  },
  {
    name: "fibonacci",
    source: "def f(n): return n if n < 2 else f(n - 1) + f(n - 2)\nf(60)",
    ends: "timeout",
    manySteps: true,
  },
  { name: "a function that calls itself", source: "def f(): return f()\nf()", ends: "resource", says: depth },
  {
    name: "two functions that call each other",
    source: "def f(n): return g(n)\ndef g(n): return f(n)\nf(0)",
    ends: "resource",
    says: depth,
  },
  { name: "a lambda that calls itself", source: "f = lambda x: x(x)\nf(f)", ends: "resource", says: depth },
  {
    name: "sorted within sorted",
    source: "def f(x): return sorted([1], key=f)\nf(1)",
    ends: "resource",
    says: depth,
  },
  {
    name: "attempt within attempt",
    source: "def f(): return attempt(f)\nf()",
    ends: "resource",
    says: depth,
  },
  { name: "parallel within parallel", source: "def f(): return parallel([f])\nf()", ends: "resource" },
  {
    name: "parallel, many times many",
    source: "def f(n): return parallel_map(f, range(1000))\nf(0)",
    ends: "resource",
  },
  {
    name: "try within try, and all is caught",
    source: "def f(n):\n  try: f(n + 1)\n  except: pass\n  f(n + 1)\nf(0)",
    ends: "resource",
  },
  {
    name: "errors that are caught",
    source: "while True:\n  try: 1 // 0\n  except: pass",
    ends: "timeout",
    manySteps: true,
  },
  {
    name: "errors at depth that are caught",
    source: "def f(n): return f(n - 1) if n else 1 // 0\nwhile True: attempt(f, 150)",
    ends: "timeout",
    manySteps: true,
  },
  {
    name: "finally that continues",
    source: "def f():\n  while True:\n    try: continue\n    finally: pass\nf()",
    ends: "resource",
    says: steps,
  },
  { name: "a long sum", source: "sum(range(1 << 50))", ends: "timeout", manySteps: true },
  { name: "the greatest of many", source: "max(range(1 << 50))", ends: "timeout", manySteps: true },
  { name: "all of many", source: "all(range(1, 1 << 50))", ends: "timeout", manySteps: true },
  {
    name: "any of many",
    source: "any(range(0, 0 - (1 << 50), -1)[1:0:1]) or [0 for x in range(1 << 50) if any([])]",
    ends: "timeout",
    manySteps: true,
  },
  {
    name: "a product",
    source: "n = 3\nfor i in range(1 << 40): n = n * 3 % (1 << 500)",
    ends: "timeout",
    manySteps: true,
  },
  {
    name: "products of big ints",
    source:
      "n = (1 << 510) + 1\nfor i in range(100): n = n * n % ((1 << 511) * (1 << 511) * (1 << 511))\nm = n\nwhile True: m = m * n % (n + i)",
    ends: "timeout",
    manySteps: true,
  },
  {
    name: "big ints as text",
    source: "n = 1\nfor _ in range(100): n = n * (1 << 500)\nwhile True: str(n)",
    ends: "timeout",
    manySteps: true,
  },
  {
    name: "big ints from text",
    source: 's = "9" * 15000\nwhile True: int(s)',
    ends: "timeout",
    manySteps: true,
  },
  {
    name: "big ints divided",
    source:
      "n = 1\nfor _ in range(120): n = n * ((1 << 500) + 3)\nm = n // 7\nwhile True: m = n // (m % 1000003 + (1 << 400))",
    ends: "timeout",
    manySteps: true,
  },
  {
    name: "shifts",
    source: "n = 1\nwhile True: n = (n << 511) >> 510 & ((1 << 400) - 1)",
    ends: "timeout",
    manySteps: true,
  },
  {
    name: "a search that nearly finds",
    source: 's = "a" * 4000000\nwhile True: s.find("a" * 1000000 + "b")',
    ends: "timeout",
    manySteps: true,
  },
  {
    name: "a search backwards that nearly finds",
    source: 's = "a" * 4000000\nwhile True: s.rfind("b" + "a" * 1000000)',
    ends: "timeout",
    manySteps: true,
  },
  {
    name: "in, for a long string",
    source: 's = "ab" * 2000000 + "c"\nwhile True: "ab" * 500000 + "d" in s',
    ends: "timeout",
    manySteps: true,
  },
  {
    name: "count, for a long string",
    source: 's = "ab" * 2000000\nwhile True: s.count("ba")',
    ends: "timeout",
    manySteps: true,
  },
  {
    name: "replace, where nothing is found",
    source: 's = "ab" * 2000000\nwhile True: s.replace("aa", "b")',
    ends: "timeout",
    manySteps: true,
  },
  {
    name: "strip of many letters",
    source: 's = "a" * 1000000\nt = "bcdefgh" * 100000 + "a"\nwhile True: s.strip(t)',
    ends: "timeout",
    manySteps: true,
  },
  {
    name: "startswith of many",
    source:
      's = "a" * 1000000\nt = tuple([s + str(i) for i in range(10)] * 10000)\nwhile True: s.startswith(t)',
    ends: "timeout",
    manySteps: true,
  },
  {
    name: "upper and lower",
    source: 's = "aB" * 1000000\nwhile True: s.upper().lower().title()',
    ends: "timeout",
    manySteps: true,
  },
  {
    name: "isalpha of a long string",
    source: 's = "aB" * 2000000\nwhile True: s.isalpha() and s.isdigit() or s.islower()',
    ends: "timeout",
    manySteps: true,
  },
  {
    name: "long strings compared",
    source: `${longPair}while True: a == b`,
    ends: "timeout",
    manySteps: true,
  },
  {
    name: "long strings in order",
    source: `${longPair}while True: a < b or a > b`,
    ends: "timeout",
    manySteps: true,
  },
  {
    name: "long strings as keys",
    source: `${longPair}d = {a: 1}\nwhile True: d[b]`,
    ends: "timeout",
    manySteps: true,
  },
  {
    name: "new long strings as keys",
    source: 'd = {}\nwhile True: d.get("ab" * 1000000 + "c")',
    ends: "timeout",
    manySteps: true,
  },
  {
    name: "lists of long strings compared",
    source: `${longPair}x = [a] * 1000\ny = [b] * 1000\nwhile True: x == y`,
    ends: "timeout",
    manySteps: true,
  },
  {
    name: "a list of long strings searched",
    source: `${longPair}x = [a] * 100000\nwhile True: b + "c" in x`,
    ends: "resource",
    says: memory,
    manySteps: true,
  },
  {
    name: "long strings sorted",
    source: 'x = ["a" * 20000 + str(i) for i in range(1000)]\nwhile True: sorted(x)',
    ends: "timeout",
    manySteps: true,
  },
  {
    name: "a text that is put together and read",
    source: 's = "a" * 3000000\nwhile True:\n  s = s[1:] + "b"\n  s[1500000]',
    ends: "timeout",
    manySteps: true,
  },
  {
    name: "a long string as JSON",
    source: 's = "a\\n" * 1000000\nwhile True: json.encode(s)',
    ends: "timeout",
    manySteps: true,
  },
  {
    name: "a long JSON read",
    source: 's = json.encode([[1.5, "a"]] * 50000)\nwhile True: json.decode(s)',
    ends: "timeout",
    manySteps: true,
  },
  {
    name: "a long JSON indented",
    source: "s = json.encode([[1]] * 50000)\nwhile True: json.indent(s)",
    ends: "timeout",
    manySteps: true,
  },
  {
    name: "a long number read",
    source: 's = "0." + "5" * 1000000\nwhile True: float(s)',
    ends: "timeout",
    manySteps: true,
  },
  {
    name: "lists searched",
    source: "x = list(range(1000000))\nwhile True: -1 in x",
    ends: "timeout",
    manySteps: true,
  },
  {
    name: "lists compared",
    source: "x = list(range(1000000))\ny = list(x)\nwhile True: x == y",
    ends: "timeout",
    manySteps: true,
  },
  {
    name: "lists copied",
    source: "x = list(range(500000))\nwhile True: y = x[:]",
    ends: "timeout",
    manySteps: true,
  },
  {
    name: "lists turned",
    source: "x = list(range(500000))\nwhile True: x = x[::-1]",
    ends: "timeout",
    manySteps: true,
  },
  {
    name: "lists sorted",
    source: "x = [i * 7919 % 100003 for i in range(100000)]\nwhile True: sorted(x)",
    ends: "timeout",
    manySteps: true,
  },
  {
    name: "lists sorted by key",
    source: "x = list(range(10000))\nwhile True: sorted(x, key=lambda i: -i)",
    ends: "timeout",
    manySteps: true,
  },
  {
    name: "the first element removed",
    source: "x = list(range(1000000))\nwhile True:\n  x.pop(0)\n  x.append(1)",
    ends: "timeout",
    manySteps: true,
  },
  {
    name: "an element inserted in front",
    source: "x = list(range(1000000))\nwhile True:\n  x.insert(0, 1)\n  x.pop()",
    ends: "timeout",
    manySteps: true,
  },
  {
    name: "an element removed by value",
    source: "x = list(range(1000000))\nwhile True:\n  x.remove(999999)\n  x.append(999999)",
    ends: "timeout",
    manySteps: true,
  },
  {
    name: "index of an element",
    source: "x = list(range(1000000))\nwhile True: x.index(999999)",
    ends: "timeout",
    manySteps: true,
  },
  {
    name: "graphs compared",
    source: `${graph(60)}y = ["leaf"]\nfor _ in range(60): y = [y, y]\nx == y`,
    ends: "timeout",
    manySteps: true,
  },
  {
    name: "graphs in order",
    source: `${graph(60)}y = ["leaf"]\nfor _ in range(60): y = [y, y]\nx < y`,
    ends: "timeout",
    manySteps: true,
  },
  {
    name: "a graph as a key",
    source: 't = ("leaf",)\nfor _ in range(60): t = (t, t)\n{t: 1}',
    ends: "resource",
  },
  {
    name: "a graph of structs as a key",
    source: "t = struct(a=1)\nfor _ in range(60): t = struct(a=t, b=t)\n{t: 1}",
    ends: "resource",
  },
  {
    name: "a nested list compared",
    source: `${nested(100000)}y = []\nfor _ in range(100000): y = [y]\nx == y`,
    ends: "error",
    says: "maximum recursion",
  },
  {
    name: "a nested list in order",
    source: `${nested(100000)}y = []\nfor _ in range(100000): y = [y]\nx < y`,
    ends: "error",
    says: "maximum recursion",
  },
  { name: "a nested list as JSON", source: `${nested(100000)}json.encode(x)`, ends: "error" },
  {
    name: "a nested tuple as a key",
    source: "t = ()\nfor _ in range(100000): t = (t,)\n{t: 1}",
    ends: "error",
  },
  {
    name: "a nested dict in an error",
    source: 'd = {}\nfor _ in range(100000): d = {"d": d}\nfail(d)',
    ends: "error",
  },
  { name: "a nested list in fibers", source: `${nested(100000)}parallel([lambda: len(x)])`, ends: "done" },
  {
    name: "a list in itself",
    source: "x = []\nx.append(x)\nx == x",
    ends: "error",
    says: "maximum recursion",
  },
  { name: "a list in itself as JSON", source: "x = []\nx.append(x)\njson.encode(x)", ends: "error" },
  {
    name: "names that are nearly there",
    source: 'd = {("k" * 80) + str(i): i for i in range(200)}\nwhile True: attempt(lambda: d["k" * 90])',
    ends: "timeout",
    manySteps: true,
  },
  {
    name: "attributes that are nearly there",
    source: `d = {("k" * 80) + str(i): i for i in range(200)}\nwhile True: attempt(lambda: d.${"k".repeat(90)})`,
    ends: "timeout",
    manySteps: true,
  },
  {
    name: "arguments that are nearly there",
    source: `def f(${Array.from({ length: 200 }, (_, index) => `${"k".repeat(80)}${index}=0`).join(", ")}): pass\nwhile True: attempt(f, ${"k".repeat(90)}=1)`,
    ends: "timeout",
    manySteps: true,
  },
  {
    name: "a struct of many fields and one that is missing",
    source: 's = struct(**{"f%d" % i: i for i in range(50000)})\nwhile True: attempt(lambda: s.g1)',
    ends: "timeout",
    manySteps: true,
  },
  {
    name: "a struct with a field given twice",
    source: 'd = {"f%d" % i: i for i in range(50000)}\nstruct(f49999=1, **d)',
    ends: "error",
  },
  {
    name: "the attributes of a struct",
    source: 's = struct(**{"f%d" % i: i for i in range(50000)})\nwhile True: dir(s)',
    ends: "timeout",
    manySteps: true,
  },
  {
    name: "many arguments by name",
    source: 'd = {"f%d" % i: i for i in range(50000)}\ndef f(**kw): pass\nwhile True: f(**d)',
    ends: "timeout",
    manySteps: true,
  },
  {
    name: "views of strings, by index",
    source: 's = ("ab" * 2000000).elem_ords()\nwhile True: s[3999999]',
    ends: "timeout",
    manySteps: true,
  },
  {
    name: "the end of a view",
    source: 's = ("ab" * 2000000).elems()\nwhile True: list(s[3999990:4000000]) if False else len(s)',
    ends: "timeout",
    manySteps: true,
  },
  {
    name: "a wide format",
    source: 'while True: "%d %s" % (1, f"{1:>9999}")',
    ends: "timeout",
    manySteps: true,
  },
  {
    name: "a format of many fields",
    source: 's = "{}" * 100000\nt = [1] * 100000\nwhile True: s.format(*t)',
    ends: "timeout",
    manySteps: true,
  },
  {
    name: "a percent format of many fields",
    source: 's = "%d" * 100000\nt = tuple([1] * 100000)\nwhile True: s % t',
    ends: "timeout",
    manySteps: true,
  },
  {
    name: "a percent format of many escapes",
    source: 's = "%%" * 1000000\nwhile True: s % ()',
    ends: "timeout",
    manySteps: true,
  },
  {
    name: "lines of a long string",
    source: 's = "ab\\n" * 200000\nwhile True: s.splitlines()',
    ends: "timeout",
    manySteps: true,
  },
  {
    name: "a hash of a long string",
    source: 's = "ab" * 2000000\nwhile True: hash(s)',
    ends: "timeout",
    manySteps: true,
  },
  {
    name: "a hash of long bytes",
    source: 's = b"ab" * 2000000\nwhile True: hash(s)',
    ends: "timeout",
    manySteps: true,
  },
  {
    name: "bytes searched",
    source: 's = b"ab" * 2000000\nwhile True: b"aa" in s',
    ends: "timeout",
    manySteps: true,
  },
  {
    name: "a duration of many parts",
    source: 's = "1h" * 100000\nwhile True: attempt(time.parse_duration, s)',
    ends: "timeout",
    manySteps: true,
  },
  {
    name: "a time in a long layout",
    source: 's = "2006-01-02 " * 50000\nwhile True: attempt(time.parse_time, s, format=s)',
    ends: "timeout",
    manySteps: true,
  },
  {
    name: "text of a time in a long layout",
    source: 's = "2006-01-02 Monday " * 50000\nn = time.from_timestamp(0)\nwhile True: n.format(s)',
    ends: "error",
    says: "the limit is 1000",
  },
  { name: "a sleepless wait", source: "while True: later(0, 1)", ends: "timeout", manySteps: true },
  {
    name: "fibers that wait",
    source: "while True: parallel_map(lambda n: later(n, 1), range(50), limit=64)",
    ends: "timeout",
    manySteps: true,
  },
  { name: "a wait that never ends", source: "never()", ends: "timeout", manySteps: true },
  {
    name: "fibers of which one never ends",
    source: "parallel([lambda: 1, never])",
    ends: "timeout",
    manySteps: true,
  },
];

const many = 100_000;

/** Programs that attack the parser, the resolver or the compiler. */
export const parserBombs: readonly Attack[] = [
  { name: "open parentheses", source: "(".repeat(many), ends: "static" },
  { name: "parentheses", source: `x = ${"(".repeat(many)}1${")".repeat(many)}`, ends: "static" },
  { name: "brackets", source: `x = ${"[".repeat(many)}${"]".repeat(many)}`, ends: "static" },
  { name: "braces", source: `x = ${"{1:".repeat(many)}1${"}".repeat(many)}`, ends: "static" },
  { name: "brackets of all kinds", source: "([{".repeat(many), ends: "static" },
  { name: "closing parentheses", source: ")".repeat(many), ends: "static" },
  { name: "nots", source: `x = ${"not ".repeat(many)}1`, ends: "static" },
  { name: "minuses", source: `x = ${"-".repeat(many)}1`, ends: "static" },
  { name: "lambdas", source: `x = ${"lambda: ".repeat(many)}1`, ends: "static" },
  { name: "conditions", source: `x = ${"1 if 1 else ".repeat(many)}1`, ends: "static" },
  { name: "a sum of many", source: `x = ${"1 + ".repeat(many)}1`, ends: "static" },
  { name: "ors", source: `x = ${"0 or ".repeat(many)}1`, ends: "static" },
  { name: "attributes", source: `x = "a"${".b".repeat(many)}`, ends: "static" },
  { name: "calls", source: `x = len${"()".repeat(many)}`, ends: "static" },
  { name: "indices", source: `x = len${"[0]".repeat(many)}`, ends: "static" },
  {
    name: "comprehensions",
    source: `x = ${"[x for x in ".repeat(many)}[]${"]".repeat(many)}`,
    ends: "static",
  },
  { name: "clauses of a comprehension", source: `x = [1 ${"for x in [1] ".repeat(3000)}]`, ends: "static" },
  {
    name: "blocks",
    source: Array.from({ length: 2000 }, (_, level) => `${" ".repeat(level)}if True:`).join("\n"),
    ends: "static",
  },
  {
    name: "functions in functions",
    source: `${Array.from({ length: 1000 }, (_, level) => `${" ".repeat(level)}def f():`).join("\n")}\n${" ".repeat(1000)}pass`,
    ends: "static",
  },
  {
    name: "tries in tries",
    source: `${Array.from({ length: 1000 }, (_, level) => `${" ".repeat(level)}try:`).join("\n")}`,
    ends: "static",
  },
  {
    name: "finally in finally",
    source: `${Array.from({ length: 200 }, (_, level) => `${" ".repeat(level)}try: pass\n${" ".repeat(level)}finally:`).join("\n")}\n${" ".repeat(200)}pass`,
    ends: "done",
  },
  { name: "f-strings", source: `x = ${'f"{'.repeat(1000)}`, ends: "static" },
  { name: "an f-string of many fields", source: `y = 1\nx = f"${"{y}".repeat(many)}"`, ends: "done" },
  { name: "a string that does not end", source: `x = "${"a".repeat(1_000_000)}`, ends: "static" },
  { name: "a triple string that does not end", source: `x = """${"a\n".repeat(500_000)}`, ends: "static" },
  { name: "escapes", source: `x = "${"\\x".repeat(many)}"`, ends: "static" },
  { name: "characters that mean nothing", source: "$".repeat(1_000_000), ends: "static" },
  { name: "too long a text", source: "#".repeat(3_000_000), ends: "static" },
  { name: "empty lines", source: "\n".repeat(1_000_000), ends: "done" },
  { name: "comments", source: "#\n".repeat(500_000), ends: "done" },
  { name: "a long int", source: `x = ${"9".repeat(1_000_000)}`, ends: "static" },
  { name: "a long hexadecimal int", source: `x = 0x${"f".repeat(1_000_000)}`, ends: "static" },
  { name: "a long float", source: `x = 0.${"9".repeat(1_000_000)}`, ends: "done" },
  { name: "a float with a great exponent", source: "x = 1e999999999", ends: "static" },
  { name: "a long name", source: `${"a".repeat(500_000)} = 1\nx = ${"a".repeat(499_999)}b`, ends: "static" },
  { name: "many elements", source: `x = [${"1,".repeat(many)}]`, ends: "done" },
  {
    name: "many entries",
    source: `x = {${Array.from({ length: 50_000 }, (_, index) => `${index}:1`).join(",")}}`,
    ends: "done",
  },
  { name: "many statements", source: "x = 1\n".repeat(100_000), ends: "done" },
  {
    name: "many functions",
    source: Array.from({ length: 20_000 }, (_, index) => `def f${index}(): pass`).join("\n"),
    ends: "done",
  },
  { name: "many arguments", source: `print(${"1,".repeat(many)})`, ends: "static" },
  {
    name: "many parameters",
    source: `def f(${Array.from({ length: 20_000 }, (_, index) => `a${index}`).join(",")}): pass`,
    ends: "done",
  },
  { name: "many targets", source: `${"a,".repeat(many)} = x`, ends: "static" },
  {
    name: "many names that are nearly defined",
    source: `${Array.from({ length: 5000 }, (_, index) => `longish_variable_name_${index} = 1`).join("\n")}\n${Array.from({ length: 5000 }, (_, index) => `longish_variable_nome_${index}x`).join("\n")}`,
    ends: "static",
  },
  {
    name: "many names of one function",
    source: `def f():\n${Array.from({ length: 20_000 }, (_, index) => `  a${index} = ${index}`).join("\n")}\n  return a1\nf()`,
    ends: "done",
  },
  {
    name: "many ifs in a row",
    source: `x = 1\nif x == 0: pass\n${Array.from({ length: 20_000 }, (_, index) => `elif x == -${index}: pass`).join("\n")}`,
    ends: "done",
  },
  {
    name: "indents that go up and down",
    source: Array.from({ length: 20_000 }, (_, index) => `${" ".repeat(index % 7)}x`).join("\n"),
    ends: "static",
  },
  {
    name: "tabs and spaces",
    source: Array.from({ length: 20_000 }, (_, index) => `${index % 2 ? "\t" : "    "}pass`).join("\n"),
    ends: "static",
  },
  { name: "backslashes", source: "\\\n".repeat(many), ends: "done" },
  { name: "control characters", source: "\0\u0001\u0002\ufeff\u2028".repeat(10_000), ends: "static" },
  { name: "half characters", source: `x = "${"\ud800".repeat(10_000)}"`, ends: "done" },
];
