/** Recognizes random texts, as keys and tokens of no known form are. Pure. */

/**
 * Whether a text is random: letters and digits in no order that a word, a path or a version has. A digest in
 * hexadecimal digits is one, too, as many keys are; an address of a blockchain and a UUID are none.
 */
export function hasHighEntropy(text: string): boolean {
  const value = withoutBreaks(text.trim());
  if (!/^[A-Za-z0-9_+/=-]{24,}$/.test(value) || !/[0-9]/.test(value) || !/[A-Za-z]/.test(value)) return false;
  if (/^\d{4}-\d\d-\d\d|^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-|^0x[0-9a-f]{40}$/i.test(value)) return false;
  // Names of several words, in which each number stands for itself, as that of an account in the name of a bucket.
  const parts = value.split(/[-_]/);
  const words = parts.filter((part) => /^[A-Za-z]{1,}$|^[a-z]{2,}\d{1,2}$/.test(part)).length;
  if (parts.length >= 3 && words >= 2 && parts.every((part) => isNamePart(part))) return false;
  // Words have separators or capitals between them, and few digits.
  if (
    value
      .split(/[-_/+=]|(?=[A-Z][a-z])/)
      .every((part) => /^(?:[A-Za-z]{2,}\d{0,3}|[A-Za-z]\d{1,2}|\d{1,4}|20\d{6}|)$/.test(part))
  )
    return false;
  const counts = new Map<string, number>();
  for (const character of value) counts.set(character, (counts.get(character) ?? 0) + 1);
  const entropy = [...counts.values()].reduce(
    (sum, count) => sum - (count / value.length) * Math.log2(count / value.length),
    0,
  );
  return entropy > (/^[0-9a-f]+$/i.test(value) ? 3 : 3.6);
}

function isNamePart(part: string): boolean {
  return /^(?:[a-z]{1,24}\d{0,2}|[A-Z]{1,24}\d{0,2}|[A-Z][a-z]{1,24}|\d{1,14})$/.test(part);
}

/** Base64 in lines of the usual lengths as one text. */
function withoutBreaks(text: string): string {
  return /^[A-Za-z0-9+/=]{60,76}\r?\n/.test(text) ? text.replace(/\r?\n/g, "") : text;
}
