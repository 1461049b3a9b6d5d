/**
 * Recognizes plain texts that YAML 1.1 readers interpret differently: `on` as
 * true, `010` as eight, `1e3` as a text. Toolcrib reads YAML 1.2; other programs
 * that read the same file may read YAML 1.1.
 */

const booleans = /^(?:y|Y|yes|Yes|YES|n|N|no|No|NO|on|On|ON|off|Off|OFF)$/;
const octal = /^[-+]?0[0-7_]+$/;
const newOctal = /^0o[0-7]+$/;
const underscored = /^[-+]?[1-9][0-9]*_[0-9_]*$/;
const sexagesimal = /^[-+]?[1-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?$/;
const binary = /^[-+]?0b[01_]+$/;
const exponent = /^[-+]?[0-9]+(?:\.[0-9]*)?[eE][0-9]+$|^[-+]?[0-9]+[eE][-+][0-9]+$/;
const date = /^[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt \t].*)?$/;

/** Describes how a YAML 1.1 reader interprets the plain text `text`; `undefined` if it reads the same value. */
export function yaml11Meaning(text: string): string | undefined {
  if (booleans.test(text)) return /^(?:y|on)/i.test(text) ? "true" : "false";
  if (text === "=") return "its default value";
  if (octal.test(text)) return "an octal number";
  if (binary.test(text)) return "a binary number";
  if (newOctal.test(text) || exponent.test(text)) return "a text";
  if (underscored.test(text)) return "a number";
  if (sexagesimal.test(text)) return "a number to base 60";
  return date.test(text) ? "a date" : undefined;
}
