/**
 * Validators of results, for all clients of a process. By default each client creates them with the metaschema, and
 * compiles the output schemas of all tools that it lists: most of what the client does in a test.
 */

import type { ClientOptions } from "@modelcontextprotocol/sdk/client/index.js";
import { AjvJsonSchemaValidator } from "@modelcontextprotocol/sdk/validation/ajv";

type Validators = NonNullable<ClientOptions["jsonSchemaValidator"]>;
type Schema = Parameters<Validators["getValidator"]>[0];
type Validator = ReturnType<Validators["getValidator"]>;

const compiler = new AjvJsonSchemaValidator();
const bySchema = new Map<string, Validator>();

/** Compiles each schema once, as the SDK does. */
export const sharedValidators: Validators = {
  getValidator<T>(schema: Schema) {
    const text = JSON.stringify(schema);
    // Schemas with the same `$id` are independent, as those of two clients are.
    const own = text.includes('"$id"') ? new AjvJsonSchemaValidator() : compiler;
    const validator = bySchema.get(text) ?? own.getValidator(schema);
    bySchema.set(text, validator);
    return validator as ReturnType<typeof AjvJsonSchemaValidator.prototype.getValidator<T>>;
  },
};
