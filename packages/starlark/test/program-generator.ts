/**
 * Generates random, valid programs; a seed always produces the same program. Most
 * statements print something. Values usually have a known type, so that programs do
 * not fail early.
 */

/** The types of generated expressions. */
const types = ["int", "float", "string", "bool", "list", "tuple", "dict"] as const;
type Type = (typeof types)[number];

/** Options of the generator. */
export interface GeneratorOptions {
  /** Whether to use f-strings, `try`, `attempt` and `parallel`. @default false */
  readonly tool?: boolean;
}

/** A program of a few dozen lines. */
export function generateProgram(seed: number, options: GeneratorOptions = {}): string {
  return new Generator(seed, options).program();
}

/** A variable that is in scope. */
interface Variables {
  readonly name: string;
  readonly type: Type;
}

const words = [
  "",
  "a",
  "b",
  "ab",
  "key",
  "x y",
  "1",
  "-2",
  "3.5",
  "Hello",
  "UPPER",
  "a,b,c",
  "  pad ",
  "tab\\t",
  "%d",
];

class Generator {
  #state: number;
  readonly #tool: boolean;
  readonly #lines: string[] = [];
  #visible: Variables[] = [];
  #functions: { readonly name: string; readonly arity: number; readonly type: Type }[] = [];
  #names = 0;

  constructor(seed: number, { tool = false }: GeneratorOptions) {
    this.#state = seed >>> 0;
    this.#tool = tool;
  }

  program(): string {
    const functions = this.#below(4);
    for (let index = 0; index < functions; index += 1) this.#function();
    const statements = 5 + this.#below(15);
    for (let index = 0; index < statements; index += 1) this.#statement("", 0);
    return `${this.#lines.join("\n")}\n`;
  }

  /** A number from 0 to `end`, exclusive (mulberry32). */
  #below(end: number): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % end;
  }

  #pick<T>(choices: readonly T[]): T {
    return choices[this.#below(choices.length)]!;
  }

  #newName(prefix: string): string {
    this.#names += 1;
    return `${prefix}${this.#names}`;
  }

  #emit(indent: string, line: string): void {
    this.#lines.push(indent + line);
  }

  /** Runs `body` with a new scope. */
  #within(body: () => void): void {
    const before = this.#visible;
    this.#visible = [...before];
    body();
    this.#visible = before;
  }

  #function(): void {
    const name = this.#newName("f");
    const arity = this.#below(3);
    const type = this.#pick(types);
    this.#within(() => {
      const parameters: string[] = [];
      for (let index = 0; index < arity; index += 1) {
        const parameter = this.#newName("p");
        const kind = this.#pick(types);
        parameters.push(`${parameter}=${this.#literal(kind)}`);
        this.#visible.push({ name: parameter, type: kind });
      }
      this.#emit("", `def ${name}(${parameters.join(", ")}):`);
      const statements = 1 + this.#below(3);
      for (let index = 0; index < statements; index += 1) this.#statement("    ", 1);
      this.#emit("    ", `return ${this.#expression(type, 2)}`);
    });
    this.#functions.push({ name, arity, type });
  }

  #statement(indent: string, level: number): void {
    const inner = `${indent}    `;
    const choice = this.#below(this.#tool ? 16 : 13);
    if (level > 2 || choice < 4) {
      this.#emit(indent, `print(${this.#expression(this.#pick(types), 3)})`);
    } else if (choice < 7) {
      const type = this.#pick(types);
      const value = this.#expression(type, 3);
      const name = this.#newName("v");
      this.#emit(indent, `${name} = ${value}`);
      this.#visible.push({ name, type });
    } else if (choice === 7) {
      this.#emit(indent, `if ${this.#expression("bool", 2)}:`);
      this.#within(() => this.#statement(inner, level + 1));
      if (this.#below(2) === 0) {
        this.#emit(indent, "else:");
        this.#within(() => this.#statement(inner, level + 1));
      }
    } else if (choice === 8) {
      const name = this.#newName("i");
      this.#emit(indent, `for ${name} in range(${this.#below(5)}):`);
      this.#within(() => {
        this.#visible.push({ name, type: "int" });
        this.#statement(inner, level + 1);
        if (this.#below(4) === 0)
          this.#emit(inner, `if ${this.#expression("bool", 1)}: ${this.#pick(["break", "continue"])}`);
        this.#statement(inner, level + 1);
      });
    } else if (choice === 9) {
      const name = this.#newName("e");
      this.#emit(indent, `for ${name} in ${this.#expression(this.#pick(["list", "tuple", "dict"]), 2)}:`);
      this.#within(() => {
        this.#emit(inner, `print(${name}, type(${name}))`);
        this.#statement(inner, level + 1);
      });
    } else if (choice === 10) {
      this.#change(indent);
    } else if (choice === 11) {
      const name = this.#newName("w");
      this.#emit(indent, `${name} = ${this.#below(5)}`);
      this.#emit(indent, `while ${name} > 0:`);
      this.#emit(inner, `${name} -= 1`);
      this.#within(() => {
        this.#visible.push({ name, type: "int" });
        this.#statement(inner, level + 1);
      });
    } else if (choice === 12) {
      const [a, b] = [this.#newName("a"), this.#newName("b")];
      this.#emit(indent, `${a}, ${b} = ${this.#expression("int", 2)}, ${this.#expression("string", 2)}`);
      this.#visible.push({ name: a, type: "int" }, { name: b, type: "string" });
    } else {
      this.#toolStatement(indent, inner, level);
    }
  }

  #toolStatement(indent: string, inner: string, level: number): void {
    switch (this.#below(3)) {
      case 0:
        this.#emit(indent, "try:");
        this.#within(() => this.#statement(inner, level + 1));
        this.#emit(indent, `except ${this.#pick(["Error", "ToolError", "(Error, ToolError)"])} as e:`);
        this.#emit(inner, "print(e.message)");
        if (this.#below(2) === 0) {
          this.#emit(indent, "finally:");
          this.#within(() => this.#statement(inner, level + 1));
        }
        return;
      case 1:
        this.#emit(indent, `print(attempt(lambda: ${this.#expression(this.#pick(types), 3)}).ok)`);
        return;
      default:
        this.#emit(
          indent,
          `print(parallel_map(lambda n: ${this.#expression("int", 2)} + n, range(${this.#below(6)})))`,
        );
    }
  }

  /** Changes a list or dict, or uses an augmented assignment. */
  #change(indent: string): void {
    const targets = this.#visible.filter(({ type }) => type !== "bool" && type !== "tuple");
    if (targets.length === 0) {
      this.#emit(indent, "pass");
      return;
    }
    const { name, type } = this.#pick(targets);
    if (type === "list") {
      const element = this.#expression(this.#pick(types), 1);
      this.#emit(
        indent,
        this.#pick([
          `${name}.append(${element})`,
          `${name}.extend(${this.#expression("list", 1)})`,
          `${name}.insert(${this.#below(4)}, ${element})`,
          `print(${name}.pop() if ${name} else None)`,
          `${name} += ${this.#expression("list", 1)}`,
        ]),
      );
    } else if (type === "dict") {
      this.#emit(
        indent,
        this.#pick([
          `${name}[${this.#key()}] = ${this.#expression(this.#pick(types), 1)}`,
          `${name}.update(${this.#expression("dict", 1)})`,
          `print(${name}.pop(${this.#key()}, None))`,
          `print(${name}.setdefault(${this.#key()}, ${this.#expression("int", 1)}))`,
        ]),
      );
    } else {
      const operator = type === "string" ? "+" : this.#pick(["+", "-", "*"]);
      this.#emit(indent, `${name} ${operator}= ${this.#expression(type, 1)}`);
    }
  }

  /** An int that is rarely 0. */
  #divisor(int: string): string {
    return this.#below(20) === 0 ? int : `(${int} * 2 + 1)`;
  }

  #key(): string {
    return this.#below(3) === 0 ? String(this.#below(5)) : this.#literal("string");
  }

  #literal(type: Type): string {
    switch (type) {
      // In parentheses, because a dot or an operator may follow.
      case "int":
        return `(${this.#pick(["0", "1", "2", "-1", "7", "100", "4294967296", "9007199254740991", "-9007199254740993", "1 << 70"])})`;
      case "float":
        return `(${this.#pick(["0.0", "1.5", "-2.25", "1e10", "0.1", "1e100", "3.0"])})`;
      case "string":
        return `"${this.#pick(words)}"`;
      case "bool":
        return this.#pick(["True", "False"]);
      case "list":
        return this.#pick(["[]", "[1, 2, 3]", '["a", "b"]', "[[1], [2]]", "list(range(4))", "[3, 1, 2]"]);
      case "tuple":
        return this.#pick(["()", "(1,)", "(1, 2)", '("a", 1)', "((1, 2), 3)"]);
      case "dict":
        return this.#pick(["{}", '{"a": 1}', '{"a": 1, "b": [2]}', "{1: 2, 2: 3}", '{"key": {"k": 1}}']);
    }
  }

  #expression(asked: Type, depth: number): string {
    // Occasionally of another type than requested.
    const type = this.#below(300) === 0 ? this.#pick(types) : asked;
    const choice = this.#below(10);
    if (depth <= 0 || choice === 0) return this.#literal(type);
    if (choice < 4) {
      const known = this.#visible.filter((one) => one.type === type);
      if (known.length > 0) return this.#pick(known).name;
    }
    if (choice === 4) {
      const callable = this.#functions.filter((one) => one.type === type);
      if (callable.length > 0) {
        const { name, arity } = this.#pick(callable);
        const given = this.#below(arity + 1);
        return `${name}(${Array.from({ length: given }, () => this.#expression(this.#pick(types), depth - 1)).join(", ")})`;
      }
    }
    if (choice === 5) {
      return `(${this.#expression(type, depth - 1)} if ${this.#expression("bool", depth - 1)} else ${this.#expression(type, depth - 1)})`;
    }
    return this.#operation(type, depth - 1);
  }

  /** An expression of a type, with subexpressions. */
  #operation(type: Type, depth: number): string {
    const of = (wanted: Type): string => this.#expression(wanted, depth);
    const any = (): string => this.#expression(this.#pick(types), depth);
    switch (type) {
      case "int":
        return this.#pick<() => string>([
          () => `(${of("int")} ${this.#pick(["+", "-", "*", "&", "|", "^"])} ${of("int")})`,
          () => `(${of("int")} ${this.#pick(["//", "%"])} ${this.#divisor(of("int"))})`,
          () => `(${of("int")} ${this.#pick(["<<", ">>"])} ${this.#below(70)})`,
          () => `-${of("int")}`,
          () => `~${of("int")}`,
          () => `len(${of(this.#pick(["string", "list", "tuple", "dict"]))})`,
          () => `int(${of(this.#pick(["float", "bool"]))})`,
          () => `${of("string")}.find(${of("string")})`,
          () => `${of("string")}.count(${of("string")})`,
          () => `abs(${of("int")})`,
          () => `max(${of("int")}, ${of("int")})`,
          () => `min([${of("int")}, ${of("int")}])`,
          () => `int("${this.#below(1000)}")`,
          () => `[${of("int")}, 1].index(1)`,
        ])();
      case "float":
        return this.#pick<() => string>([
          () => `(${of("float")} ${this.#pick(["+", "-", "*"])} ${of("float")})`,
          () => `(${of("float")} ${this.#pick(["//", "%"])} ${this.#divisor(of("int"))})`,
          () => `(${of("int")} / ${this.#divisor(of("int"))})`,
          () => `float(${of("int")})`,
          () => `float("${this.#below(1000)}e-2")`,
          () => `(${of("float")} + ${of("int")})`,
        ])();
      case "string":
        return this.#pick<() => string>([
          () => `(${of("string")} + ${of("string")})`,
          () => `(${of("string")} * ${this.#below(4)})`,
          () => `str(${any()})`,
          () => `repr(${any()})`,
          () => `type(${any()})`,
          () =>
            `${of("string")}.${this.#pick(["upper", "lower", "strip", "title", "capitalize", "lstrip", "rstrip"])}()`,
          () => `${of("string")}.replace(${of("string")}, ${of("string")})`,
          () => `${of("string")}.join([${of("string")}, ${of("string")}])`,
          () => `${of("string")}[${this.#below(4)}:${this.#pick(["", "-1", "3", "10"])}]`,
          () => `${of("string")}[::${this.#pick(["2", "-1", "-2"])}]`,
          () => `("%s-%r" % (${any()}, ${any()}))`,
          () => `("%d|%x" % (${of("int")}, ${of("int")}))`,
          () => `"{} {}".format(${any()}, ${any()})`,
          () => `(${of("string")} + "xyz")[${this.#below(3)}]`,
          ...(this.#tool
            ? [(): string => `f"<{(${any().replaceAll('"', "'").replaceAll("\\t", "")})}>"`]
            : []),
        ])();
      case "bool":
        return this.#pick<() => string>([
          () => `(${of("int")} ${this.#pick(["<", "<=", ">", ">=", "==", "!="])} ${of("int")})`,
          () => `(${of("string")} ${this.#pick(["<", ">=", "==", "in", "not in"])} ${of("string")})`,
          () => `(${any()} == ${any()})`,
          () => `(not ${any()})`,
          () => `bool(${any()})`,
          () => `(${any()} in ${of("list")})`,
          () => `(${of("list")} != ${of("list")})`,
          () => `([${of("int")}, ${of("int")}] < [${of("int")}])`,
          () => `(${of("float")} < ${of("int")})`,
          () => `${of("string")}.${this.#pick(["isdigit", "isalpha", "islower", "isspace", "isalnum"])}()`,
          () => `${of("string")}.${this.#pick(["startswith", "endswith"])}(${of("string")})`,
          () => `all(${of("list")})`,
          () => `any(${of("tuple")})`,
        ])();
      case "list":
        return this.#pick<() => string>([
          () => `[${any()}, ${any()}]`,
          () => `(${of("list")} + ${of("list")})`,
          () => `(${of("list")} * ${this.#below(3)})`,
          () => `${of("list")}[${this.#pick(["1:", ":2", "::-1", ":-1", "::2"])}]`,
          () => `[${any()} for x in ${of("list")}]`,
          () => `[(x, ${of("int")}) for x in range(${this.#below(5)}) if x ${this.#pick(["%", "&", ">"])} 2]`,
          () => `sorted([${of("int")}, ${of("float")}, ${of("int")}])`,
          () => `sorted([${of("string")}, ${of("string")}])`,
          () => `reversed(${of("list")})`,
          () => `list(${of(this.#pick(["tuple", "dict"]))})`,
          () => `${of("dict")}.${this.#pick(["keys", "values", "items"])}()`,
          () => `${of("string")}.split(${this.#pick([",", " ", "a"]).replace(/.*/, '"$&"')})`,
          () => `list(enumerate(${of("list")}))`,
          () => `zip(${of("list")}, ${of("tuple")})`,
          () => `sorted(${of("list")}, key=lambda y: str(y), reverse=${of("bool")})`,
        ])();
      case "tuple":
        return this.#pick<() => string>([
          () => `(${any()}, ${any()})`,
          () => `(${of("tuple")} + ${of("tuple")})`,
          () => `tuple(${of("list")})`,
          () => `${of("string")}.partition(${of("string")} or "-")`,
          () => `${of("tuple")}[${this.#pick(["1:", "::-1", ":1"])}]`,
        ])();
      case "dict":
        return this.#pick<() => string>([
          () => `{${this.#key()}: ${any()}}`,
          () => `{str(x): x for x in ${of("list")}}`,
          () => `(${of("dict")} | ${of("dict")})`,
          () => `dict(zip([str(x) for x in ${of("tuple")}], ${of("list")}))`,
          () => `dict(${of("dict")}, k=${any()})`,
        ])();
    }
  }
}
