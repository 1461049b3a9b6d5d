/**
 * Names and methods that other languages define and Starlark does not, with
 * replacements. The resolver uses them for undefined names, and the machine for
 * missing methods. They are hints only and never decide whether a name is an error.
 */

/** Replacements for names of other languages and of the standard library of Python. */
const foreignNames: ReadonlyMap<string, string> = new Map([
  ["null", "write None"],
  ["nil", "write None"],
  ["undefined", "write None"],
  ["NULL", "write None"],
  ["NaN", 'write float("nan")'],
  ["true", "write True"],
  ["TRUE", "write True"],
  ["false", "write False"],
  ["FALSE", "write False"],
  ["isinstance", 'write type(x) == "string" (or "int", "float", "list", "dict", "bool", "NoneType")'],
  ["issubclass", "there are no classes"],
  ["super", "there are no classes"],
  ["self", "there are no classes; pass the value as a parameter"],
  ["this", "there are no classes; pass the value as a parameter"],
  ["map", "write [f(x) for x in xs]"],
  ["filter", "write [x for x in xs if f(x)]"],
  ["reduce", "write a for loop"],
  ["sum", "add up in a for loop"],
  ["round", "write int(x + 0.5) for a number that is not negative"],
  ["pow", "multiply, or write math.pow(x, y)"],
  ["iter", "write a for loop"],
  ["next", "write a for loop"],
  ["frozenset", "write tuple(xs) or set(xs)"],
  ["format", 'write "{}".format(x)'],
  ["input", "a program has no terminal; pass the input as a parameter"],
  ["open", "a program has no files"],
  ["eval", "a program cannot run text"],
  ["exec", "a program cannot run text"],
  ["compile", "a program cannot run text"],
  ["require", 'write load("module.star", "name")'],
  ["console", "write print(x)"],
  ["JSON", "write json.encode(x) and json.decode(text)"],
  ["Math", "write math.floor(x), math.ceil(x) and so on"],
  ["Exception", 'write fail("what went wrong") to stop with an error'],
  ["ValueError", 'write fail("what went wrong") to stop with an error'],
  ["raise", 'write fail("what went wrong")'],
  ["throw", 'write fail("what went wrong")'],
  ["end", "blocks end with their indentation; remove the word"],
]);

/** A hint for an undefined `name` that other languages define. */
export function foreignNameHint(name: string): string | undefined {
  return foreignNames.get(name);
}

/** Replacements for methods that strings, lists and dicts have in other languages. */
const foreignMethods: ReadonlyMap<string, string> = new Map([
  ["has_key", "write key in d"],
  ["iteritems", "write d.items()"],
  ["iterkeys", "write d.keys()"],
  ["itervalues", "write d.values()"],
  ["hasOwnProperty", "write key in d"],
  ["push", "write xs.append(x)"],
  ["includes", "write x in xs"],
  ["indexOf", "write xs.index(x), or s.find(x) for a string"],
  ["forEach", "write for x in xs:"],
  ["toString", "write str(x)"],
  ["toUpperCase", "write s.upper()"],
  ["toLowerCase", "write s.lower()"],
  ["trim", "write s.strip()"],
  ["startsWith", "write s.startswith(x)"],
  ["endsWith", "write s.endswith(x)"],
  ["replaceAll", "write s.replace(old, new)"],
]);

/** A hint for the method `name`, which no Starlark value has. Also used at run time. */
export function foreignMethodHint(name: string): string | undefined {
  return foreignMethods.get(name);
}
