/**
 * Compiles the resolved syntax tree to code. Expressions become closures
 * (`Evaluator`). An expression that calls a function of the program, or that loops,
 * becomes an instruction that stores its result in a register. Operands that precede
 * it are stored in registers first, so that evaluation follows the order of the text.
 * Statements become instructions.
 *
 * The tree is at most `programLimits.treeDepth` levels deep, so the compiler
 * recurses, and so do the closures at run time. The size of the code is proportional
 * to the size of the tree and limited by `programLimits.codeSize`.
 *
 * It is one piece because statements, expressions and functions contain one another.
 */

import type { Diagnostic, Source } from "@toolcrib/diagnostics";
import type { Dialect } from "../dialect.ts";
import { programLimits } from "../program-limits.ts";
import type { Binding, Scope } from "../resolve/binding.ts";
import { leave } from "../run/call.ts";
import type {
  Argument,
  AssignStatement,
  AttributeExpression,
  BinaryExpression,
  CallExpression,
  ComparisonOperator,
  Comprehension,
  Expression,
  File,
  ForClause,
  ForStatement,
  Identifier,
  IfClause,
  IfStatement,
  LoadStatement,
  Parameter,
  Statement,
  TryStatement,
  WhileStatement,
} from "../syntax/ast.ts";
import type { MethodTables } from "../value/attributes.ts";
import { internalised } from "../value/entry-table.ts";
import type { Cell, FunctionValue } from "../value/function-value.ts";
import { StarlarkBytes, StarlarkFloat, type Value } from "../value/value.ts";
import {
  additionInstruction,
  arithmeticEvaluator,
  comparisonBranch,
  comparisonTest,
  evaluated,
  type Operand,
} from "./arithmetic.ts";
import { Assembler, type Label } from "./assembler.ts";
import { generalCall, methodCall, methodCheck, positionalCall } from "./calls.ts";
import type { Code, Evaluator, Instruction, Registers, Test } from "./code.ts";
import { CodeSize, CodeTooLargeError } from "./code-size.ts";
import * as evaluators from "./evaluators.ts";
import { Purity } from "./purity.ts";
import * as statements from "./statements.ts";

/** The context in which a file is compiled. */
export interface CompileOptions {
  readonly dialect: Dialect;
  readonly universe: ReadonlyMap<string, Value>;
  readonly methods: MethodTables;
}

/** A compiled file. */
export interface CompiledFile {
  readonly code: Code;
  /** Names of the globals, by index. */
  readonly globals: readonly string[];
  /** Names for which the host must provide values, by index. */
  readonly predeclared: readonly string[];
  /** Number of instructions, closures and captured variables. */
  readonly size: number;
}

/**
 * Compiles a file that was resolved without errors.
 *
 * @returns `value`, or an error if the code exceeds `programLimits.codeSize`.
 */
export function compileFile(
  file: File,
  options: CompileOptions,
): { readonly value: CompiledFile | undefined; readonly diagnostics: readonly Diagnostic[] } {
  const unit = new Unit(file.source, options);
  try {
    const code = new FunctionCompiler(unit, "<toplevel>", file.scope!, []).compileFile(file);
    const globals = file.globals!.map(({ name }) => name);
    const predeclared = [...unit.predeclared.keys()];
    return { value: { code, globals, predeclared, size: unit.size.units }, diagnostics: [] };
  } catch (error) {
    if (!(error instanceof CodeTooLargeError)) throw error;
    return { value: undefined, diagnostics: [codeTooLarge(file.source)] };
  }
}

function codeTooLarge(source: Source): Diagnostic {
  return {
    severity: "error",
    code: "STARLARK_TOO_LARGE",
    message: `The program is compiled to more than ${programLimits.codeSize} instructions`,
    hint: "split it into smaller programs",
    source,
    span: { start: 0, end: 0 },
  };
}

/** State that the functions of a file share. */
class Unit {
  readonly source: Source;
  readonly options: CompileOptions;
  readonly purity: Purity;
  readonly size = new CodeSize();
  readonly predeclared = new Map<string, number>();

  constructor(source: Source, options: CompileOptions) {
    this.source = source;
    this.options = options;
    this.purity = new Purity(options.universe);
  }

  predeclaredIndex(name: string): number {
    let index = this.predeclared.get(name);
    if (index === undefined) {
      index = this.predeclared.size;
      this.predeclared.set(name, index);
    }
    return index;
  }
}

/** A count of steps: it increases during compilation, and the instructions read it when they are made. */
interface Weight {
  steps: number;
}

/** A way to leave a statement before its end. */
type Exit = "return" | "break" | "continue";

/** A statement that encloses another one in the same function. */
type Enclosing = EnclosingLoop | EnclosingTry;

interface EnclosingLoop {
  readonly kind: "loop";
  /** `undefined` for a `while` loop. */
  readonly iterator: number | undefined;
  readonly start: Label;
  readonly end: Label;
  /** Iterators that are open in the body, from the outermost in. */
  readonly openIterators: readonly number[];
  /** The open iterators that a `return` closes before the next `finally` body. */
  readonly returnCloses: readonly number[];
}

/** The body, handlers and `else` of a `try` that has a `finally` body. */
interface EnclosingTry {
  readonly kind: "try";
  readonly finally: FinallyBlock;
  readonly openIterators: readonly number[];
  readonly returnCloses: readonly number[];
}

interface FinallyBlock {
  /** Whether each way into the body has its own copy of it. */
  readonly isCopied: boolean;
  /**
   * The register of the error that led to the body. If the body is not copied, also
   * of the index of the instruction that follows it.
   */
  readonly completion: number;
  /** The register of the value that is returned after the body. */
  readonly returned: number;
  /** Start of the body; if it is copied, of the copy for errors. */
  readonly start: Label;
  /** The code after the body for each exit; if the body is copied, its copy for the exit. */
  readonly exits: Map<Exit, Label>;
}

/** Index of the first register for locals. Register 0 holds the function itself. */
const firstLocal = 1;

class FunctionCompiler {
  readonly #unit: Unit;
  readonly #name: string;
  readonly #scope: Scope;
  readonly #parameters: readonly Parameter[];
  readonly #assembler: Assembler;
  readonly #iterators: number[] = [];
  /** Enclosing loops, and `try` statements that have a `finally` body, from the outermost in. */
  readonly #enclosing: Enclosing[] = [];
  /** Locals that are certain to be assigned when the code compiled next runs. */
  readonly #assigned: Set<number>;
  /** The same, without parameters, in the order in which they were added. */
  readonly #assignedOrder: number[] = [];
  #weight: Weight = { steps: 1 };
  #nextRegister: number;
  #registerCount: number;

  constructor(unit: Unit, name: string, scope: Scope, parameters: readonly Parameter[]) {
    this.#unit = unit;
    this.#assembler = new Assembler(unit.size);
    unit.size.add(scope.locals.length + scope.free.length);
    this.#name = name;
    this.#scope = scope;
    this.#parameters = parameters;
    this.#nextRegister = this.#registerCount = firstLocal + scope.locals.length;
    // Parameters are bound before the first instruction. A bare `*` has no local.
    this.#assigned = new Set(parameters.filter(({ name }) => name !== undefined).keys());
  }

  compileFile(file: File): Code {
    const weight = this.#weight;
    this.#statements(file.statements);
    this.#emitReturn(evaluators.constantEvaluator(null));
    return this.#finish(file.start, weight);
  }

  compileDef(body: readonly Statement[], start: number): Code {
    const [only] = body;
    if (body.length === 1 && only!.kind === "ReturnStatement" && only!.value !== undefined) {
      this.#weight.steps += 1;
      return this.compileLambda(only!.value, start);
    }
    const weight = this.#weight;
    this.#statements(body);
    this.#emitReturn(evaluators.constantEvaluator(null));
    return this.#finish(start, weight);
  }

  compileLambda(body: Expression, start: number): Code {
    const weight = this.#weight;
    const evaluate = this.#expression(body);
    this.#emitReturn(evaluate);
    return this.#finish(start, weight, this.#unit.purity.isPure(body) ? evaluate : undefined);
  }

  /** @param body evaluates the whole function, if it is a single expression that calls no function of the program. */
  #finish(start: number, weight: Weight, body?: Evaluator): Code {
    const { instructions, handlers } = this.#assembler.finish();
    const { locals } = this.#scope;
    const ordinary = this.#parameters.filter(isOrdinary);
    const starAt = this.#parameters.findIndex(({ kind }) => kind === "star");
    const keywordOnlyCount = starAt === -1 ? 0 : this.#parameters.slice(starAt).filter(isOrdinary).length;
    const hasVarargs = starAt !== -1 && this.#parameters[starAt]!.name !== undefined;
    const hasKwargs = this.#parameters.some(({ kind }) => kind === "doubleStar");
    const parameterCount = ordinary.length + Number(hasVarargs) + Number(hasKwargs);
    const cells = locals.flatMap(({ kind }, index) => (kind === "cell" ? [index] : []));
    const plain =
      cells.length === 0 &&
      this.#parameters.every(({ kind }) => kind === "required") &&
      parameterCount === ordinary.length;
    return {
      name: this.#name,
      source: this.#unit.source,
      start,
      instructions,
      handlers,
      registerCount: this.#registerCount,
      iteratorRegisters: [...new Set(this.#iterators)],
      weight: weight.steps,
      parameters: locals.slice(0, parameterCount).map(({ name }) => name),
      positionalCount: ordinary.length - keywordOnlyCount,
      keywordOnlyCount,
      hasVarargs,
      hasKwargs,
      plainArity: plain ? ordinary.length : -1,
      body: plain ? body : undefined,
      capturedParameters: cells.filter((index) => index < parameterCount).map((index) => index + firstLocal),
      cellRegisters: cells.filter((index) => index >= parameterCount).map((index) => index + firstLocal),
      mayRecurse: this.#unit.options.dialect.recursion === true,
    };
  }

  // Registers.

  #allocate(): number {
    const register = this.#nextRegister;
    this.#nextRegister += 1;
    this.#registerCount = Math.max(this.#registerCount, this.#nextRegister);
    return register;
  }

  #allocateIterator(): number {
    const register = this.#allocate();
    this.#iterators.push(register);
    return register;
  }

  // Statements.

  #statements(body: readonly Statement[]): void {
    for (const statement of body) {
      const mark = this.#nextRegister;
      this.#weight.steps += 1;
      this.#statement(statement);
      this.#nextRegister = mark;
    }
  }

  #statement(statement: Statement): void {
    switch (statement.kind) {
      case "ExpressionStatement":
        this.#evaluateAndDrop(statement.expression);
        return;
      case "AssignStatement":
        if (statement.operator === "=") this.#assignStatement(statement);
        else this.#augmentedAssign(statement);
        return;
      case "DefStatement": {
        const { name, parameters, body, start } = statement;
        const compiler = new FunctionCompiler(this.#unit, name.name, statement.scope!, parameters);
        const make = this.#functionEvaluator(compiler.compileDef(body, start), parameters, statement.scope!);
        this.#assign(name, make);
        return;
      }
      case "IfStatement":
        this.#if(statement);
        return;
      case "ForStatement":
        this.#for(statement);
        return;
      case "WhileStatement":
        this.#while(statement);
        return;
      case "ReturnStatement":
        this.#return(statement.value);
        return;
      case "BranchStatement":
        if (statement.word !== "pass") this.#exit(statement.word, 0);
        return;
      case "LoadStatement":
        this.#load(statement);
        return;
      case "TryStatement":
        this.#try(statement);
        return;
      default:
        statement satisfies never;
    }
  }

  #evaluateAndDrop(expression: Expression): void {
    if (expression.kind === "CallExpression" && !this.#unit.purity.isPure(expression)) {
      this.#call(expression, this.#allocate());
      return;
    }
    // A docstring or another string literal.
    if (expression.kind === "StringLiteral") return;
    const evaluate = this.#expression(expression);
    this.#assembler.emit(({ next }) => statements.evaluateInstruction(evaluate, next));
  }

  #assignStatement({ target, value }: AssignStatement): void {
    const unwrapped = withoutParens(target);
    if (unwrapped.kind === "Identifier" && unwrapped.binding?.kind === "local") {
      this.#expressionInto(value, unwrapped.binding.index + firstLocal);
      this.#markAssigned(unwrapped.binding.index);
      return;
    }
    if (this.#swap(unwrapped, withoutParens(value))) return;
    this.#assign(unwrapped, this.#expression(value));
  }

  /** Compiles `a, b = x, y` with locals as targets without a tuple. */
  #swap(target: Expression, value: Expression): boolean {
    if (target.kind !== "TupleExpression" || value.kind !== "TupleExpression") return false;
    if (target.elements.length !== 2 || value.elements.length !== 2) return false;
    const registers = this.#localRegisters(target.elements);
    if (registers === undefined || !this.#unit.purity.isPure(value)) return false;
    const [a, b] = value.elements.map((element) => this.#expression(element));
    const [i, j] = registers;
    this.#assembler.emit(({ next }) => (r, t) => {
      const x = a!(r, t);
      const y = b!(r, t);
      r[i!] = x;
      r[j!] = y;
      return next;
    });
    for (const register of registers) this.#markAssigned(register - firstLocal);
    return true;
  }

  #markAssigned(local: number): void {
    if (this.#assigned.has(local)) return;
    this.#assigned.add(local);
    this.#assignedOrder.push(local);
  }

  /**
   * Compiles code that may be skipped or left early. The locals that it assigns are
   * not certain to be assigned afterwards.
   *
   * @returns those locals.
   */
  #perhaps(compile: () => void): readonly number[] {
    const before = this.#assignedOrder.length;
    compile();
    const added = this.#assignedOrder.splice(before);
    for (const local of added) this.#assigned.delete(local);
    return added;
  }

  #localRegisters(targets: readonly Expression[]): number[] | undefined {
    const registers: number[] = [];
    for (const target of targets) {
      if (target.kind !== "Identifier" || target.binding?.kind !== "local") return undefined;
      registers.push(target.binding.index + firstLocal);
    }
    return registers;
  }

  /** Assigns the value of `value` to `target`. */
  #assign(target: Expression, value: Evaluator): void {
    const emit = (instruction: (next: number) => Instruction): void =>
      this.#assembler.emit(({ next }) => instruction(next));
    switch (target.kind) {
      case "ParenExpression":
        this.#assign(target.expression, value);
        return;
      case "Identifier":
        this.#assignName(target, value);
        return;
      case "IndexExpression": {
        // The value is evaluated first, then the object and the key.
        const parts = [target.object, target.index];
        const pure = parts.every((part) => this.#unit.purity.isPure(part));
        const first = pure ? value : this.#hold(value).evaluate;
        const [object, key] = this.#operandsOf(parts);
        emit((next) => statements.setIndexInstruction(object!, key!, first, target.bracketStart, next));
        return;
      }
      case "AttributeExpression": {
        const held = this.#hold(value).evaluate;
        const object = this.#expression(target.object);
        emit((next) => statements.setAttributeInstruction(object, target.name, held, target.dotStart, next));
        return;
      }
      case "ListExpression":
      case "TupleExpression":
        this.#unpack(target.elements, value, target.start);
        return;
      default:
        throw new Error(`cannot assign to ${target.kind}`);
    }
  }

  #assignName(target: Identifier, value: Evaluator): void {
    const { kind, index } = target.binding!;
    const register = index + firstLocal;
    this.#assembler.emit(({ next }): Instruction => {
      if (kind === "local") {
        return (r, t) => {
          r[register] = value(r, t);
          return next;
        };
      }
      if (kind === "cell") {
        return (r, t) => {
          (r[register] as Cell).value = value(r, t);
          return next;
        };
      }
      return (r, t) => {
        const result = value(r, t);
        (r[0] as FunctionValue).module.globals[index] = result;
        return next;
      };
    });
    if (kind === "local") this.#markAssigned(index);
  }

  #unpack(targets: readonly Expression[], value: Evaluator, at: number): void {
    const direct = this.#localRegisters(targets);
    const registers = direct ?? targets.map(() => this.#allocate());
    this.#assembler.emit(({ next }) => statements.unpackInstruction(value, registers, at, next));
    if (direct !== undefined) {
      for (const register of direct) this.#markAssigned(register - firstLocal);
      return;
    }
    targets.forEach((target, index) => {
      this.#assign(target, evaluators.registerEvaluator(registers[index]!));
    });
  }

  /** Evaluates now and stores the value in a register. */
  #hold(evaluate: Evaluator): Operand {
    const register = this.#allocate();
    this.#emitStore(evaluate, register);
    return inRegister(register);
  }

  /** An operand that can be read several times but is evaluated once. */
  #kept(operand: Operand): Operand {
    if (operand.register !== 0 || operand.constant !== undefined) return operand;
    return this.#hold(operand.evaluate);
  }

  #emitStore(evaluate: Evaluator, register: number): void {
    this.#assembler.emit(({ next }) => (r, t) => {
      r[register] = evaluate(r, t);
      return next;
    });
  }

  #augmentedAssign(statement: AssignStatement): void {
    const operator = statement.operator.slice(0, -1) as Exclude<
      BinaryExpression["operator"],
      ComparisonOperator
    >;
    const target = withoutParens(statement.target);
    const at = statement.operatorStart;
    const { value } = statement;
    const combine = (left: Operand, right: Operand): Evaluator =>
      statements.augmentedEvaluator(operator as never, left, right, at);
    if (target.kind === "Identifier") {
      // The old value is read first: a call on the right must not change it.
      const old = this.#unit.purity.isPure(value)
        ? this.#operand(target)
        : this.#hold(this.#expression(target));
      const right = this.#operand(value);
      const { kind, index } = target.binding!;
      if (operator === "+" && kind === "local" && typeof right.constant === "number") {
        this.#assembler.emit(({ next }) => additionInstruction(old, right, at, index + firstLocal, next));
        this.#markAssigned(index);
        return;
      }
      this.#assignName(target, combine(old, right));
      return;
    }
    if (target.kind === "IndexExpression") {
      const parts = this.#operandsOf([target.object, target.index]);
      const [object, key] = parts.map((part) => this.#kept(part));
      const current = evaluators.indexEvaluator(object!, key!, target.bracketStart);
      const old = this.#unit.purity.isPure(value) ? evaluated(current) : this.#hold(current);
      const result = combine(old, this.#operand(value));
      this.#assembler.emit(({ next }) =>
        statements.setIndexInstruction(object!, key!, result, target.bracketStart, next),
      );
      return;
    }
    const attribute = target as AttributeExpression;
    const object = this.#hold(this.#expression(attribute.object)).evaluate;
    const { name, dotStart } = attribute;
    const old = this.#hold(evaluators.attributeEvaluator(object, name, dotStart, this.#dataFirst));
    const result = combine(old, this.#operand(value));
    this.#assembler.emit(({ next }) =>
      statements.setAttributeInstruction(object, name, result, dotStart, next),
    );
  }

  get #dataFirst(): boolean {
    return this.#unit.options.dialect.dataAttributes === true;
  }

  #if({ branches, orelse }: IfStatement): void {
    const end = this.#assembler.label();
    for (const { test, body } of branches) {
      const otherwise = this.#assembler.label();
      this.#branch(test, otherwise);
      this.#perhaps(() => this.#statements(body));
      this.#assembler.jump(end);
      this.#assembler.mark(otherwise);
    }
    if (orelse !== undefined) this.#perhaps(() => this.#statements(orelse));
    this.#assembler.mark(end);
  }

  /** Continues at the next instruction if `test` is true, otherwise at `otherwise`. */
  #branch(test: Expression, otherwise: Label): void {
    const unwrapped = withoutParens(test);
    if (
      unwrapped.kind === "BinaryExpression" &&
      unwrapped.operator === "and" &&
      !this.#unit.purity.isPure(unwrapped)
    ) {
      this.#branch(unwrapped.left, otherwise);
      this.#branch(unwrapped.right, otherwise);
      return;
    }
    const mark = this.#nextRegister;
    if (isComparison(unwrapped)) {
      const { operator, operatorStart } = unwrapped;
      const [left, right] = this.#operandsOf([unwrapped.left, unwrapped.right]);
      this.#assembler.emit(({ next, target }) =>
        comparisonBranch(operator, left!, right!, operatorStart, next, target(otherwise)),
      );
      this.#nextRegister = mark;
      return;
    }
    const holds = this.#test(test);
    this.#assembler.emit(({ next, target }) => {
      const to = target(otherwise);
      return (r, t) => (holds(r, t) ? next : to);
    });
    this.#nextRegister = mark;
  }

  #for({ target, iterable, body }: ForStatement): void {
    this.#loop(target, iterable, (start, end, iterator) => {
      this.#loopBody(body, start, end, iterator);
    });
  }

  /** A loop over an iterable; `body` compiles the code for each element. */
  #loop(
    target: Expression,
    iterable: Expression,
    body: (start: Label, end: Label, iterator: number) => void,
  ): void {
    const iterator = this.#allocateIterator();
    const evaluate = this.#expression(iterable);
    const at = iterable.start;
    this.#assembler.emit(({ next }) => statements.iterateInstruction(evaluate, iterator, at, next));
    const start = this.#assembler.here();
    const end = this.#assembler.label();
    const outer = this.#weight;
    const weight: Weight = { steps: 1 };
    this.#weight = weight;
    const unwrapped = withoutParens(target);
    const local =
      unwrapped.kind === "Identifier" && unwrapped.binding!.kind === "local"
        ? unwrapped.binding!.index + firstLocal
        : undefined;
    const element = local ?? this.#allocate();
    this.#assembler.emit(({ next, target: targetOf }) =>
      statements.nextInstruction(iterator, element, weight, at, next, targetOf(end)),
    );
    this.#perhaps(() => {
      if (local === undefined) this.#assign(unwrapped, evaluators.registerEvaluator(element));
      else this.#markAssigned(local - firstLocal);
      body(start, end, iterator);
    });
    this.#assembler.jump(start);
    this.#assembler.mark(end);
    this.#weight = outer;
  }

  #while({ test, body }: WhileStatement): void {
    const start = this.#assembler.here();
    const end = this.#assembler.label();
    const outer = this.#weight;
    const weight: Weight = { steps: 1 };
    this.#weight = weight;
    const mark = this.#nextRegister;
    const holds = this.#test(test);
    this.#assembler.emit(({ next, target }) =>
      statements.whileInstruction(holds, weight, test.start, next, target(end)),
    );
    this.#nextRegister = mark;
    this.#perhaps(() => this.#loopBody(body, start, end, undefined));
    this.#assembler.jump(start);
    this.#assembler.mark(end);
    this.#weight = outer;
  }

  #loopBody(body: readonly Statement[], start: Label, end: Label, iterator: number | undefined): void {
    const { openIterators, returnCloses } = this.#innermost;
    const more = iterator === undefined ? [] : [iterator];
    this.#enclosing.push({
      kind: "loop",
      iterator,
      start,
      end,
      openIterators: [...openIterators, ...more],
      returnCloses: [...returnCloses, ...more],
    });
    this.#statements(body);
    this.#enclosing.pop();
  }

  /** The iterator lists of the innermost enclosing statement. */
  get #innermost(): Pick<Enclosing, "openIterators" | "returnCloses"> {
    return this.#enclosing.at(-1) ?? { openIterators: [], returnCloses: [] };
  }

  #return(value: Expression | undefined): void {
    const evaluate = value === undefined ? evaluators.constantEvaluator(null) : this.#expression(value);
    if (this.#enclosing.length === 0) {
      this.#emitReturn(evaluate);
      return;
    }
    const register = this.#innermostFinally?.returned ?? this.#allocate();
    this.#emitStore(evaluate, register);
    this.#exit("return", register);
  }

  get #innermostFinally(): FinallyBlock | undefined {
    return this.#enclosing.findLast((enclosing) => enclosing.kind === "try")?.finally;
  }

  /**
   * Leaves the enclosing statements, out to the target of `exit`. If a `finally` body
   * is on the way, it runs first and the exit continues after it.
   *
   * @param returned the register of the value of a `return`; that of the innermost
   *   `finally` block, if there is one.
   */
  #exit(exit: Exit, returned: number): void {
    const innermost = this.#enclosing.at(-1);
    if (exit === "return" && this.#innermost.returnCloses.length > 0) {
      this.#emitClose(this.#innermost.returnCloses);
    }
    const block =
      exit === "return" ? this.#innermostFinally : innermost?.kind === "try" ? innermost.finally : undefined;
    if (block !== undefined) {
      this.#enterFinally(block, exit);
    } else if (exit === "return") {
      this.#emitReturn(evaluators.registerEvaluator(returned));
    } else {
      if (innermost?.kind !== "loop") throw new Error(`${exit} outside a loop`);
      if (exit === "break" && innermost.iterator !== undefined) this.#emitClose([innermost.iterator]);
      this.#assembler.jump(exit === "break" ? innermost.end : innermost.start);
    }
  }

  #enterFinally({ isCopied, completion, start, exits }: FinallyBlock, exit: Exit): void {
    const label = exits.get(exit) ?? this.#assembler.label();
    exits.set(exit, label);
    if (isCopied) this.#assembler.jump(label);
    else {
      this.#assembler.emit(({ target }) =>
        statements.enterFinallyInstruction(completion, target(label), target(start)),
      );
    }
  }

  #emitClose(iterators: readonly number[]): void {
    this.#assembler.emit(({ next }) => statements.closeInstruction(iterators, next));
  }

  #emitReturn(evaluate: Evaluator): void {
    this.#assembler.emit(() => (r, t) => leave(t, evaluate(r, t)));
  }

  #load({ module, bindings, start }: LoadStatement): void {
    const loaded = this.#allocate();
    this.#assembler.emit(({ site }) => statements.loadInstruction(module.value, site(loaded, start)));
    for (const { local, remote, remoteStart } of bindings) {
      this.#assignName(local, statements.memberEvaluator(loaded, module.value, remote, remoteStart));
    }
  }

  #try({ body, handlers, orelse, finalBody }: TryStatement): void {
    if (finalBody !== undefined) {
      this.#tryFinally(() => this.#tryExcept(body, handlers, orelse), finalBody);
      return;
    }
    this.#tryExcept(body, handlers, orelse);
  }

  /**
   * Compiles a `try` that has a `finally` body. A body can be entered from the end of
   * the `try`, from an error, and from `return`, `break` and `continue`. A plain body
   * has a copy for each of these five, which is fastest at run time. A body that
   * contains a `try` or a `def` is emitted once, because copies of copies grow
   * exponentially with nesting. Each way into that body sets the completion register,
   * and the instruction after the body reads it.
   */
  #tryFinally(compileBody: () => void, finalBody: readonly Statement[]): void {
    const { openIterators } = this.#innermost;
    const assembler = this.#assembler;
    const block: FinallyBlock = {
      isCopied: isPlain(finalBody),
      completion: this.#allocate(),
      returned: this.#allocate(),
      start: assembler.label(),
      exits: new Map(),
    };
    const { isCopied, completion } = block;
    const start = assembler.here();
    this.#enclosing.push({ kind: "try", finally: block, openIterators, returnCloses: [] });
    this.#perhaps(compileBody);
    this.#enclosing.pop();
    const end = assembler.here();
    const after = assembler.label();
    if (isCopied) {
      this.#perhaps(() => this.#statements(finalBody));
      assembler.jump(after);
    } else {
      assembler.emit(({ next, target }) =>
        statements.enterFinallyInstruction(completion, target(after), next),
      );
    }
    assembler.mark(block.start);
    assembler.handle({ start, end, target: block.start, register: completion, openIterators });
    const assigned = this.#perhaps(() => this.#statements(finalBody));
    assembler.emit(() =>
      isCopied ? statements.raiseAgainInstruction(completion) : statements.endFinallyInstruction(completion),
    );
    this.#continueExits(block, finalBody);
    assembler.mark(after);
    for (const local of assigned) this.#markAssigned(local);
  }

  /** Emits the code that continues each exit after the `finally` body of `block`. */
  #continueExits({ isCopied, exits, returned }: FinallyBlock, finalBody: readonly Statement[]): void {
    for (const [exit, label] of exits) {
      this.#assembler.mark(label);
      if (isCopied) this.#perhaps(() => this.#statements(finalBody));
      const outer = this.#innermostFinally;
      if (exit === "return" && outer !== undefined) {
        this.#emitStore(evaluators.registerEvaluator(returned), outer.returned);
      }
      this.#exit(exit, returned);
    }
  }

  #tryExcept(
    body: readonly Statement[],
    handlers: TryStatement["handlers"],
    orelse: readonly Statement[] | undefined,
  ): void {
    if (handlers.length === 0) {
      this.#statements(body);
      return;
    }
    const caught = this.#allocate();
    const { openIterators } = this.#innermost;
    const start = this.#assembler.here();
    this.#perhaps(() => this.#statements(body));
    const end = this.#assembler.here();
    const after = this.#assembler.label();
    if (orelse !== undefined) this.#perhaps(() => this.#statements(orelse));
    this.#assembler.jump(after);
    const target = this.#assembler.here();
    this.#assembler.handle({ start, end, target, register: caught, openIterators });
    for (const { types, name, body: handlerBody } of handlers) {
      const otherwise = this.#assembler.label();
      const wanted = types?.map((type) => type.name);
      this.#assembler.emit(({ next, target: targetOf }) =>
        statements.matchErrorInstruction(caught, wanted, next, targetOf(otherwise)),
      );
      this.#perhaps(() => {
        if (name !== undefined) this.#assignName(name, evaluators.registerEvaluator(caught));
        this.#statements(handlerBody);
      });
      this.#assembler.jump(after);
      this.#assembler.mark(otherwise);
    }
    this.#assembler.emit(() => statements.raiseAgainInstruction(caught));
    this.#assembler.mark(after);
  }

  // Functions.

  #functionEvaluator(code: Code, parameters: readonly Parameter[], scope: Scope): Evaluator {
    const bareOrVarargs = parameters.findIndex(({ kind }) => kind === "star");
    const withDefault = parameters.flatMap((parameter, index): (Expression | undefined)[] => {
      if (parameter.kind === "optional") return [parameter.value];
      const keywordOnly = bareOrVarargs !== -1 && index > bareOrVarargs;
      return parameter.kind === "required" && keywordOnly ? [undefined] : [];
    });
    const given = this.#operands(withDefault.filter((value) => value !== undefined));
    let taken = 0;
    const defaults = withDefault.map((value) => {
      if (value === undefined) return undefined;
      taken += 1;
      return given[taken - 1];
    });
    return statements.functionEvaluator(code, defaults, scope.free.map(captureOf));
  }

  // Expressions.

  /** Evaluates `expression` into `register`. */
  #expressionInto(expression: Expression, register: number): void {
    const unwrapped = withoutParens(expression);
    if (unwrapped.kind === "CallExpression" && !this.#unit.purity.isPure(unwrapped)) {
      this.#weight.steps += 1;
      this.#call(unwrapped, register);
      return;
    }
    if (unwrapped.kind === "BinaryExpression" && unwrapped.operator === "+") {
      this.#weight.steps += 1;
      const at = unwrapped.operatorStart;
      const [left, right] = this.#operandsOf([unwrapped.left, unwrapped.right]);
      this.#assembler.emit(({ next }) => additionInstruction(left!, right!, at, register, next));
      return;
    }
    this.#emitStore(this.#expression(expression), register);
  }

  /**
   * Compiles several expressions to evaluators, which run in order. If one of them
   * needs instructions, the values of those before it are stored in registers.
   */
  #operands(expressions: readonly Expression[]): Evaluator[] {
    return this.#operandsOf(expressions).map(({ evaluate }) => evaluate);
  }

  #operandsOf(expressions: readonly Expression[]): Operand[] {
    const { purity } = this.#unit;
    const lastImpure = expressions.findLastIndex((expression) => !purity.isPure(expression));
    return expressions.map((expression, index) => {
      const operand = this.#operand(expression);
      // A local in a register keeps its value: no part of an expression assigns locals.
      if (index >= lastImpure || operand.constant !== undefined || operand.register !== 0) return operand;
      return this.#hold(operand.evaluate);
    });
  }

  #operand(expression: Expression): Operand {
    const unwrapped = withoutParens(expression);
    switch (unwrapped.kind) {
      case "CallExpression":
        if (this.#unit.purity.isPure(unwrapped)) break;
        this.#weight.steps += 1;
        return inRegister(this.#callResult(unwrapped));
      case "Comprehension":
        this.#weight.steps += 1;
        return inRegister(this.#comprehension(unwrapped));
      case "IntLiteral":
        return { evaluate: this.#expression(unwrapped), register: 0, constant: unwrapped.value };
      case "StringLiteral": {
        const constant = internalised(unwrapped.value);
        return { evaluate: this.#expression(unwrapped), register: 0, constant };
      }
      case "Identifier": {
        const evaluate = this.#expression(unwrapped);
        const { kind, index } = unwrapped.binding!;
        if (kind === "local" && this.#assigned.has(index)) return { evaluate, register: index + firstLocal };
        if (kind === "global") return { evaluate, register: 0, global: index };
        const constant = this.#universal(unwrapped.binding!);
        return constant === undefined || typeof constant === "object"
          ? evaluated(evaluate)
          : { evaluate, register: 0, constant };
      }
      default:
    }
    return evaluated(this.#expression(unwrapped));
  }

  #universal({ kind, name }: Binding): Value | undefined {
    return kind === "universal" ? this.#unit.options.universe.get(name) : undefined;
  }

  #expression(expression: Expression): Evaluator {
    this.#weight.steps += 1;
    this.#unit.size.add(1);
    switch (expression.kind) {
      case "ParenExpression":
        return this.#expression(expression.expression);
      case "Identifier":
        return this.#nameEvaluator(expression);
      case "IntLiteral":
        return evaluators.constantEvaluator(expression.value);
      case "StringLiteral":
        return evaluators.constantEvaluator(internalised(expression.value));
      case "FloatLiteral":
        return evaluators.constantEvaluator(new StarlarkFloat(expression.value));
      case "BytesLiteral":
        return evaluators.constantEvaluator(new StarlarkBytes(expression.value));
      case "FString": {
        const fields = expression.parts.filter((part) => typeof part !== "string");
        const evaluate = this.#operands(fields.map((field) => field.expression));
        let taken = 0;
        const parts = expression.parts.map((part) => {
          if (typeof part === "string") return part;
          taken += 1;
          const { conversion, spec, start } = part;
          return { evaluate: evaluate[taken - 1]!, conversion, spec, at: start };
        });
        return evaluators.fStringEvaluator(parts, expression.start);
      }
      case "ListExpression":
        return evaluators.listEvaluator(this.#operands(expression.elements), expression.start);
      case "TupleExpression":
        return evaluators.tupleEvaluator(this.#operands(expression.elements), expression.start);
      case "DictExpression": {
        const parts = this.#operandsOf(expression.entries.flatMap(({ key, value }) => [key, value]));
        const ats = expression.entries.map(({ colonStart }) => colonStart);
        return evaluators.dictEvaluator(parts, ats, expression.start);
      }
      case "Comprehension":
        return evaluators.registerEvaluator(this.#comprehension(expression));
      case "UnaryExpression":
        if (expression.operator === "not") return this.#test(expression);
        return evaluators.unaryEvaluator(
          expression.operator,
          this.#expression(expression.operand),
          expression.start,
        );
      case "BinaryExpression":
        return this.#binary(expression);
      case "ConditionalExpression": {
        if (!this.#unit.purity.isPure(expression)) return this.#impureConditional(expression);
        const holds = this.#test(expression.test);
        const body = this.#expression(expression.body);
        const orelse = this.#expression(expression.orelse);
        return (r, t) => (holds(r, t) ? body(r, t) : orelse(r, t));
      }
      case "LambdaExpression": {
        const { parameters, body, start } = expression;
        const compiler = new FunctionCompiler(this.#unit, "lambda", expression.scope!, parameters);
        return this.#functionEvaluator(compiler.compileLambda(body, start), parameters, expression.scope!);
      }
      case "CallExpression": {
        const inline = this.#unit.purity.inlineBuiltin(expression);
        if (inline !== undefined) {
          const args = this.#operands(expression.args.map(({ value }) => value));
          return evaluators.builtinCallEvaluator(inline, args, expression.parenStart);
        }
        return evaluators.registerEvaluator(this.#callResult(expression));
      }
      case "AttributeExpression":
        return evaluators.attributeEvaluator(
          this.#expression(expression.object),
          expression.name,
          expression.dotStart,
          this.#dataFirst,
        );
      case "IndexExpression": {
        const [object, key] = this.#operandsOf([expression.object, expression.index]);
        return evaluators.indexEvaluator(object!, key!, expression.bracketStart);
      }
      case "SliceExpression": {
        const { object, low, high, step } = expression;
        const given = this.#operands([object, low, high, step].filter((part) => part !== undefined));
        const absent = evaluators.constantEvaluator(null);
        let taken = 0;
        const part = (of: Expression | undefined): Evaluator => {
          if (of === undefined) return absent;
          taken += 1;
          return given[taken - 1]!;
        };
        return evaluators.sliceEvaluator(
          part(object),
          part(low),
          part(high),
          part(step),
          expression.bracketStart,
        );
      }
      default:
        return expression satisfies never;
    }
  }

  #nameEvaluator({ name, start, binding }: Identifier): Evaluator {
    const { kind, index } = binding!;
    const register = index + firstLocal;
    switch (kind) {
      case "local":
        return this.#assigned.has(index)
          ? evaluators.registerEvaluator(register)
          : evaluators.localEvaluator(register, name, start);
      case "cell":
        return evaluators.cellEvaluator(register, name, start);
      case "free":
        return evaluators.freeEvaluator(index, name, start);
      case "global":
        return evaluators.globalEvaluator(index, name, start);
      case "predeclared":
        return evaluators.predeclaredEvaluator(this.#unit.predeclaredIndex(name));
      default:
        return evaluators.constantEvaluator(this.#universal(binding!)!);
    }
  }

  #binary(expression: BinaryExpression): Evaluator {
    const { operator, operatorStart: at } = expression;
    switch (operator) {
      case "and":
      case "or":
        return this.#logical(expression);
      case "==":
      case "!=":
      case "<":
      case ">":
      case "<=":
      case ">=":
      case "in":
      case "not in":
        return this.#test(expression);
      default: {
        const [left, right] = this.#operandsOf([expression.left, expression.right]);
        return arithmeticEvaluator(operator, left!, right!, at);
      }
    }
  }

  #logical(expression: BinaryExpression): Evaluator {
    const { left, right, operator } = expression;
    if (this.#unit.purity.isPure(expression)) {
      const [a, b] = [this.#expression(left), this.#expression(right)];
      return operator === "and" ? statements.andEvaluator(a, b) : statements.orEvaluator(a, b);
    }
    const register = this.#allocate();
    const end = this.#assembler.label();
    this.#expressionInto(left, register);
    const holds = evaluators.truthTest(evaluators.registerEvaluator(register));
    this.#assembler.emit(({ next, target }) => {
      const to = target(end);
      return operator === "and" ? (r, t) => (holds(r, t) ? next : to) : (r, t) => (holds(r, t) ? to : next);
    });
    this.#expressionInto(right, register);
    this.#assembler.mark(end);
    return evaluators.registerEvaluator(register);
  }

  #impureConditional({
    test,
    body,
    orelse,
  }: Extract<Expression, { kind: "ConditionalExpression" }>): Evaluator {
    const register = this.#allocate();
    const otherwise = this.#assembler.label();
    const end = this.#assembler.label();
    this.#branch(test, otherwise);
    this.#expressionInto(body, register);
    this.#assembler.jump(end);
    this.#assembler.mark(otherwise);
    this.#expressionInto(orelse, register);
    this.#assembler.mark(end);
    return evaluators.registerEvaluator(register);
  }

  /** Compiles an expression that is only tested for truth. */
  #test(expression: Expression): Test {
    const unwrapped = withoutParens(expression);
    if (unwrapped.kind === "UnaryExpression" && unwrapped.operator === "not") {
      const holds = this.#test(unwrapped.operand);
      return (r, t) => !holds(r, t);
    }
    if (isComparison(unwrapped)) {
      const [left, right] = this.#operandsOf([unwrapped.left, unwrapped.right]);
      return comparisonTest(unwrapped.operator, left!, right!, unwrapped.operatorStart);
    }
    if (unwrapped.kind === "BinaryExpression" && this.#unit.purity.isPure(unwrapped)) {
      const { operator } = unwrapped;
      if (operator === "and" || operator === "or") {
        const [a, b] = [this.#test(unwrapped.left), this.#test(unwrapped.right)];
        return operator === "and" ? (r, t) => a(r, t) && b(r, t) : (r, t) => a(r, t) || b(r, t);
      }
    }
    return evaluators.truthTest(this.#expression(unwrapped));
  }

  /**
   * Compiles a comprehension.
   *
   * @returns the register of its result.
   */
  #comprehension({ body, clauses, start }: Comprehension): number {
    const result = this.#allocate();
    const dict = body.kind === "DictEntry";
    this.#assembler.emit(({ next }) => statements.newContainerInstruction(result, dict, start, next));
    this.#clauses(clauses, 0, undefined, (again) => {
      if (body.kind === "DictEntry") {
        const [key, value] = this.#operands([body.key, body.value]);
        this.#assembler.emit(({ target }) =>
          statements.addEntryInstruction(result, key!, value!, body.colonStart, target(again)),
        );
      } else {
        const element = this.#expression(body);
        this.#assembler.emit(({ target }) =>
          statements.appendInstruction(result, element, start, target(again)),
        );
      }
    });
    return result;
  }

  /** Compiles clauses from `index` on; `again` is the next iteration of the innermost loop. */
  #clauses(
    clauses: readonly (ForClause | IfClause)[],
    index: number,
    again: Label | undefined,
    body: (again: Label) => void,
  ): void {
    const clause = clauses[index];
    if (clause === undefined) {
      body(again!);
    } else if (clause.kind === "IfClause") {
      this.#branch(clause.test, again!);
      this.#clauses(clauses, index + 1, again, body);
    } else {
      this.#loop(clause.target, clause.iterable, (start) => this.#clauses(clauses, index + 1, start, body));
    }
  }

  /**
   * Compiles a call.
   *
   * @returns the register of its result.
   */
  #callResult(call: CallExpression): number {
    const register = this.#allocate();
    this.#call(call, register);
    return register;
  }

  #call(call: CallExpression, destination: number): void {
    const { callee, args, parenStart } = call;
    const purely = args.every(({ kind }) => kind === "positional");
    const method = withoutParens(callee);
    if (purely && method.kind === "AttributeExpression") {
      const [object, ...values] = this.#methodOperands(
        method,
        args.map(({ value }) => value),
      );
      const { methods } = this.#unit.options;
      this.#assembler.emit(({ site }) =>
        methodCall(object!, method.name, values, methods, method.dotStart, site(destination, parenStart)),
      );
      return;
    }
    // In a call, `x.name` is a method and never a key of a dict.
    const [target, ...values] = this.#operandsWithCallee(callee, args);
    if (purely) {
      this.#assembler.emit(({ site }) => positionalCall(target!, values, site(destination, parenStart)));
      return;
    }
    const pick = (kind: Argument["kind"]): Evaluator[] =>
      values.filter((_, index) => args[index]!.kind === kind).map(({ evaluate }) => evaluate);
    const parts = {
      callee: target!.evaluate,
      positional: pick("positional"),
      names: args.flatMap(({ kind, name }) => (kind === "named" ? [name!.name] : [])),
      named: pick("named"),
      star: pick("star")[0],
      doubleStar: pick("doubleStar")[0],
    };
    this.#assembler.emit(({ site }) => generalCall(parts, site(destination, parenStart)));
  }

  /** The receiver and arguments of a method call. A missing method is an error before the arguments are evaluated. */
  #methodOperands(method: AttributeExpression, args: readonly Expression[]): Operand[] {
    if (args.every((arg) => this.#unit.purity.isPure(arg))) return this.#operandsOf([method.object, ...args]);
    const object = this.#kept(this.#operand(method.object));
    this.#assembler.emit(({ next }) => methodCheck(object, method.name, method.dotStart, next));
    return [object, ...this.#operandsOf(args)];
  }

  #operandsWithCallee(callee: Expression, args: readonly Argument[]): Operand[] {
    const method = withoutParens(callee);
    if (method.kind !== "AttributeExpression") {
      return this.#operandsOf([callee, ...args.map(({ value }) => value)]);
    }
    const impure = args.some(({ value }) => !this.#unit.purity.isPure(value));
    const object = this.#expression(method.object);
    const bound = evaluators.attributeEvaluator(object, method.name, method.dotStart, false);
    const held = impure ? this.#hold(bound) : evaluated(bound);
    return [held, ...this.#operandsOf(args.map(({ value }) => value))];
  }
}

/** A comparison or a membership test. */
interface Comparison extends BinaryExpression {
  readonly operator: ComparisonOperator | "in" | "not in";
}

const comparisonOperators: ReadonlySet<string> = new Set(["==", "!=", "<", ">", "<=", ">=", "in", "not in"]);

function isOrdinary({ kind }: Parameter): boolean {
  return kind === "required" || kind === "optional";
}

function isComparison(expression: Expression): expression is Comparison {
  return expression.kind === "BinaryExpression" && comparisonOperators.has(expression.operator);
}

/** Whether `body` contains no `try` and no `def`. */
function isPlain(body: readonly Statement[]): boolean {
  return body.every((statement) => {
    switch (statement.kind) {
      case "TryStatement":
      case "DefStatement":
        return false;
      case "IfStatement":
        return statement.branches.every((branch) => isPlain(branch.body)) && isPlain(statement.orelse ?? []);
      case "ForStatement":
      case "WhileStatement":
        return isPlain(statement.body);
      default:
        return true;
    }
  });
}

/** An operand that is in `register`. */
function inRegister(register: number): Operand {
  return { evaluate: evaluators.registerEvaluator(register), register };
}

/** Returns a function that captures a variable of the enclosing function. */
function captureOf({ kind, index }: Binding): (r: Registers) => Cell {
  if (kind === "free") return (r) => (r[0] as FunctionValue).free[index]!;
  const register = index + firstLocal;
  return (r) => r[register] as Cell;
}

function withoutParens(expression: Expression): Expression {
  let inner = expression;
  while (inner.kind === "ParenExpression") inner = inner.expression;
  return inner;
}
