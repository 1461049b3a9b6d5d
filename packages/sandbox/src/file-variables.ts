/**
 * The variables by which servers of the catalog get the file that they write, for advice about entries that name the
 * package alone. The manifests of the catalog have them as requirements (`value: written_file`), and a test compares.
 */

/** Variables by the name of the package in its registry. */
const fileVariables: { readonly [name: string]: string } = {
  "@modelcontextprotocol/server-memory": "MEMORY_FILE_PATH",
};

/** Returns the variable for the file of the package that a command line names; undefined where none is known. */
export function fileVariableOf(args: readonly string[]): string | undefined {
  const names = args.map((word) => word.replace(/(?<=.)(?:@|==)[^@/]*$/, ""));
  return names.flatMap((name) => (Object.hasOwn(fileVariables, name) ? [fileVariables[name]] : [])).at(0);
}
