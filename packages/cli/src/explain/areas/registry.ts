/** Explanations of the codes of the package registry. A table is one piece. */

import type { Explanations } from "../explanation.ts";
import { library } from "../samples.ts";

export const explanations: Explanations = {
  REGISTRY_ALREADY_STARTED: {
    cause: "start() was called twice, or after stop(). A registry is used once.",
    files: library(
      "const registry = createRegistry();",
      "await registry.start();",
      "await registry.start();",
    ),
    run: "node program.mjs",
    fix: "Call start() once. After stop(), create a new registry.",
  },
  REGISTRY_BACKEND_NOT_FOUND: {
    cause: "A tool names a backend that was not registered, or the selector chose none.",
    files: library("const registry = createRegistry();", 'await registry.unregisterBackend("crm");'),
    run: "node program.mjs",
    fix: "Register the backend first, and use the same name.",
  },
  REGISTRY_EXECUTION_FAILED: {
    cause: "The tool ran and failed, or could not be run. cause has the original error.",
    files: library(
      "const registry = createRegistry();",
      "const add = () => {",
      '  throw new Error("no numbers");',
      "};",
      'registry.registerLocal("sum", "Adds", { type: "object" }, add, { namespace: "math" });',
      "await registry.start();",
      'await registry.execute("math:sum", {});',
    ),
    run: "node program.mjs",
    fix: "Look at cause and data of the error, and repair the tool or its arguments.",
  },
  REGISTRY_HANDLER_NOT_FOUND: {
    cause: "A local tool was registered without a function, or its function was removed.",
    files: library(
      "const registry = createRegistry();",
      'registry.registerLocal("sum", "Adds", { type: "object" });',
    ),
    run: "node program.mjs",
    repaired: {
      files: library(
        "const registry = createRegistry();",
        'registry.registerLocal("sum", "Adds", { type: "object" }, () => 1);',
      ),
    },
    fix: "Pass a function as the fourth argument.",
  },
  REGISTRY_INVALID_REQUEST: {
    cause:
      "An argument of the registry is not valid: a URL of an unknown scheme, a definition without an object as input schema, an option out of range.",
    files: library(
      "const registry = createRegistry();",
      'registry.registerBackend({ name: "crm", url: "ftp://example.com" });',
    ),
    run: "node program.mjs",
    fix: "Correct the argument that the message names.",
  },
  REGISTRY_NOT_STARTED: {
    cause: "The registry was used before start() or after stop().",
    files: library("const registry = createRegistry();", 'await registry.execute("local:sum", {});'),
    run: "node program.mjs",
    repaired: {
      files: library(
        "const registry = createRegistry();",
        "await registry.start();",
        'await registry.execute("local:sum", {});',
      ),
    },
    fix: "await registry.start() first; after stop(), create a new registry.",
  },
  REGISTRY_TOOL_NOT_FOUND: {
    cause: "No tool has this id.",
    files: library(
      "const registry = createRegistry();",
      "await registry.start();",
      'await registry.execute("local:add", {});',
    ),
    run: "node program.mjs",
    fix: "Use an id of listTools() or search().",
  },
  REGISTRY_UNAUTHORIZED: {
    cause: "A registry that a program serves got a request without valid credentials.",
    files: library(
      'const registry = createRegistry({ serverInfo: { name: "notes", version: "1.0.0" } });',
      "await registry.start();",
      "const handler = registry.serveHttp({ authenticate: () => undefined });",
      'const server = createServer(handler).listen(0, "127.0.0.1");',
      'await once(server, "listening");',
      "const { port } = server.address();",
      'const answer = await fetch("http://127.0.0.1:" + port, { method: "POST" });',
      "console.log(await answer.text());",
    ),
    did: "A client sends no token to a registry whose program knows its clients.",
    run: "node program.mjs",
    fix: "Send the credentials that the program's verifier accepts.",
  },
};
