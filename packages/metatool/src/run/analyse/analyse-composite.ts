/**
 * Analyses a composite without running it: reports all syntax and name errors, inner
 * calls of unknown tools and mismatched arguments, and determines which tools it can
 * call. Makes no call.
 */

import { type Diagnostic, hasErrors, nearestName, type Source, type Span } from "@toolcrib/diagnostics";
import { isJsonObject, type JsonObject } from "@toolcrib/json";
import {
  type Expression,
  type File,
  jsonModule,
  mathModule,
  parseFile,
  resolveFile,
  type StarlarkModule,
  timeModule,
  toolDialect,
  universeFor,
} from "@toolcrib/starlark";
import type { Catalog, CatalogTool } from "../catalog.ts";
import { CompositeCache, sourceNameOf } from "../composite-cache.ts";
import { propertySchema, resolveReference } from "../schema-walk.ts";
import { reservedNames, savedNamespace, type ToolDirectory, type ToolNamespace } from "../tool-directory.ts";
import { unknownToolMessage } from "../tool-values.ts";
import { explainNames } from "../undefined-names.ts";
import { checkArguments, type Report, withoutParens } from "./check-arguments.ts";
import { type CompositeFacts, deriveFacts, type Reach, type SavedReach } from "./reach.ts";
import { type ExpressionOf, visitExpression, visitFile } from "./visit-expressions.ts";

/** The result of an analysis. */
export interface CompositeAnalysis {
  /** Sorted by place. Code with an error cannot run. */
  readonly diagnostics: readonly Diagnostic[];
  /** The tools that the code itself can call; none for code that does not parse. */
  readonly reach: Reach;
  /** Facts derived from the reach. */
  readonly facts: CompositeFacts;
}

/** Optional inputs of the analysis. */
export interface AnalysisOptions {
  /** Name of the composite, to detect recursion. @default "composite" */
  readonly name?: string;
  /** Its input schema, to check reads of `params`. @default `params` is not checked */
  readonly inputSchema?: JsonObject;
  /** The reach of saved tools. @default saved tools can call any tool */
  readonly savedReach?: SavedReach;
  /** @default no cache */
  readonly cache?: CompositeCache;
}

/** Maximum number of findings about tools and their arguments. */
const maxFindings = 100;

/** Analyses the code of a composite against the tools that its author may call. */
export function analyseComposite(
  code: string,
  catalog: Catalog,
  options: AnalysisOptions = {},
): CompositeAnalysis {
  const { name = "composite", savedReach } = options;
  const directory = (options.cache ?? new CompositeCache()).directoryOf(catalog);
  const source = { name: sourceNameOf(name), text: code };
  const { file, diagnostics } = readProgram(source, directory);
  if (file === undefined) {
    const reach = { tools: [], dynamic: false };
    return { diagnostics, reach, facts: deriveFacts(reach, catalog, savedReach) };
  }
  const walk = new Analysis(source, directory, options);
  walk.go(file);
  const reach = { tools: [...walk.reached].sort(), dynamic: walk.isDynamic };
  // Calling itself does not widen its reach.
  const others = { ...reach, tools: reach.tools.filter((id) => id !== walk.ownId) };
  const facts = deriveFacts(others, catalog, (tool) =>
    tool.id === walk.ownId ? others : savedReach?.(tool),
  );
  const isDirect = others.tools.length < reach.tools.length;
  if (isDirect || facts.reach.tools.some((id) => id === walk.ownId)) walk.reportRecursion(isDirect);
  const all = [...diagnostics, ...walk.findings];
  all.sort((a, b) => (a.span?.start ?? 0) - (b.span?.start ?? 0));
  return { diagnostics: all, reach, facts };
}

/** Parses the file and resolves its names; `undefined` when it does not parse. */
function readProgram(
  source: Source,
  directory: ToolDirectory,
): { readonly file: File | undefined; readonly diagnostics: readonly Diagnostic[] } {
  const { value: file, diagnostics: syntax } = parseFile(source, toolDialect);
  if (hasErrors(syntax)) return { file: undefined, diagnostics: syntax.map(withoutLoad) };
  const universe = universeFor(toolDialect);
  const predeclared = new Set([...reservedNames, ...directory.namespaces.keys()]);
  const names = resolveFile(file, {
    dialect: toolDialect,
    isPredeclared: (name) => predeclared.has(name),
    isUniversal: (name) => universe.has(name),
    predeclaredNames: [...predeclared],
    universalNames: universe.keys(),
  });
  const diagnostics = [...syntax, ...lintLoads(file, source), ...explainNames(names, source, directory)];
  return { file: hasErrors(diagnostics) ? undefined : file, diagnostics };
}

/** The modules of composites, which need no `load`. */
const modules: ReadonlyMap<string, StarlarkModule> = new Map([
  ["json", jsonModule],
  ["math", mathModule],
  ["time", timeModule],
]);
const noModules =
  "composites have no other modules: json, math and time need no load, and a saved tool is called as saved.NAME";

/** Reports `load` of modules that no composite has. */
function lintLoads(file: File, source: Source): Diagnostic[] {
  return file.statements.flatMap((statement): Diagnostic[] => {
    if (statement.kind !== "LoadStatement") return [];
    const module = statement.module.value;
    if (modules.has(module.replace(/\.star$/, ""))) return [];
    const message = `cannot load ${JSON.stringify(module.slice(0, 80))}: composites have no files`;
    return [
      {
        severity: "error",
        code: "STARLARK_BAD_LOAD",
        message,
        hint: noModules,
        source,
        span: { start: statement.start, end: statement.end },
      },
    ];
  });
}

/** Replaces a hint to load a module, which composites cannot. */
function withoutLoad(finding: Diagnostic): Diagnostic {
  return finding.hint?.includes('load("') === true ? { ...finding, hint: noModules } : finding;
}

/** One traversal of a program. */
class Analysis {
  readonly findings: Diagnostic[] = [];
  readonly reached = new Set<string>();
  isDynamic = false;
  /** The id of the composite itself, once saved. */
  readonly ownId: string | undefined;
  readonly #source: Source;
  readonly #directory: ToolDirectory<CatalogTool>;
  readonly #name: string | undefined;
  readonly #inputSchema: JsonObject | undefined;
  /** Parameters that the program tests before it uses them. */
  readonly #askedFor = new Set<string>();
  readonly #parameterUses: { readonly name: string; readonly span: Span }[] = [];

  constructor(source: Source, directory: ToolDirectory<CatalogTool>, { name, inputSchema }: AnalysisOptions) {
    this.#source = source;
    this.#directory = directory;
    this.#name = name;
    this.#inputSchema = inputSchema;
    this.ownId = name === undefined ? undefined : `${savedNamespace}:${name}`;
  }

  go(file: File): void {
    this.#checkGlobals(file);
    visitFile(file, this.#visit);
    this.#checkParameters();
  }

  reportRecursion(isDirect: boolean): void {
    this.#report({
      severity: "warning",
      code: "METATOOL_RECURSIVE",
      message: `"${this.#name}" calls itself${isDirect ? "" : " through other saved tools"}, which ends at the limit of nested calls`,
      hint: "call a function of the program instead: def can call itself",
      span: { start: 0, end: 0 },
    });
  }

  readonly #report: Report = ({ severity, code, message, hint, span }) => {
    if (this.findings.length >= maxFindings) return;
    const { start, end } = span;
    this.findings.push({ severity, code, message, hint, source: this.#source, span: { start, end } });
  };

  /** Namespaces of tools that the program redefines. */
  #checkGlobals(file: File): void {
    for (const { name, firstStart } of file.globals ?? []) {
      const isReserved = reservedNames.has(name);
      if ((!isReserved && !this.#directory.namespaces.has(name)) || firstStart < 0) continue;
      this.#report({
        severity: "warning",
        code: "METATOOL_NAME_HIDDEN",
        message: `"${name}" hides ${isReserved ? `the predeclared ${name}` : `the tools of ${name}`} from here on`,
        hint: `use another name, such as ${name}_value`,
        span: { start: firstStart, end: firstStart + name.length },
      });
    }
  }

  readonly #visit = (expression: Expression): boolean => {
    switch (expression.kind) {
      case "CallExpression":
        return this.#call(expression);
      case "AttributeExpression":
        return this.#attribute(expression);
      case "IndexExpression":
        return this.#index(expression);
      case "BinaryExpression": {
        const isMembership = expression.operator === "in" || expression.operator === "not in";
        const container = isMembership ? predeclaredName(expression.right) : undefined;
        if (container === "params") this.#noteAskedFor(expression.left);
        if (container !== "tools" && container !== "params") return true;
        visitExpression(expression.left, this.#visit);
        return false;
      }
      case "Identifier": {
        // A namespace that is passed on can be used to call any of its tools.
        const name = predeclaredName(expression);
        if (name === "tools" || (name !== undefined && this.#directory.namespaces.has(name)))
          this.isDynamic = true;
        return false;
      }
      default:
        return true;
    }
  };

  #call(call: ExpressionOf<"CallExpression">): boolean {
    const callee = withoutParens(call.callee);
    const tool = this.#toolOf(callee);
    if (tool !== undefined) {
      if (tool !== "unknown") checkArguments(call, tool, this.#report);
      if (callee.kind === "IndexExpression") visitExpression(callee.index, this.#visit);
    } else if (this.#isQuestion(call, callee)) {
      for (const { value } of call.args.slice(1)) visitExpression(value, this.#visit);
      return false;
    } else if (!(callee.kind === "AttributeExpression" && predeclaredName(callee.object) === "params")) {
      // Methods of `params` are not parameters.
      visitExpression(callee, this.#visit);
    } else if (callee.name === "get" || callee.name === "pop") {
      const [first] = call.args;
      if (first !== undefined) this.#noteParameter(first.value, true);
    }
    for (const { value } of call.args) visitExpression(value, this.#visit);
    return false;
  }

  /** Handles `hasattr(github, …)`, `dir(github)` and `getattr(github, "name")`, which do not pass the namespace on. */
  #isQuestion(call: ExpressionOf<"CallExpression">, callee: Expression): boolean {
    if (callee.kind !== "Identifier" || callee.binding?.kind !== "universal") return false;
    const [subject, wanted] = call.args;
    const name = subject === undefined ? undefined : predeclaredName(subject.value);
    const namespace = name === undefined ? undefined : this.#directory.namespaces.get(name);
    if (namespace === undefined && name !== "tools" && name !== "params") return false;
    if (callee.name === "hasattr" && name === "params" && wanted !== undefined)
      this.#noteAskedFor(wanted.value);
    if (callee.name === "hasattr" || callee.name === "dir") return true;
    if (callee.name !== "getattr" || wanted === undefined) return false;
    const literal = withoutParens(wanted.value);
    if (name === "params") this.#noteParameter(literal, call.args.length > 2);
    if (literal.kind !== "StringLiteral" || namespace === undefined) return name === "params";
    const tool = namespace.tools.get(literal.value);
    if (tool !== undefined) this.reached.add(tool.id);
    return true;
  }

  #attribute(expression: ExpressionOf<"AttributeExpression">): boolean {
    if (this.#toolOf(expression) !== undefined) return false;
    this.#checkModule(expression);
    if (predeclaredName(expression.object) !== "params") return true;
    const { name, nameStart } = expression;
    this.#parameterUses.push({ name, span: { start: nameStart, end: nameStart + name.length } });
    return false;
  }

  /** Reports `time.get_current_time`, where `time` is the module and the tools of the server "time" are `time_`. */
  #checkModule({ object, name, nameStart }: ExpressionOf<"AttributeExpression">): void {
    const module = predeclaredName(object);
    const members = module === undefined ? undefined : modules.get(module);
    if (members === undefined || members.members.has(name)) return;
    const namespace = this.#directory.namespaces.get(`${module}_`);
    if (namespace === undefined || namespace.name !== module) return;
    const tool = namespace.tools.has(name) ? `${module}_.${name}` : `${module}_`;
    this.#report({
      severity: "error",
      code: "METATOOL_TOOL_UNKNOWN",
      message: `The module ${module} has no ${name} (did you mean ${tool}?)`,
      hint: `${module} is the module of the language; the tools of the server "${module}" are ${module}_.NAME`,
      span: { start: nameStart, end: nameStart + name.length },
    });
  }

  #index(expression: ExpressionOf<"IndexExpression">): boolean {
    if (this.#toolOf(expression) !== undefined) {
      visitExpression(expression.index, this.#visit);
      return false;
    }
    if (this.#isIndexedNamespace(expression)) return false;
    if (predeclaredName(expression.object) !== "params") return true;
    this.#noteParameter(expression.index, false);
    visitExpression(expression.index, this.#visit);
    return false;
  }

  /** Reports `github["search"]`: only `tools` can be indexed. */
  #isIndexedNamespace({ object, index, start, end }: ExpressionOf<"IndexExpression">): boolean {
    const name = predeclaredName(object);
    const namespace = name === undefined ? undefined : this.#directory.namespaces.get(name);
    if (namespace === undefined) return false;
    const literal = withoutParens(index);
    const wanted = literal.kind === "StringLiteral" ? literal.value.slice(0, 80) : "NAME";
    // A program may catch the error.
    this.#report({
      severity: "warning",
      code: "METATOOL_TOOL_UNKNOWN",
      message: `${name} is a namespace of tools, which has no elements`,
      hint: `write tools[${JSON.stringify(`${namespace.name}.${wanted}`)}]({…})`,
      span: { start, end },
    });
    return true;
  }

  /** Returns the tool that an expression names; `unknown` for one that does not exist (reported) or is chosen at run time. */
  #toolOf(expression: Expression): CatalogTool | "unknown" | undefined {
    if (expression.kind === "AttributeExpression") {
      const name = predeclaredName(expression.object);
      if (name === undefined) return undefined;
      const namespace = this.#directory.namespaces.get(name);
      if (namespace === undefined && name !== "tools") return undefined;
      const members = namespace?.tools ?? this.#directory.byName;
      return this.#reach(members.get(expression.name)) ?? this.#unknownAttribute(expression, name, namespace);
    }
    if (expression.kind !== "IndexExpression" || predeclaredName(expression.object) !== "tools")
      return undefined;
    const literal = withoutParens(expression.index);
    if (literal.kind !== "StringLiteral") {
      this.isDynamic = true;
      return "unknown";
    }
    return (
      this.#reach(this.#directory.byName.get(literal.value)) ?? this.#unknownName(literal.value, literal)
    );
  }

  #reach(tool: CatalogTool | undefined): CatalogTool | undefined {
    if (tool !== undefined) this.reached.add(tool.id);
    return tool;
  }

  #unknownAttribute(
    { name, nameStart }: ExpressionOf<"AttributeExpression">,
    identifier: string,
    namespace: ToolNamespace<CatalogTool> | undefined,
  ): "unknown" {
    const span = { start: nameStart, end: nameStart + name.length };
    if (namespace === undefined || this.#isOwnName(namespace.name, name))
      return this.#unknownName(name, span);
    const reason = this.#directory.explain?.(`${namespace.name}:${name}`);
    if (reason !== undefined) {
      const message = `Cannot call ${identifier}.${name}: ${reason}`;
      this.#report({ severity: "error", code: "METATOOL_TOOL_UNKNOWN", message, span });
      return "unknown";
    }
    const names = [...namespace.tools.keys()];
    const near = nearestName(name, names);
    const elsewhere = [...this.#directory.namespaces].find(
      ([other, { tools }]) => other !== identifier && tools.has(name),
    );
    const meant = near ?? (elsewhere === undefined ? undefined : `${elsewhere[0]}.${name}`);
    const suggestion = meant === undefined ? "" : ` (did you mean ${meant}?)`;
    const listed = names.slice(0, 20).join(", ");
    this.#report({
      severity: "error",
      code: "METATOOL_TOOL_UNKNOWN",
      message: `${identifier} has no tool ${name}${suggestion}`,
      hint: `its tools are ${listed}${names.length > 20 ? `, and ${names.length - 20} more` : ""}`,
      span,
    });
    return "unknown";
  }

  #unknownName(name: string, span: Span): "unknown" {
    if (this.#isOwnName(savedNamespace, name)) {
      // It does not exist before it is saved for the first time.
      this.reached.add(this.ownId!);
      return "unknown";
    }
    const message = unknownToolMessage(name, this.#directory);
    this.#report({ severity: "error", code: "METATOOL_TOOL_UNKNOWN", message, span });
    return "unknown";
  }

  #isOwnName(namespace: string, name: string): boolean {
    return namespace === savedNamespace && this.#name !== undefined && name === this.#name;
  }

  #noteAskedFor(expression: Expression): void {
    const literal = withoutParens(expression);
    if (literal.kind === "StringLiteral") this.#askedFor.add(literal.value);
  }

  #noteParameter(expression: Expression, isOptional: boolean): void {
    const literal = withoutParens(expression);
    if (literal.kind !== "StringLiteral") return;
    if (isOptional) this.#askedFor.add(literal.value);
    this.#parameterUses.push({ name: literal.value, span: literal });
  }

  /** Reports parameters that the input schema does not have, or that are optional. */
  #checkParameters(): void {
    const schema =
      this.#inputSchema === undefined ? undefined : resolveReference(this.#inputSchema, this.#inputSchema);
    if (schema === undefined || !isJsonObject(schema["properties"])) return;
    const known = Object.keys(schema["properties"]);
    const required = Array.isArray(schema["required"]) ? (schema["required"] as readonly unknown[]) : [];
    for (const { name, span } of this.#parameterUses) {
      const property = propertySchema(schema, name);
      const isSure = required.includes(name) || (isJsonObject(property) && property["default"] !== undefined);
      if (isSure || (property !== undefined && this.#askedFor.has(name))) continue;
      const near = property === undefined ? nearestName(name, known) : undefined;
      this.#report({
        severity: "warning",
        code: "METATOOL_PARAMETER_UNKNOWN",
        message:
          property === undefined
            ? `The input schema has no "${name}"${near === undefined ? "" : ` (did you mean "${near}"?)`}`
            : `"${name}" is not required and has no default, so it may be absent`,
        hint:
          property === undefined
            ? `it has ${known.map((one) => `"${one}"`).join(", ") || "no properties"}`
            : `write params.get("${name}"), or give it a default in the input schema`,
        span,
      });
    }
  }
}

/** Returns the name of the predeclared value that an expression is, if any. */
function predeclaredName(expression: Expression): string | undefined {
  const inner = withoutParens(expression);
  return inner.kind === "Identifier" && inner.binding?.kind === "predeclared" ? inner.name : undefined;
}
