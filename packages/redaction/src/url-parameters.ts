/**
 * Finds the parameters of URLs that are secrets by their names: after `?` and `&`, in the fragment after `#`, after `;`,
 * and in URLs that are themselves values of parameters, percent-encoded up to four times. The marks can be escaped as
 * in JSON. The one rule for a URL in a configuration and one within a text. Pure; linear in the length of the text.
 */

import { isSecretParameter } from "./secret-name.ts";

/** A part of a text. */
interface Range {
  readonly start: number;
  readonly end: number;
}

/** Times that a mark can be percent-encoded. */
const maxLevel = 4;
/** Characters of a value that are read to judge it. An ordinary value of a parameter with such a name is shorter. */
const judgedMaxLength = 512;

/** The characters that end names, each as it is, percent-encoded, or escaped as in JSON. */
const delimiters = (characters: string, codes: string) =>
  new RegExp(`[${characters}]|%(?:25){0,3}(?:${codes})|\\\\u00(?:${codes})`, "gi");
/** The mark before a parameter. */
const marks = delimiters("?&#;", "3F|26|23|3B");
/** The end of a name: before its value, before the next mark, so that none hides it, or where no name goes on. */
const nameEnds = delimiters(`\\s?&=#"';`, "3[DFB]|2[36]");
const equals = /^(?:=|%(?:25)*3D|\\u003D)$/i;
/** Characters at the beginning and at the end of a name that are read to judge it. */
const judgedNameLength = 256;

/** The ends of values, by the number of times that the mark before is encoded. */
const ends: readonly RegExp[] = Array.from({ length: maxLevel + 1 }, (_, level) => {
  const encoded = level === 0 ? "" : `|%(?:25){0,${level - 1}}(?:26|23)`;
  const next = level === 0 ? "" : "|%(?:25){0,3}3D";
  return new RegExp(`[&\\s"'#]|\\\\u002[36]|;(?=[\\w.%[\\]-]{1,80}(?:=${next}))${encoded}`, "gi");
});

/** A URL with a scheme, to its end. Marks that texts have without URLs are parameters there only. */
const urls = /:(?:\\{0,3}\/){2}[^\s"'<>]*/g;
/** Marks of parameters in any text. */
const anywhere = /^(?:[?&%]|\\u00(?:3F|26))/i;

/** Names that are those of a secret whatever their value is. */
const isCertainName = (name: string) =>
  /^(?:sig|signature)$/i.test(name) ||
  (/key|token|secret|password|credential/i.test(name) && /^[\w.-]+$/.test(name));

/**
 * Returns the values of parameters that are secrets, in their order.
 *
 * @param parameters `certain`: only those whose name contains `key`, `token`, `secret`, `password` or `credential`, and
 *   signatures
 */
export function secretParameters(text: string, parameters: "named" | "certain"): readonly Range[] {
  const found: Range[] = [];
  const known = ends.map(() => -1);
  const isInUrl = urlReader(text);
  let hiddenEnd = 0;
  for (const { mark, index, name, start } of parametersIn(text)) {
    if (start < hiddenEnd || !(anywhere.test(mark) || isInUrl(index))) continue;
    const level = mark.startsWith("%") ? 1 + (mark.length - 3) / 2 : 0;
    // Each value is searched for its end once: those of the URLs within it have the same one.
    if (start > (known[level] ?? -1)) known[level] = valueEnd(text, start, ends[level] as RegExp);
    const end = known[level] as number;
    if (start === end) continue;
    const value = decoded(text.slice(start, Math.min(end, start + judgedMaxLength)), level + 1);
    const isSecret = (one: string) =>
      (parameters === "named" || isCertainName(one)) && isSecretParameter(one, value);
    if (!judgedParts(decoded(name, level + 1)).some(isSecret)) continue;
    found.push({ start, end });
    hiddenEnd = end;
  }
  return found;
}

/** A parameter: its mark and where that is, its name, and where its value starts. */
interface Parameter {
  readonly mark: string;
  readonly index: number;
  readonly name: string;
  readonly start: number;
}

/** Finds the parameters with a name and a value. Each character is read once for marks and once for the end of a name. */
function* parametersIn(text: string): Generator<Parameter> {
  marks.lastIndex = 0;
  for (let found = marks.exec(text); found !== null; found = marks.exec(text)) {
    const [{ 0: mark, index }, begin] = [found, marks.lastIndex];
    nameEnds.lastIndex = begin;
    const end = nameEnds.exec(text);
    if (end === null) return;
    const start = nameEnds.lastIndex;
    const hasValue = end.index > begin && equals.test(end[0]);
    if (hasValue) yield { mark, index, name: text.slice(begin, end.index), start };
    // What ends a name can be the mark of the next one.
    marks.lastIndex = hasValue ? start : end.index;
  }
}

/** The name, or the beginning and the end of one that is longer than any of a service. */
function judgedParts(name: string): readonly string[] {
  if (name.length <= judgedNameLength) return [name];
  return [name.slice(0, judgedNameLength), name.slice(-judgedNameLength)];
}

function valueEnd(text: string, start: number, ending: RegExp): number {
  ending.lastIndex = start;
  return ending.exec(text)?.index ?? text.length;
}

/** Returns a function for indexes in ascending order: whether each is within a URL. */
function urlReader(text: string): (index: number) => boolean {
  const found = text.matchAll(urls);
  let url = found.next();
  return (index) => {
    while (!url.done && url.value.index + url.value[0].length <= index) url = found.next();
    return !url.done && url.value.index <= index;
  };
}

function decoded(text: string, times: number): string {
  let plain = text;
  for (let time = 0; time < times && plain.includes("%"); time += 1) {
    try {
      plain = decodeURIComponent(plain);
    } catch {
      return plain;
    }
  }
  return plain;
}
