/** Writing YAML by hand, so that it can carry comments: scalars and nothing else. Pure. */

/** Words that YAML 1.1 or 1.2 readers take for something else than a text. */
const special = /^(?:null|true|false|yes|no|on|off|y|n|~)$/i;

/** `text` as a scalar that every YAML reader takes for that text. */
export function yamlText(text: string): string {
  const isPlain =
    /^[A-Za-z_/.][A-Za-z0-9_./@+-]*(?: [A-Za-z0-9_./@+-]+)*$/.test(text) &&
    !special.test(text) &&
    !/^[.]+$/.test(text);
  // A JSON text is a double-quoted scalar of YAML 1.2.
  return isPlain ? text : JSON.stringify(text);
}

/** `values` as a list on one line. */
export function yamlList(values: readonly string[]): string {
  return `[${values.map(yamlText).join(", ")}]`;
}

/** `text` as lines of comment. */
export function yamlComment(text: string, indentation: string): string[] {
  return text.split(/\r?\n/).map((line) => `${indentation}# ${line}`.trimEnd());
}
