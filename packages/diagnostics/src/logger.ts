/** The program log as the rest of the house knows it. Who writes it, and where to, is not the business of this package. */

/** Where records of a program go: fields before the text, as `pino` takes them. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}
