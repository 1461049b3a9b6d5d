/** Codes of this package's errors, each with its meaning. */
export const diagnosticsCodes = {
  LIBRARY_UNAVAILABLE: "A library of the installation that an operation needs cannot be loaded.",
} as const;
