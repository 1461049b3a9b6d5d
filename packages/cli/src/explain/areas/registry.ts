/** Explanations of the codes of the package registry. A table is one piece. */

import type { Explanations } from "../explanation.ts";

export const explanations: Explanations = {
  REGISTRY_ALREADY_STARTED: {
    cause: "start() was called twice, or after stop(). A registry is used once.",
    did: "A program calls registry.start() in two places.",
    prints: "The registry is already started",
    unrun: "library",
    fix: "Call start() once. After stop(), create a new registry.",
  },
  REGISTRY_BACKEND_NOT_FOUND: {
    cause: "A tool names a backend that was not registered, or the selector chose none.",
    did: 'registry.removeBackend("crm") is called with a misspelled name.',
    prints: 'No backend is named "crm"',
    unrun: "library",
    fix: "Register the backend first, and use the same name.",
  },
  REGISTRY_EXECUTION_FAILED: {
    cause: "The tool ran and failed, or could not be run. cause has the original error.",
    did: "The function of a local tool throws.",
    prints: '"local:sum" failed: values is not iterable',
    unrun: "library",
    fix: "Look at cause and data of the error, and repair the tool or its arguments.",
  },
  REGISTRY_HANDLER_NOT_FOUND: {
    cause: "A local tool was registered without a function, or its function was removed.",
    did: "registerLocal is called with a definition only.",
    prints: 'The local tool "sum" is registered without a handler\npass a function as the fourth argument',
    unrun: "library",
    fix: "Pass a function as the fourth argument.",
  },
  REGISTRY_INVALID_REQUEST: {
    cause:
      "An argument of the registry is not valid: a URL of an unknown scheme, a definition without an object as input schema, an option out of range.",
    did: "registerMCP is called with ftp://example.com.",
    prints:
      "A backend URL must not contain user information\nallowed are http://, https://, sse://, sses:// and stdio://; credentials go into headers",
    unrun: "library",
    fix: "Correct the argument that the message names.",
  },
  REGISTRY_NOT_STARTED: {
    cause: "The registry was used before start() or after stop().",
    did: "A program searches before it starts the registry.",
    prints: "Cannot search: the registry is not started\ncall start() first",
    unrun: "library",
    fix: "await registry.start() first; after stop(), create a new registry.",
  },
  REGISTRY_TOOL_NOT_FOUND: {
    cause: "No tool has this id.",
    did: 'A program executes "local:add" and registered "sum".',
    prints: 'No tool has the id "local:add"\nsee listTools() and search()',
    unrun: "library",
    fix: "Use an id of listTools() or search().",
  },
  REGISTRY_UNAUTHORIZED: {
    cause: "A registry that a program serves got a request without valid credentials.",
    did: "A client sends no token to a registry with a verifier.",
    prints: "The request has no valid credentials",
    unrun: "library",
    fix: "Send the credentials that the program's verifier accepts.",
  },
};
