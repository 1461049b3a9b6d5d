/**
 * Hints for syntax of Python, JavaScript or C, with the equivalent in Starlark. The
 * scanner, the parser and the resolver call these functions after they have found an
 * error; nothing here decides whether a text is wrong. Where the code is simple
 * enough, a hint contains a replacement to paste. Only a few hundred characters
 * around the position are inspected.
 */

import type { Dialect } from "../dialect.ts";
import { isKeyword, Token, type TokenKind, tokenText } from "./token.ts";

/** Advice for a finding. */
export interface Advice {
  /** `STARLARK_PYTHON_HABIT`, or `STARLARK_SYNTAX` for an error that is not specific to other languages. */
  readonly code: string;
  readonly hint: string;
}

/** An unexpected token and its context. */
export interface Misfit {
  readonly text: string;
  readonly dialect: Dialect;
  readonly kind: TokenKind;
  readonly start: number;
  readonly end: number;
  readonly previousKind: TokenKind;
  readonly previousStart: number;
  readonly previousEnd: number;
  /** The syntax that the grammar expects, as in the message. */
  readonly want: string;
  /** Start of the statement, and the kind of its first token. */
  readonly statementStart: number;
  readonly statementKind: TokenKind;
  /** Offset of the innermost open bracket; -1 outside brackets. */
  readonly bracket: number;
}

/** Maximum length of code that a hint repeats. */
const maxQuoted = 120;

function habit(hint: string): Advice {
  return { code: "STARLARK_PYTHON_HABIT", hint };
}

function slip(hint: string): Advice {
  return { code: "STARLARK_SYNTAX", hint };
}

/** `text` from `start` to `end`, if it is short enough and on one line. */
export function quotable(text: string, start: number, end: number): string | undefined {
  if (end - start > maxQuoted || end <= start) return undefined;
  const piece = text.slice(start, end).trim();
  return piece === "" || /[\r\n]/.test(piece) ? undefined : piece;
}

/** The rest of the line from `start` on, without a comment. */
export function restOfLine(text: string, start: number): string {
  const piece = text.slice(start, start + 2 * maxQuoted);
  const end = piece.search(/[\r\n]|\s#/);
  return (end === -1 ? piece : piece.slice(0, end)).trim();
}

/** The text from `start` to the matching closing bracket, if that is near and on the same line. */
export function untilClosed(text: string, start: number): string | undefined {
  let depth = 0;
  for (let at = start; at < start + maxQuoted && at < text.length; at += 1) {
    const character = text[at]!;
    if ("([{".includes(character)) depth += 1;
    else if (")]}".includes(character)) {
      if (depth === 0) return quotable(text, start, at);
      depth -= 1;
    } else if (character === '"' || character === "'") {
      const close = text.indexOf(character, at + 1);
      if (close === -1) return undefined;
      at = close;
    }
  }
  return undefined;
}

/** Advice for an unexpected token; `undefined` if there is none. */
export function adviseOnMisfit(misfit: Misfit): Advice | undefined {
  return (
    adviseOnStatement(misfit) ??
    adviseOnToken(misfit) ??
    adviseOnWord(misfit) ??
    adviseOnBrackets(misfit) ??
    adviseOnGap(misfit)
  );
}

/** Advice by the first token of the statement, if that is the unexpected one. */
function adviseOnStatement({ text, dialect, kind, start, statementStart }: Misfit): Advice | undefined {
  if (start !== statementStart) return undefined;
  const line = restOfLine(text, start);
  switch (kind) {
    case Token.Import:
    case Token.From:
      return habit(importHint(line));
    case Token.Class:
      return habit("there are no classes; keep data in a dict and write functions that take it");
    case Token.Raise: {
      const message = /^raise\s+\w+\((.*)\)(?:\s+from\s.*)?$/.exec(line)?.[1];
      return habit(`write fail(${message || '"what went wrong"'})`);
    }
    case Token.With:
      return habit("there is no with statement; call the function and use its result");
    case Token.Del: {
      const element = /^del\s+(.+)\[([^\]]+)\]$/.exec(line);
      if (element !== null) return habit(`write ${element[1]}.pop(${element[2]})`);
      return habit("names are not deleted; remove the statement");
    }
    case Token.Global:
    case Token.Nonlocal:
      return habit(
        'a function cannot rebind a name outside it; keep the value in a dict, as in state["n"] += 1, or return it',
      );
    case Token.Try:
      return dialect.tryExcept ? undefined : habit("there are no exceptions to catch; test before you act");
    case Token.Except:
    case Token.Finally:
      return slip(`${tokenText(kind)} belongs below a try, indented like it`);
    case Token.Elif:
    case Token.Else:
      return slip(`${tokenText(kind)} belongs below an if, indented like it`);
    case Token.SlashSlash:
      return habit("comments begin with #");
    default:
      return undefined;
  }
}

function importHint(line: string): string {
  const plain = /^import\s+([\w.]+)(?:\s+as\s+(\w+))?$/.exec(line);
  if (plain !== null) {
    const module = plain[1]!;
    const name = plain[2] === undefined ? `"${module}"` : `${plain[2]}="${module}"`;
    return `json, math and time need no import; another module: load("${module}.star", ${name})`;
  }
  const from = /^from\s+([\w.]+)\s+import\s+\(?([\w\s,]+)\)?$/.exec(line);
  if (from !== null) {
    const names = from[2]!.split(",").flatMap((part) => {
      const [name, as, alias] = part.trim().split(/\s+/);
      if (name === undefined || name === "") return [];
      return as === "as" && alias !== undefined ? [`${alias}="${name}"`] : [`"${name}"`];
    });
    return `write load("${from[1]}.star", ${names.join(", ")})`;
  }
  return 'modules are loaded: load("module.star", "name")';
}

/** Advice by the token and the previous one. */
function adviseOnToken(misfit: Misfit): Advice | undefined {
  const { text, kind, start, end, previousKind, previousStart, previousEnd, want, statementKind } = misfit;
  const next = text[end];
  if (isIncrement(previousKind) && text[previousStart - 1] === text[previousStart] && endsExpression(kind)) {
    return habit(incrementHint(misfit));
  }
  switch (kind) {
    case Token.Colon:
      if (next === "=") return habit(walrusHint(misfit));
      if (want === "'('")
        return slip(`write ${restOfLine(text, misfit.statementStart).replace(/\s*:.*$/, "")}():`);
      if (want === "in" && statementKind === Token.For) return slip("write for x in xs: without parentheses");
      return undefined;
    case Token.LeftBrace:
      if (want === "in" && statementKind === Token.For) return slip("write for x in xs: without parentheses");
      if (want !== "':'") return undefined;
      return habit("end the line with a colon and indent the block; there are no braces around it");
    case Token.Equal:
      if (next === ">") return habit(arrowHint);
      if (want === "':'") return habit("write == to compare");
      if (statementKind === Token.For) return habit("write for i in range(3):");
      return undefined;
    case Token.Greater:
      if (previousKind === Token.Equal && previousEnd === start) return habit(arrowHint);
      return undefined;
    case Token.Minus:
      if (next === ">" && want === "':'") return habit("types are not declared; remove the -> and the type");
      return undefined;
    case Token.Newline:
      if (want === "':'") return slip("end the line with a colon");
      if (want !== "primary expression") return undefined;
      return slip("the expression continues; put the rest on this line or use parentheses");
    case Token.Dot:
      return text.startsWith("...", start) ? habit("write pass") : undefined;
    case Token.Slash:
      return want === "identifier" ? habit("parameters are not positional-only; remove the /") : undefined;
    case Token.SlashSlash:
      return habit("comments begin with #");
    case Token.LeftParen:
      if (want !== "identifier") return undefined;
      return habit("a parameter is one name; take the tuple apart in the body");
    case Token.Lambda:
      return misfit.bracket >= 0 ? slip("put the lambda in parentheses") : undefined;
    case Token.Else:
      return want === "newline" ? slip("begin a line with else") : undefined;
    case Token.Return:
    case Token.Pass:
    case Token.Break:
    case Token.Continue:
    case Token.If:
    case Token.For:
    case Token.While:
    case Token.Def:
    case Token.Load:
      return adviseOnNestedStatement(misfit);
    default:
      return undefined;
  }
}

const arrowHint = "an anonymous function is written lambda x: x + 1";

/** Advice for a statement in place of an expression, or after another statement on the same line. */
function adviseOnNestedStatement(misfit: Misfit): Advice | undefined {
  const { text, kind, start, previousKind, bracket, statementStart } = misfit;
  if (bracket >= 0) return undefined;
  const word = tokenText(kind);
  if (
    previousKind === Token.Colon &&
    /\blambda\b/.test(text.slice(Math.max(statementStart, start - maxQuoted), start))
  ) {
    return habit(`a lambda holds one expression and no ${word}; write a def`);
  }
  if (start === statementStart) return undefined;
  return slip(`begin a line with ${word}`);
}

/** Whether `kind` cannot continue an expression. */
function endsExpression(kind: TokenKind): boolean {
  return (
    kind <= Token.Outdent || kind === Token.RightParen || kind === Token.Semicolon || kind === Token.Comma
  );
}

function isIncrement(kind: TokenKind): boolean {
  return kind === Token.Plus || kind === Token.Minus;
}

/** `x++` */
function incrementHint({ text, kind, statementStart, previousStart, previousKind, bracket }: Misfit): string {
  const operator = previousKind === Token.Plus ? "+=" : "-=";
  const isPart = bracket >= 0 || kind === Token.RightParen || kind === Token.Comma;
  if (isPart) return `write x ${operator} 1 on a line of its own, and x here`;
  return `write ${quotable(text, statementStart, previousStart - 1) ?? "x"} ${operator} 1`;
}

/** `n := f()` */
function walrusHint({ text, previousStart, previousEnd, start }: Misfit): string {
  const name = quotable(text, previousStart, previousEnd) ?? "x";
  const value = /^:=\s*([\w.]+\([^()]*\)|[\w.]+)/.exec(restOfLine(text, start))?.[1] ?? "…";
  return `assign on a line of its own before: ${name} = ${value}`;
}

/** Advice by a word that is reserved or has a meaning in another language. */
function adviseOnWord(misfit: Misfit): Advice | undefined {
  const { text, kind, start, previousKind, previousStart, previousEnd, want, statementStart } = misfit;
  const line = restOfLine(text, statementStart);
  if (isKeyword(kind) && (want === "identifier" || want === "primary expression")) {
    const word = tokenText(kind);
    if (previousKind === Token.Dot)
      return habit(`"${word}" is reserved; write ["${word}"] in place of .${word}`);
    if (/^\s*=(?!=)/.test(text.slice(misfit.end, misfit.end + 20))) {
      if (misfit.bracket >= 0) return habit(`"${word}" is reserved; pass it as **{"${word}": …}`);
      return slip(`"${word}" is reserved; choose another name, such as ${word}_`);
    }
    if (want === "identifier") return slip(`"${word}" is reserved; choose another name, such as ${word}_`);
    return undefined;
  }
  if (want === "newline" && start > statementStart && text.slice(statementStart, start).includes("//")) {
    return habit("comments begin with #");
  }
  if (kind === Token.Identifier && previousKind === Token.Int && previousEnd === start) {
    return habit("numbers have no suffix, and names do not begin with a digit");
  }
  if (previousKind !== Token.Identifier || previousStart !== statementStart || want !== "newline")
    return undefined;
  const word = text.slice(previousStart, Math.min(previousEnd, previousStart + 20));
  const rest = quotable(text, start, statementStart + line.length);
  const advise = statementWords.get(word);
  if (advise !== undefined && start > previousEnd) return habit(advise(rest ?? "…"));
  return undefined;
}

/** Advice for a missing operator between two operands. */
function adviseOnGap({ kind, previousKind, want, bracket }: Misfit): Advice | undefined {
  const isOperand = (at: TokenKind) => at >= Token.Identifier && at <= Token.FString;
  const wasOperand =
    isOperand(previousKind) || previousKind === Token.RightParen || previousKind === Token.RightBracket;
  if (!isOperand(kind) || !wasOperand) return undefined;
  if (bracket >= 0)
    return want === "':'" ? slip("a colon is missing before this") : slip("a comma is missing before this");
  return slip("an operator or a line break is missing before this");
}

/** First words of statements in other languages, with the text that follows on the line. */
const statementWords: ReadonlyMap<string, (rest: string) => string> = new Map([
  ["print", (rest: string) => `write print(${rest})`],
  ["echo", (rest: string) => `write print(${rest})`],
  ["puts", (rest: string) => `write print(${rest})`],
  ["assert", assertHint],
  ["throw", (rest: string) => `write fail(${/\((.*)\)/.exec(rest)?.[1] ?? rest})`],
  ["var", declarationHint],
  ["let", declarationHint],
  ["const", declarationHint],
  ["function", functionHint],
  ["func", functionHint],
  ["fn", functionHint],
  ["match", (rest: string) => `write if ${rest.replace(/[:{\s]+$/, "")} == …: and elif`],
  ["switch", (rest: string) => `write if ${rest.replace(/[:{\s]+$/, "")} == …: and elif`],
  ["case", () => "write if and elif"],
  ["elsif", (rest: string) => `write elif ${rest}`],
  ["elseif", (rest: string) => `write elif ${rest}`],
  ["unless", (rest: string) => `write if not ${rest}`],
  ["until", (rest: string) => `write while not ${rest}`],
  ["foreach", (rest: string) => `write for ${rest}`],
  ["new", (rest: string) => `write ${rest}`],
  ["type", () => "types are not declared; remove the line"],
  ["exec", () => "a program cannot run text; write the code itself"],
]);

function assertHint(rest: string): string {
  const parts = /^(.+?)(?:,\s*(f?["'].*))?$/.exec(rest);
  const test = parts?.[1] ?? rest;
  return `write if not (${test}): fail(${parts?.[2] ?? '"what is wrong"'})`;
}

function declarationHint(rest: string): string {
  return `names are not declared; write ${rest}`;
}

function functionHint(rest: string): string {
  return `write def ${rest.replace(/[{\s]+$/, "")}:`;
}

/** Advice for an open bracket, which is the cause of many errors on later lines. */
function adviseOnBrackets({ text, start, bracket, kind }: Misfit): Advice | undefined {
  if (bracket < 0) return undefined;
  const between = text.slice(bracket, start);
  const isOnLaterLine = /[\r\n]/.test(between);
  if (kind === Token.EndOfFile || isOnLaterLine) {
    const lineNumber = text.slice(0, bracket).split(/\r\n?|\n/).length;
    return slip(`"${text[bracket]}" of line ${lineNumber} is not closed, or a comma is missing before this`);
  }
  return undefined;
}

/** Advice for a character that starts no token. */
export function adviseOnCharacter(text: string, at: number, character: string): Advice | undefined {
  const known = characterHints.get(character);
  if (known !== undefined) return habit(known);
  if (character === "?") return habit(questionHint(text, at));
  const point = character.codePointAt(0)!;
  if (point < 128) return undefined;
  const name = `U+${point.toString(16).toUpperCase().padStart(4, "0")}`;
  if (/^[\s\p{Cf}]$/u.test(character)) {
    return slip(`${name} looks like nothing or like a space; write a space or remove it`);
  }
  return slip(`${name} may stand in strings and comments only`);
}

const characterHints: ReadonlyMap<string, string> = new Map([
  ["`", "strings stand in \"…\" or '…'"],
  ["@", "there are no decorators; call the function on the other: f = decorate(f)"],
  ["$", "names are made of letters, digits and _; remove the $"],
  ["“", 'write the straight quote "'],
  ["”", 'write the straight quote "'],
  ["„", 'write the straight quote "'],
  ["‘", "write the straight quote '"],
  ["’", "write the straight quote '"],
  ["«", 'write the straight quote "'],
  ["»", 'write the straight quote "'],
  ["–", "write the minus sign -"],
  ["—", "write the minus sign -"],
  ["−", "write the minus sign -"],
  ["×", "write *"],
  ["÷", "write /"],
  ["≤", "write <="],
  ["≥", "write >="],
  ["≠", "write !="],
  ["→", "types are not declared; remove the → and the type"],
  ["…", "write pass"],
  ["（", "write ("],
  ["）", "write )"],
  ["，", "write a comma"],
  ["：", "write a colon"],
  ["；", "write ;"],
  ["＝", "write ="],
]);

/** `a ? b : c`, `a ?? b`, `a?.b` */
function questionHint(text: string, at: number): string {
  const lineStart = Math.max(text.lastIndexOf("\n", at) + 1, at - maxQuoted);
  const before = text.slice(lineStart, at).trim();
  const after = restOfLine(text, at + 1);
  if (after.startsWith(".")) return 'write x.get("name") for a value that may be absent';
  const lead = /^(?:return\s|[\w.]+\s*=\s)\s*/.exec(before)?.[0] ?? "";
  const test = before.slice(lead.length);
  if (after.startsWith("?")) {
    const other = after.slice(1).trim();
    return `write ${lead}${test} if ${test} != None else ${other}`;
  }
  const parts = /^([^:]+):([^:]+)$/.exec(after);
  if (parts === null || test === "") return "write b if a else c";
  return `write ${lead}${parts[1]!.trim()} if ${test} else ${parts[2]!.trim()}`;
}

/** Converts `f"…"` to `format`, if it is simple, for dialects without f-strings. */
export function fStringHint(literal: string): string {
  const quote = literal.at(-1)!;
  const body = literal.slice(1, -1);
  const fields = [...body.matchAll(/\{([^{}:!=]+)\}/g)].map((match) => match[1]!.trim());
  const rest = body.replaceAll(/\{[^{}:!=]+\}/g, "");
  const isSimple =
    fields.length > 0 &&
    literal.length <= maxQuoted &&
    !literal.startsWith(quote.repeat(3)) &&
    !/[{}\\]/.test(rest);
  if (!isSimple) return 'there are no f-strings; write "… {} …".format(x)';
  return `write ${quote}${body.replaceAll(/\{[^{}:!=]+\}/g, "{}")}${quote}.format(${fields.join(", ")})`;
}

/** Converts `left ** …` to a multiplication, if that is short. */
export function powerHint(left: string, after: string): string {
  const right = /^\s*([\w.]+)/.exec(after)?.[1] ?? "y";
  const value = /^\d{1,6}$/.test(left) && /^\d{1,2}$/.test(right) ? Number(left) ** Number(right) : undefined;
  if (value !== undefined && Number.isSafeInteger(value)) return `write ${value}`;
  const power = `math.pow(${left}, ${right}) for a float`;
  if (!/^[234]$/.test(right) || !/^[\w.]+$/.test(left)) return `write ${power}`;
  return `write ${Array.from({ length: Number(right) }, () => left).join(" * ")}, or ${power}`;
}

/** Advice for `a, *b = x` and `[*a, b]`, with the star at `start`. */
export function unpackHint(text: string, statementStart: number, start: number, bracket: number): string {
  const line = restOfLine(text, statementStart);
  const assignment = /^[([]?\s*([\w,* ]*\*[\w,* ]*?)\s*[)\]]?\s*=(?!=)\s*(.+)$/.exec(line);
  if (assignment !== null) return unpackAssignmentHint(assignment[1]!, assignment[2]!);
  if (bracket !== -1 && bracket < start && text[bracket] !== "{") {
    const elements = untilClosed(text, bracket + 1)?.split(",");
    if (elements?.every((element) => /^\s*\*?[\w.]+\s*$/.test(element))) {
      const parts = elements.map((element) => element.trim());
      return `write ${parts.map((part) => (part.startsWith("*") ? `list(${part.slice(1)})` : `[${part}]`)).join(" + ")}`;
    }
  }
  return "join lists with +, as in list(a) + [x]";
}

function unpackAssignmentHint(target: string, value: string): string {
  const names = target.split(",").map((name) => name.trim());
  const starred = names.findIndex((name) => name.startsWith("*"));
  const list = /^\w+$/.test(value) ? value : "xs";
  const after = names.length - starred - 1;
  const parts = names.map((name, at) => {
    if (at < starred) return `${name} = ${list}[${at}]`;
    if (at > starred) return `${name} = ${list}[${at - names.length}]`;
    return `${name.slice(1)} = ${list}[${starred === 0 ? "" : starred}:${after === 0 ? "" : -after}]`;
  });
  return `write ${list === value ? "" : `${list} = ${value}; `}${parts.join("; ")}`;
}
