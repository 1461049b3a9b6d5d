/** A text is not JSON. */
export const jsonInvalid = "JSON_INVALID";
/** A JSON text is longer than its limit. */
export const jsonTooLarge = "JSON_TOO_LARGE";
/** A JSON text nests deeper than its limit. */
export const jsonTooDeep = "JSON_TOO_DEEP";
/** A value cannot be written as JSON (a function, a date, a cycle, a number that is not finite). */
export const jsonNotSerializable = "JSON_NOT_SERIALIZABLE";
