/** The interface of the program log. The caller passes an implementation; this package has none. */

/** Receives log records: fields before the text, as in `pino`. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}
