/** Explanations of the codes of the package openapi. A table is one piece. */

import type { Explanations } from "../explanation.ts";

export const explanations: Explanations = {
  OPENAPI_BODY_UNFIT: {
    cause:
      "A request body has a form that tools cannot send, or belongs to a method without a body. The operation is imported without it, or left out if it needs it.",
    files: {
      "api.yaml": `openapi: 3.0.3
info: { title: Shop, version: "1" }
servers: [{ url: https://api.shop.example }]
paths:
  /items:
    get:
      operationId: find
      requestBody: { content: { application/json: { schema: { type: object } } } }
      responses: { "200": { description: ok } }
`,
    },
    run: "toolcrib import openapi api.yaml --name shop",
    fix: "Use the tool without the body, or write a tool for the operation by hand in the toolspec.",
  },
  OPENAPI_CREDENTIAL_HIDDEN: {
    cause:
      "A parameter is a credential of the API. The gateway sends it, so that models neither see nor choose it.",
    files: {
      "api.yaml": `openapi: 3.0.3
info: { title: Shop, version: "1" }
servers: [{ url: https://api.shop.example }]
paths:
  /items:
    get:
      operationId: find
      parameters: [{ name: api_key, in: query, schema: { type: string } }]
      responses: { "200": { description: ok } }
`,
    },
    run: "toolcrib import openapi api.yaml --name shop",
    fix: "Nothing, if it is a credential. If it is an argument, import with --keep-argument NAME.",
  },
  OPENAPI_CREDENTIAL_MISSING: {
    cause:
      "The document declares no credential, which often means that it was forgotten. Calls are then sent without one.",
    files: {
      "api.yaml": `openapi: 3.0.3
info: { title: Shop, version: "1" }
servers: [{ url: https://api.shop.example }]
paths:
  /items:
    get: { operationId: find, responses: { "200": { description: ok } } }
`,
    },
    run: "toolcrib import openapi api.yaml --name shop",
    fix: "If the API needs a credential, add it to credentials of the manifest; docs/reference/manifest.schema.json describes the field. If it is public, nothing.",
  },
  OPENAPI_CREDENTIAL_UNFIT: {
    cause:
      "A security scheme cannot be sent as a header or query parameter by the gateway, or another scheme was selected.",
    files: {
      "api.yaml": `openapi: 3.0.3
info: { title: Shop, version: "1" }
servers: [{ url: https://api.shop.example }]
security: [{ session: [] }]
components: { securitySchemes: { session: { type: apiKey, in: cookie, name: sid } } }
paths:
  /items:
    get: { operationId: find, responses: { "200": { description: ok } } }
`,
    },
    run: "toolcrib import openapi api.yaml --name shop",
    fix: "If the API takes another credential too, such as a token in a header, add it to credentials of the manifest by hand.",
  },
  OPENAPI_NAME_MISSING: {
    cause:
      "The name of a manifest is made from the title of the document, and this title has no letters or digits for one.",
    files: {
      "api.yaml": `openapi: 3.0.3
info: { title: "…", version: "1" }
servers: [{ url: https://api.shop.example }]
paths:
  /items:
    get: { operationId: find, responses: { "200": { description: ok } } }
`,
    },
    run: "toolcrib import openapi api.yaml",
    fix: "Give a name: --name shop.",
  },
  OPENAPI_OPERATION_DEPRECATED: {
    cause: "The document marks the operation as deprecated, so it is not imported unless it is named.",
    files: {
      "api.yaml": `openapi: 3.0.3
info: { title: Shop, version: "1" }
servers: [{ url: https://api.shop.example }]
paths:
  /items:
    get: { operationId: find, responses: { "200": { description: ok } } }
  /old:
    get: { operationId: oldFind, deprecated: true, responses: { "200": { description: ok } } }
`,
    },
    run: "toolcrib import openapi api.yaml --name shop",
    fix: "Use the operation that replaces it, or import it by name: --operation oldFind.",
  },
  OPENAPI_OPERATION_LIMIT: {
    cause:
      "More operations are selected than --max-tools allows (200, at most 1,000). A server with very many tools is hard to use for models.",
    files: {
      "api.yaml": `openapi: 3.0.3
info: { title: Shop, version: "1" }
servers: [{ url: https://api.shop.example }]
paths:
  /items:
    get: { operationId: find, responses: { "200": { description: ok } } }
    post: { operationId: add, responses: { "200": { description: ok } } }
`,
    },
    run: "toolcrib import openapi api.yaml --name shop --max-tools 1",
    fix: "Select what you need with --tag, --path, --method or --operation, or raise --max-tools.",
  },
  OPENAPI_OPERATION_MISSING: {
    cause: "A named operation is not in the document, or no operation is left that can be imported.",
    files: {
      "api.yaml": `openapi: 3.0.3
info: { title: Shop, version: "1" }
servers: [{ url: https://api.shop.example }]
paths:
  /items:
    get: { operationId: find, responses: { "200": { description: ok } } }
`,
    },
    run: "toolcrib import openapi api.yaml --name shop --operation fnd",
    fix: 'Name an operation that --list shows, by its operationId or as "GET /path".',
  },
  OPENAPI_OPERATION_UNFIT: {
    cause:
      "An operation cannot be called through a toolspec: another method than GET, POST, PUT, PATCH and DELETE, a required body of a form that cannot be sent, parameters that clash.",
    files: {
      "api.yaml": `openapi: 3.0.3
info: { title: Shop, version: "1" }
servers: [{ url: https://api.shop.example }]
paths:
  /items:
    get: { operationId: find, responses: { "200": { description: ok } } }
    head: { operationId: probe, responses: { "200": { description: ok } } }
`,
    },
    run: "toolcrib import openapi api.yaml --name shop",
    fix: "Use the others, or write a tool by hand.",
  },
  OPENAPI_PARAMETER_CHANGED: {
    cause:
      "A parameter can be sent only in part, or under another name, or the document does not declare a placeholder of a path.",
    files: {
      "api.yaml": `openapi: 3.0.3
info: { title: Shop, version: "1" }
servers: [{ url: https://api.shop.example }]
paths:
  /items/{id}:
    get: { operationId: get, responses: { "200": { description: ok } } }
`,
    },
    run: "toolcrib import openapi api.yaml --name shop",
    fix: "Check the parameter in the toolspec, and correct it if the API expects something else.",
  },
  OPENAPI_PARAMETER_UNFIT: {
    cause:
      "A parameter cannot be sent: a cookie, a form that requests do not have, or a placeholder that its path lacks. The tool is imported without it.",
    files: {
      "api.yaml": `openapi: 3.0.3
info: { title: Shop, version: "1" }
servers: [{ url: https://api.shop.example }]
paths:
  /items:
    get:
      operationId: find
      parameters: [{ name: id, in: path, required: true, schema: { type: string } }]
      responses: { "200": { description: ok } }
`,
    },
    run: "toolcrib import openapi api.yaml --name shop",
    fix: "If the tool needs the parameter, write it into the toolspec by hand.",
  },
  OPENAPI_REFERENCE: {
    cause: "A $ref leads nowhere, to itself, or into another document.",
    files: {
      "api.yaml": `openapi: 3.0.3
info: { title: Shop, version: "1" }
servers: [{ url: https://api.shop.example }]
paths:
  /items:
    get:
      operationId: find
      parameters: [{ $ref: "#/components/parameters/limit" }]
      responses: { "200": { description: ok } }
`,
    },
    run: "toolcrib import openapi api.yaml --name shop",
    fix: "Correct the reference, or copy the part into this document. Bundlers put documents of several files into one.",
  },
  OPENAPI_SERVER_CHANGED: {
    cause:
      "The address of a server is used in another form than the document has, such as https instead of http.",
    files: {
      "api.yaml": `openapi: 3.0.3
info: { title: Shop, version: "1" }
servers: [{ url: http://api.shop.example }]
paths:
  /items:
    get: { operationId: find, responses: { "200": { description: ok } } }
`,
    },
    run: "toolcrib import openapi api.yaml --name shop",
    fix: "Check that the API answers at the address that is used, or give another: --base-url https://HOST/PATH.",
  },
  OPENAPI_SERVER_UNFIT: {
    cause:
      "No server of the document has an address that a toolspec can use: it is relative, or an IP address.",
    files: {
      "api.yaml": `openapi: 3.0.3
info: { title: Shop, version: "1" }
servers: [{ url: /v1 }]
paths:
  /items:
    get: { operationId: find, responses: { "200": { description: ok } } }
`,
    },
    run: "toolcrib import openapi api.yaml --name shop",
    fix: "Give the address: --base-url https://HOST/PATH.",
  },
  OPENAPI_SYNTAX: {
    cause: "The document is neither YAML nor JSON that can be read.",
    files: {
      "api.yaml": `openapi: 3.0.3
info: { title: Shop
paths: {}
`,
    },
    run: "toolcrib import openapi api.yaml",
    fix: "Correct the place that the message shows. An HTML page was often saved instead of the document.",
  },
  OPENAPI_TOO_LARGE: {
    cause: "The document has more characters, more depth, or more references among its schemas than is read.",
    before: ["yes '# more' | head -c 34000000 > openapi.yaml"],
    run: "toolcrib import openapi openapi.yaml",
    fix: "Use the document of the part that you need, or select operations with --tag, --path or --operation.",
  },
  OPENAPI_TYPE_NARROWED: {
    cause: "The document allows several types for a value, and a parameter of a tool has one.",
    files: {
      "api.yaml": `openapi: 3.1.0
info: { title: Shop, version: "1" }
servers: [{ url: https://api.shop.example }]
paths:
  /items:
    post:
      operationId: add
      requestBody:
        content:
          application/json:
            schema: { type: object, properties: { tags: { type: [array, object] } } }
      responses: { "200": { description: ok } }
`,
    },
    run: "toolcrib import openapi api.yaml --name shop",
    fix: "Change the type in the toolspec if another one is needed.",
  },
  OPENAPI_VERSION: {
    cause:
      "OpenAPI 3.0 and 3.1 are supported. This document is of Swagger 2, of a later version, or states none.",
    files: {
      "api.yaml": `swagger: "2.0"
info: { title: Shop, version: "1" }
paths: {}
`,
    },
    run: "toolcrib import openapi api.yaml",
    fix: "Convert it first, with a converter such as swagger2openapi, or get the document of version 3 from the publisher.",
  },
};
