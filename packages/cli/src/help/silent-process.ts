/** The process of a program that is built for its definitions and prints nothing. */
export const silentProcess = {
  args: ["--no-color"],
  stdout: { write: () => true } as unknown as NodeJS.WriteStream,
  stderr: { write: () => true } as unknown as NodeJS.WriteStream,
};
