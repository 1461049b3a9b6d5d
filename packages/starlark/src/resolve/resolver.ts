/**
 * Resolves names to bindings, and checks what can be checked without running the
 * program.
 *
 * A name is local to a function that binds it anywhere in its body. Otherwise it
 * refers to the innermost enclosing function that binds it, to the file (names bound
 * by `load`), to the module (globals), or to the environment (predeclared, then
 * universal names). Functions can use names that are bound later in the file. Each
 * comprehension is a block with variables of its own, which are locals of the
 * enclosing function.
 *
 * One walk over the tree collects the uses of names. Uses of a function's own locals
 * are resolved at the end of the function, and all others at the end of the file,
 * when every binding is known. Where the dialect allows globals to be reassigned,
 * uses outside functions are resolved immediately, because a definition precedes its
 * uses there, except in loops.
 *
 * All errors are collected. The resolver evaluates nothing, and writes only
 * `binding`, `scope` and `globals` of the tree.
 *
 * It is one piece because it is one walk over the tree with a case for each kind of
 * node.
 */

import { type Diagnostic, positionAt } from "@toolcrib/diagnostics";
import type { Dialect } from "../dialect.ts";
import { programLimits } from "../program-limits.ts";
import type {
  CallExpression,
  Comprehension,
  DictEntry,
  Expression,
  File,
  Identifier,
  LoadStatement,
  Parameter,
  Statement,
} from "../syntax/ast.ts";
import { foreignMethodHint, foreignNameHint } from "../syntax/foreign-names.ts";
import { ProblemList } from "../syntax/problem-list.ts";
import type { Binding, Scope } from "./binding.ts";
import { nearestSpelling } from "./spelling.ts";

/** Maximum number of locals, and of globals, that are considered as suggestions for a misspelled name. */
const maxSuggested = 1000;
/** Cells of the comparisons of all suggestions for a file, about 20 ms. */
const suggestionCells = 4_000_000;

/** The environment in which a file is resolved. */
export interface ResolveOptions {
  readonly dialect: Dialect;
  /** Whether the host defines the name for this program. */
  readonly isPredeclared: (name: string) => boolean;
  /** Whether every program has the name, such as `len`. */
  readonly isUniversal: (name: string) => boolean;
  /** Predeclared names, for suggestions. @default none */
  readonly predeclaredNames?: Iterable<string>;
  /** Universal names, for suggestions. @default none */
  readonly universalNames?: Iterable<string>;
  /**
   * Globals of earlier texts at a prompt: they keep their indices, are in scope, and
   * can be bound again. @default none
   */
  readonly globals?: readonly string[];
}

/**
 * Resolves the names of `file`: sets `binding` of its identifiers, `scope` of the file
 * and of its functions, and `globals`.
 *
 * @returns all errors and warnings, ordered by position. A file with errors must not
 *   be run.
 */
export function resolveFile(file: File, options: ResolveOptions): readonly Diagnostic[] {
  return new Resolver(file, options).resolve();
}

/** A scope that is being filled. */
interface MutableScope extends Scope {
  readonly locals: Binding[];
  readonly free: Binding[];
}

/** A block of names: the file, a function, or a comprehension. */
interface Block {
  readonly parent: Block | undefined;
  /** The variables of the function or file. A comprehension shares those of its function. */
  readonly scope: MutableScope;
  readonly isFunction: boolean;
  readonly bindings: Map<string, Binding>;
  /** Undefined names that have been reported. */
  missing: Set<string> | undefined;
  readonly children: Block[];
  /** Uses of names in a function or file, in order, each with its block. */
  uses: Use[];
}

interface Use {
  readonly identifier: Identifier;
  readonly block: Block;
}

/** Enclosing statements within the same function. */
interface EnclosingStatements {
  loops: number;
  conditionals: number;
}

class Resolver {
  readonly #file: File;
  readonly #options: ResolveOptions;
  readonly #dialect: Dialect;
  readonly #problems: ProblemList;
  /** The work of all suggestions together. */
  readonly #comparisons = { left: suggestionCells };
  readonly #root: Block;
  #block: Block;
  /** The function or file that is being visited. */
  #container: Block;
  readonly #globals: Binding[] = [];
  #captureCount = 0;
  readonly #globalsByName = new Map<string, Binding>();
  /** Offset of the first binding of each global in this file. */
  readonly #globalStarts = new Map<string, number>();
  readonly #environment = new Map<string, Binding>();
  #enclosing: EnclosingStatements = { loops: 0, conditionals: 0 };

  constructor(file: File, options: ResolveOptions) {
    this.#file = file;
    this.#options = options;
    this.#dialect = options.dialect;
    this.#problems = new ProblemList(file.source, { limit: programLimits.nameErrors });
    const scope: MutableScope = { locals: [], free: [] };
    this.#root = createBlock(undefined, scope, false);
    this.#block = this.#root;
    this.#container = this.#root;
    for (const name of options.globals ?? []) this.#addGlobal(name, -1);
  }

  resolve(): readonly Diagnostic[] {
    this.#statements(this.#file.statements);
    resolveLocalUses(this.#root);
    this.#resolveOuterUses(this.#root);
    this.#file.scope = this.#root.scope;
    this.#file.globals = this.#globals;
    return this.#problems.sorted();
  }

  #error(code: string, start: number, end: number, message: string, hint?: string): void {
    this.#problems.add({ code, start, end, message, hint });
  }

  // Blocks and bindings.

  #push(block: Block): void {
    this.#block.children.push(block);
    this.#block = block;
  }

  #addGlobal(name: string, firstStart: number): Binding {
    const binding: Binding = { kind: "global", name, index: this.#globals.length, firstStart };
    this.#globals.push(binding);
    this.#globalsByName.set(name, binding);
    return binding;
  }

  /** Binds a name: a global outside functions, a local inside. */
  #bind(identifier: Identifier): boolean {
    return this.#block === this.#root ? this.#bindGlobal(identifier) : this.#bindLocal(identifier);
  }

  #bindGlobal(identifier: Identifier): boolean {
    const { name, start, end } = identifier;
    let binding = this.#root.bindings.get(name);
    let firstStart = binding?.firstStart;
    if (binding === undefined) {
      binding = this.#globalsByName.get(name) ?? this.#addGlobal(name, start);
      firstStart = this.#globalStarts.get(name);
      if (firstStart === undefined) this.#globalStarts.set(name, start);
    }
    identifier.binding = binding;
    if (firstStart === undefined) return false;
    if (this.#dialect.globalReassign !== true && !this.#problems.isFull) {
      const { name: file, text } = this.#file.source;
      const { lineNumber, columnNumber } = positionAt(text, firstStart);
      const place = `${file}:${lineNumber}:${columnNumber}`;
      const scope = binding.kind === "global" ? "global" : "local";
      const message = `cannot reassign ${scope} ${name} declared at ${place}`;
      this.#error(
        "STARLARK_REASSIGNED",
        start,
        end,
        message,
        `choose another name, or put the code into a function`,
      );
    }
    return true;
  }

  #bindLocal(identifier: Identifier): boolean {
    const { name, start } = identifier;
    const { bindings, scope } = this.#block;
    const isBound = bindings.has(name);
    if (!isBound) {
      const binding: Binding = { kind: "local", name, index: scope.locals.length, firstStart: start };
      bindings.set(name, binding);
      scope.locals.push(binding);
    }
    this.#use(identifier);
    return isBound;
  }

  #use(identifier: Identifier): void {
    const use: Use = { identifier, block: this.#block };
    if (
      this.#dialect.globalReassign === true &&
      this.#block === this.#root &&
      !this.#mayComeLater(identifier)
    ) {
      identifier.binding = this.#resolveTopLevel(use);
    } else this.#container.uses.push(use);
  }

  /** Whether the name may be bound later in a loop outside functions, in an earlier iteration. */
  #mayComeLater({ name }: Identifier): boolean {
    return (
      this.#enclosing.loops > 0 &&
      !this.#root.bindings.has(name) &&
      !this.#globalsByName.has(name) &&
      !this.#options.isPredeclared(name) &&
      !this.#options.isUniversal(name)
    );
  }

  // Uses.

  /** Resolves a name that no enclosing function binds. */
  #resolveTopLevel(use: Use): Binding | undefined {
    const { name, start, end } = use.identifier;
    const known =
      this.#root.bindings.get(name) ?? this.#globalsByName.get(name) ?? this.#environment.get(name);
    if (known !== undefined) return known;
    const isPredeclared = this.#options.isPredeclared(name);
    if (!isPredeclared && !this.#options.isUniversal(name)) {
      this.#undefined(use);
      return undefined;
    }
    if (!isPredeclared && name === "set" && this.#dialect.set !== true) {
      const hint = "use a dict with the elements as keys";
      this.#error("STARLARK_NOT_IN_DIALECT", start, end, "this Starlark dialect does not support sets", hint);
    }
    const binding: Binding = {
      kind: isPredeclared ? "predeclared" : "universal",
      name,
      index: -1,
      firstStart: -1,
    };
    this.#environment.set(name, binding);
    return binding;
  }

  #undefined(use: Use): void {
    if (this.#problems.isFull) return;
    const { name, start, end } = use.identifier;
    const foreign = foreignNameHint(name);
    if (foreign !== undefined) {
      this.#error("STARLARK_PYTHON_HABIT", start, end, `undefined: ${name}`, foreign);
      return;
    }
    const meant = nearestSpelling(name, this.#visibleNames(use.block), this.#comparisons);
    const message =
      meant === undefined ? `undefined: ${name}` : `undefined: ${name} (did you mean ${meant}?)`;
    const hint = meant === undefined ? undefined : `write ${meant}`;
    this.#error("STARLARK_UNDEFINED_NAME", start, end, message, hint);
  }

  /** Names to suggest, from the innermost block out, limited so that the comparison takes little time. */
  *#visibleNames(from: Block): Iterable<string> {
    let left = maxSuggested;
    for (let block: Block | undefined = from; block !== undefined && left > 0; block = block.parent) {
      for (const { name, index } of block.bindings.values()) {
        if (left === 0) break;
        left -= 1;
        if (index >= 0) yield name;
      }
    }
    for (const { name } of this.#globals.slice(0, maxSuggested)) yield name;
    yield* this.#options.predeclaredNames ?? [];
    for (const name of this.#options.universalNames ?? []) {
      if (name !== "set" || this.#dialect.set === true) yield name;
    }
  }

  /** Resolves inner functions first, so that their captures become known to the outer ones. */
  #resolveOuterUses(block: Block): void {
    for (const child of block.children) this.#resolveOuterUses(child);
    for (const use of block.uses) use.identifier.binding = this.#resolveLexically(use, use.block);
  }

  #resolveLexically(use: Use, block: Block): Binding | undefined {
    if (block === this.#root) return this.#resolveTopLevel(use);
    const { name } = use.identifier;
    const known = block.bindings.get(name);
    if (known !== undefined) return known;
    if (block.missing?.has(name)) return undefined;
    let binding = this.#resolveLexically(use, block.parent!);
    if (binding !== undefined && block.isFunction && isVariable(binding)) {
      // The variable outlives the frame of its function, and this function keeps a reference to it.
      if (binding.kind === "local") binding.kind = "cell";
      this.#captureCount += 1;
      if (this.#captureCount > programLimits.captures) return this.#tooManyCaptures(use);
      const { free } = block.scope;
      free.push(binding);
      binding = { kind: "free", name, index: free.length - 1, firstStart: binding.firstStart };
    }
    if (binding !== undefined) block.bindings.set(name, binding);
    else {
      block.missing ??= new Set();
      block.missing.add(name);
    }
    return binding;
  }

  #tooManyCaptures({ identifier: { start, end } }: Use): undefined {
    const message = `The functions of the program capture more than ${programLimits.captures} variables`;
    this.#error(
      "STARLARK_TOO_LARGE",
      start,
      end,
      message,
      "pass values as arguments, or nest functions less",
    );
    this.#problems.stop();
    return undefined;
  }

  // Statements.

  #statements(statements: readonly Statement[]): void {
    for (const statement of statements) this.#statement(statement);
  }

  #statement(statement: Statement): void {
    switch (statement.kind) {
      case "ExpressionStatement":
        this.#expression(statement.expression);
        break;
      case "AssignStatement":
        this.#expression(statement.value);
        this.#assign(statement.target, statement.operator !== "=");
        break;
      case "IfStatement":
        this.#control(statement.start, 2, "if statement");
        for (const branch of statement.branches) {
          this.#expression(branch.test);
          this.#conditional(branch.body);
        }
        if (statement.orelse !== undefined) this.#conditional(statement.orelse);
        break;
      case "ForStatement":
        this.#control(statement.start, 3, "for loop");
        this.#expression(statement.iterable);
        this.#assign(statement.target, false);
        this.#loop(statement.body);
        break;
      case "WhileStatement":
        if (this.#dialect.while !== true) {
          const message = "this Starlark dialect does not support while loops";
          const hint = "loop over a range: for _ in range(1000): with a break";
          this.#error("STARLARK_NOT_IN_DIALECT", statement.start, statement.start + 5, message, hint);
        }
        this.#control(statement.start, 5, "while loop");
        this.#expression(statement.test);
        this.#loop(statement.body);
        break;
      case "ReturnStatement":
        if (!this.#container.isFunction && this.#dialect.topLevelReturn !== true) {
          const message = "return statement not within a function";
          this.#error(
            "STARLARK_MISPLACED",
            statement.start,
            statement.start + 6,
            message,
            "put the code into a def",
          );
        }
        if (statement.value !== undefined) this.#expression(statement.value);
        break;
      case "BranchStatement":
        if (statement.word !== "pass" && this.#enclosing.loops === 0) {
          const message = `${statement.word} not in a loop`;
          const hint = this.#container.isFunction ? "return leaves a function" : undefined;
          this.#error("STARLARK_MISPLACED", statement.start, statement.end, message, hint);
        }
        break;
      case "DefStatement":
        this.#bind(statement.name);
        statement.scope = this.#function(statement.parameters, statement.body, undefined);
        break;
      case "LoadStatement":
        this.#load(statement);
        break;
      case "TryStatement":
        this.#control(statement.start, 3, "try statement");
        this.#conditional(statement.body);
        for (const handler of statement.handlers) {
          if (handler.name !== undefined) this.#bind(handler.name);
          this.#conditional(handler.body);
        }
        if (statement.orelse !== undefined) this.#conditional(statement.orelse);
        if (statement.finalBody !== undefined) this.#conditional(statement.finalBody);
        break;
    }
  }

  /** Reports a statement that this dialect does not allow outside functions. */
  #control(start: number, length: number, what: string): void {
    if (this.#container.isFunction || this.#dialect.topLevelControl === true) return;
    const hint = "put the code into a def and call it";
    this.#error("STARLARK_MISPLACED", start, start + length, `${what} not within a function`, hint);
  }

  #conditional(body: readonly Statement[]): void {
    this.#enclosing.conditionals += 1;
    this.#statements(body);
    this.#enclosing.conditionals -= 1;
  }

  #loop(body: readonly Statement[]): void {
    this.#enclosing.loops += 1;
    this.#statements(body);
    this.#enclosing.loops -= 1;
  }

  #load({ start, bindings }: LoadStatement): void {
    const { loops, conditionals } = this.#enclosing;
    const place = this.#container.isFunction
      ? "a function"
      : loops > 0
        ? "a loop"
        : conditionals > 0
          ? "a conditional"
          : undefined;
    if (place !== undefined) {
      const hint = "load at the top of the file";
      this.#error("STARLARK_MISPLACED", start, start + 4, `load statement within ${place}`, hint);
    }
    for (const { local, remote, remoteStart } of bindings) {
      const remoteEnd = remoteStart + remote.length;
      if (remote === "") {
        this.#error(
          "STARLARK_BAD_LOAD",
          remoteStart,
          remoteEnd,
          "load: empty identifier",
          "add a name to load",
        );
        continue;
      }
      if (remote.startsWith("_")) {
        const message = `load: names with leading underscores are not exported: ${remote}`;
        this.#error("STARLARK_BAD_LOAD", remoteStart, remoteEnd, message);
      }
      if (this.#dialect.loadBindsGlobally === true) this.#bind(local);
      else if (this.#bindLocal(local) && this.#dialect.globalReassign !== true) {
        const message = `cannot reassign top-level ${local.name}`;
        const hint = `load it by another name: other="${remote}"`;
        this.#error("STARLARK_REASSIGNED", local.start, local.end, message, hint);
      }
    }
  }

  /** Binds the target of an assignment, a loop or a comprehension. */
  #assign(target: Expression, isAugmented: boolean): void {
    switch (target.kind) {
      case "Identifier":
        this.#bind(target);
        break;
      case "IndexExpression":
        this.#expression(target.object);
        this.#expression(target.index);
        break;
      case "AttributeExpression":
        this.#expression(target.object);
        break;
      case "TupleExpression":
      case "ListExpression":
        if (isAugmented) {
          const what = target.kind === "ListExpression" ? "list" : "tuple";
          const message = `can't use ${what} expression in augmented assignment`;
          this.#error(
            "STARLARK_BAD_TARGET",
            target.start,
            target.end,
            message,
            "assign to one name at a time",
          );
        }
        for (const element of target.elements) this.#assign(element, isAugmented);
        break;
      case "ParenExpression":
        this.#assign(target.expression, isAugmented);
        break;
      default: {
        const hint =
          target.kind === "LambdaExpression"
            ? "a lambda holds one expression; write a def"
            : "assign to a name, an element x[i], a field x.f, or a list of those; == compares";
        const message = `can't assign to ${targetNames[target.kind]}`;
        this.#error("STARLARK_BAD_TARGET", target.start, target.end, message, hint);
      }
    }
  }

  // Expressions.

  #expressions(expressions: readonly Expression[]): void {
    for (const expression of expressions) this.#expression(expression);
  }

  #expression(expression: Expression): void {
    switch (expression.kind) {
      case "Identifier":
        this.#use(expression);
        break;
      case "IntLiteral":
      case "FloatLiteral":
      case "StringLiteral":
      case "BytesLiteral":
        break;
      case "FString":
        for (const part of expression.parts) if (typeof part !== "string") this.#expression(part.expression);
        break;
      case "ListExpression":
      case "TupleExpression":
        this.#expressions(expression.elements);
        break;
      case "DictExpression":
        for (const entry of expression.entries) this.#entry(entry);
        break;
      case "Comprehension":
        this.#comprehension(expression);
        break;
      case "UnaryExpression":
        this.#expression(expression.operand);
        break;
      case "BinaryExpression":
        this.#expression(expression.left);
        this.#expression(expression.right);
        break;
      case "ConditionalExpression":
        this.#expression(expression.test);
        this.#expression(expression.body);
        this.#expression(expression.orelse);
        break;
      case "LambdaExpression":
        expression.scope = this.#function(expression.parameters, undefined, expression.body);
        break;
      case "CallExpression":
        this.#call(expression);
        break;
      case "AttributeExpression":
        this.#expression(expression.object);
        break;
      case "IndexExpression":
        this.#expression(expression.object);
        this.#expression(expression.index);
        break;
      case "SliceExpression":
        this.#expression(expression.object);
        if (expression.low !== undefined) this.#expression(expression.low);
        if (expression.high !== undefined) this.#expression(expression.high);
        if (expression.step !== undefined) this.#expression(expression.step);
        break;
      case "ParenExpression":
        this.#expression(expression.expression);
        break;
    }
  }

  #entry({ key, value }: DictEntry): void {
    this.#expression(key);
    this.#expression(value);
  }

  #comprehension({ clauses, body }: Comprehension): void {
    const [first, ...rest] = clauses;
    if (first?.kind !== "ForClause") return;
    // The iterable of the first clause is resolved outside the comprehension, as in [x for x in x].
    this.#expression(first.iterable);
    const outer = this.#block;
    this.#push(createBlock(outer, outer.scope, false));
    this.#assign(first.target, false);
    for (const clause of rest) {
      if (clause.kind === "IfClause") this.#expression(clause.test);
      else {
        this.#assign(clause.target, false);
        this.#expression(clause.iterable);
      }
    }
    if (body.kind === "DictEntry") this.#entry(body);
    else this.#expression(body);
    this.#block = outer;
  }

  #call({ callee, args, start, end }: CallExpression): void {
    this.#expression(callee);
    if (callee.kind === "AttributeExpression") this.#warnOfMethod(callee.name, callee.nameStart);
    let positionalCount = 0;
    let namedCount = 0;
    let hasStar = false;
    let hasDoubleStar = false;
    let names: Set<string> | undefined;
    for (const argument of args) {
      const { value, name, start: at, end: atEnd } = argument;
      let message: string | undefined;
      switch (argument.kind) {
        case "doubleStar":
          if (hasDoubleStar) message = "multiple **kwargs not allowed";
          hasDoubleStar = true;
          break;
        case "star":
          if (hasDoubleStar) message = "*args may not follow **kwargs";
          else if (hasStar) message = "multiple *args not allowed";
          hasStar = true;
          break;
        case "named":
          namedCount += 1;
          if (hasDoubleStar) message = "keyword argument may not follow **kwargs";
          else if (hasStar) message = "keyword argument may not follow *args";
          names ??= new Set();
          if (names.has(name!.name)) {
            const repeated = `keyword argument "${name!.name}" is repeated`;
            this.#error("STARLARK_BAD_ARGUMENTS", name!.start, name!.end, repeated, "remove one of them");
          }
          names.add(name!.name);
          break;
        default:
          positionalCount += 1;
          if (hasStar) message = "positional argument may not follow *args";
          else if (hasDoubleStar) message = "positional argument may not follow **kwargs";
          else if (names !== undefined) message = "positional argument may not follow named";
      }
      if (message !== undefined) {
        const hint = "the order is positional, named, *args, **kwargs";
        this.#error("STARLARK_BAD_ARGUMENTS", at, atEnd, message, hint);
      }
      this.#expression(value);
    }
    if (positionalCount > programLimits.callArguments) {
      const message = `${positionalCount} positional arguments in call, limit is ${programLimits.callArguments}`;
      this.#error("STARLARK_BAD_ARGUMENTS", start, end, message, "pass a list");
    }
    if (namedCount > programLimits.callArguments) {
      const message = `${namedCount} keyword arguments in call, limit is ${programLimits.callArguments}`;
      this.#error("STARLARK_BAD_ARGUMENTS", start, end, message, "pass a dict");
    }
  }

  /** Warns about a method that only other languages have. It is no error, since a host value could have it. */
  #warnOfMethod(name: string, start: number): void {
    const hint = foreignMethodHint(name);
    if (hint === undefined) return;
    const end = start + name.length;
    const message = `no value of Starlark has a method "${name}"`;
    this.#problems.add({ severity: "warning", code: "STARLARK_PYTHON_HABIT", start, end, message, hint });
  }

  // Functions.

  #function(
    parameters: readonly Parameter[],
    body: readonly Statement[] | undefined,
    value: Expression | undefined,
  ): Scope {
    // Defaults are resolved outside the function.
    for (const parameter of parameters) {
      if (parameter.value !== undefined) this.#expression(parameter.value);
    }
    const outer = { block: this.#block, container: this.#container, around: this.#enclosing };
    const block = createBlock(this.#block, { locals: [], free: [] }, true);
    this.#push(block);
    this.#container = block;
    this.#enclosing = { loops: 0, conditionals: 0 };
    this.#parameters(parameters);
    if (body !== undefined) this.#statements(body);
    if (value !== undefined) this.#expression(value);
    resolveLocalUses(block);
    this.#block = outer.block;
    this.#container = outer.container;
    this.#enclosing = outer.around;
    return block.scope;
  }

  #parameters(parameters: readonly Parameter[]): void {
    let hasOptional = false;
    let star: Parameter | undefined;
    let doubleStar: Parameter | undefined;
    let keywordOnlyCount = 0;
    // Keyword-only parameters follow the positional ones.
    for (const parameter of parameters) {
      const { kind, name, start, end } = parameter;
      let message: string | undefined;
      switch (kind) {
        case "required":
          if (doubleStar !== undefined)
            message = `required parameter may not follow **${doubleStar.name?.name}`;
          else if (star !== undefined) keywordOnlyCount += 1;
          else if (hasOptional) message = "required parameter may not follow optional";
          break;
        case "optional":
          hasOptional = true;
          if (doubleStar !== undefined)
            message = `optional parameter may not follow **${doubleStar.name?.name}`;
          else if (star !== undefined) keywordOnlyCount += 1;
          break;
        case "star":
          if (doubleStar !== undefined) message = `* parameter may not follow **${doubleStar.name?.name}`;
          else if (star !== undefined) message = "multiple * parameters not allowed";
          else star = parameter;
          break;
        case "doubleStar":
          if (doubleStar !== undefined) message = "multiple ** parameters not allowed";
          doubleStar = parameter;
      }
      if (message !== undefined) {
        const hint = "the order is required, optional, *args, keyword-only, **kwargs";
        this.#error("STARLARK_BAD_PARAMETERS", start, end, message, hint);
      }
      if (kind === "required" || kind === "optional") this.#parameter(name!);
    }
    if (star?.name !== undefined) this.#parameter(star.name);
    else if (star !== undefined && keywordOnlyCount === 0) {
      const message = "bare * must be followed by keyword-only parameters";
      this.#error(
        "STARLARK_BAD_PARAMETERS",
        star.start,
        star.end,
        message,
        "name it, as in *args, or remove it",
      );
    }
    if (doubleStar?.name !== undefined) this.#parameter(doubleStar.name);
  }

  #parameter(name: Identifier): void {
    if (!this.#bindLocal(name)) return;
    const message = `duplicate parameter: ${name.name}`;
    this.#error("STARLARK_BAD_PARAMETERS", name.start, name.end, message, "rename one of them");
  }
}

function createBlock(parent: Block | undefined, scope: MutableScope, isFunction: boolean): Block {
  return { parent, scope, isFunction, bindings: new Map(), missing: undefined, children: [], uses: [] };
}

/** Whether functions can capture the binding. Globals and names of the environment need no capture. */
function isVariable({ kind }: Binding): boolean {
  return kind === "local" || kind === "cell" || kind === "free";
}

/** Resolves a function's or file's uses of its own variables; the others remain for the enclosing blocks. */
function resolveLocalUses(block: Block): void {
  block.uses = block.uses.filter((use) => {
    for (let at: Block | undefined = use.block; at !== undefined; at = at.parent) {
      const binding = at.bindings.get(use.identifier.name);
      if (binding !== undefined) {
        use.identifier.binding = binding;
        return false;
      }
      if (at === block) return true;
    }
    return true;
  });
}

/** Names of invalid targets in messages. */
const targetNames = {
  IntLiteral: "literal",
  FloatLiteral: "literal",
  StringLiteral: "literal",
  BytesLiteral: "literal",
  FString: "f-string",
  DictExpression: "dictexpr",
  Comprehension: "comprehension",
  UnaryExpression: "unaryexpr",
  BinaryExpression: "binaryexpr",
  ConditionalExpression: "condexpr",
  LambdaExpression: "lambdaexpr",
  CallExpression: "callexpr",
  SliceExpression: "sliceexpr",
} as const;
