/**
 * A text against the template that it may have been made of, such as
 * `{tenant}.example.com`. Linear in the text: no regular expression is made of
 * what a file says.
 */

/**
 * What stands between each two of `literals` in `text`, never nothing; each as
 * short as it can be but the last. `undefined` where `text` is not made like that.
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
