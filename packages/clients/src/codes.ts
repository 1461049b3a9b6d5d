/** Codes of this package's errors, each with its meaning. */
export const clientsCodes = {
  CLIENTS_FILE_SYNTAX: "The configuration file of a client is not readable in its format.",
  CLIENTS_FILE_SHAPE:
    "The configuration file of a client has another form than Toolcrib can add a server to; it is not changed.",
  CLIENTS_ENTRY_INVALID:
    "A server in the configuration file of a client has a form that cannot be imported; the others are.",
  CLIENTS_FILE_TOO_LARGE: "The configuration file of a client is larger than is edited.",
} as const;

/** A code of this package. */
export type ClientsCode = keyof typeof clientsCodes;
