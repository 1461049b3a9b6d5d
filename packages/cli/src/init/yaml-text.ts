/** Formats YAML scalars and comments. Pure. */

/** Words that a YAML 1.1 or 1.2 reader does not read as text. */
const special = /^(?:null|true|false|yes|no|on|off|y|n|~)$/i;

/** Returns `text` as a scalar that every YAML reader reads as this text. */
export function yamlText(text: string): string {
  const isPlain =
    /^[A-Za-z_/.][A-Za-z0-9_./@+-]*(?: [A-Za-z0-9_./@+-]+)*$/.test(text) &&
    !special.test(text) &&
    !/^[.]+$/.test(text);
  // A JSON text is a double-quoted scalar of YAML 1.2.
  return isPlain ? text : JSON.stringify(text);
}

/** Returns `text` as comment lines. */
export function yamlComment(text: string, indentation: string): string[] {
  return text.split(/\r?\n/).map((line) => `${indentation}# ${line}`.trimEnd());
}
