/**
 * Matches a text against a template that may have produced it, such as
 * `{tenant}.example.com`. Linear in the text: no regular expression is built from
 * the content of a file.
 */

/**
 * Returns the non-empty texts between each two of `literals` in `text`, each as
 * short as possible except the last; `undefined` when `text` does not match.
 */
export function matchBetween(literals: readonly string[], text: string): readonly string[] | undefined {
  const [first = "", ...rest] = literals;
  const last = rest.pop();
  if (last === undefined) return text === first ? [] : undefined;
  if (!text.startsWith(first)) return undefined;
  const values: string[] = [];
  let at = first.length;
  for (const literal of rest) {
    const found = text.indexOf(literal, at + 1);
    if (found === -1) return undefined;
    values.push(text.slice(at, found));
    at = found + literal.length;
  }
  const end = text.length - last.length;
  if (end <= at || !text.endsWith(last)) return undefined;
  return [...values, text.slice(at, end)];
}
