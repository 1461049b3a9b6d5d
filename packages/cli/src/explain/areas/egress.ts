/** Explanations of the codes of the package egress. A table is one piece. */

import type { Explanations } from "../explanation.ts";
import { apiBefore, apiFiles, library, manifestFile, pairFiles, toolspecFiles } from "../samples.ts";

export const explanations: Explanations = {
  EGRESS_ADDRESS_DENIED: {
    cause:
      "The name of the host is allowed, but it resolves to an address that is not public: a private network, this machine, a link-local address with the credentials of a cloud machine. A name in DNS must not open the network of the gateway.",
    files: {
      ...toolspecFiles(", credentials: { token: { secret_key_ref: acme-token } }"),
      "token.txt": "abc\n",
    },
    before: [
      "echo 'egress: { connect_to: { api.acme.example: \"10.0.0.7:443\" } }' >> toolcrib.yaml",
      "toolcrib secret set acme-token < token.txt",
    ],
    run: "toolcrib call acme:get_repo --arg id=7",
    fix: "If the host is yours, allow its range: egress: { internal_ranges: [10.0.0.0/8] }. Otherwise correct the name, or the DNS entry.",
  },
  EGRESS_AUTHORITY_INVALID: {
    cause:
      "The egress takes URLs in one form only: https://, a host name in ASCII, a path. Addresses, user names, fragments and trailing dots can be read differently by two programs, so they are refused.",
    files: manifestFile(
      [
        '  - id: token\n    type: api_key\n    inject: { header: Authorization, format: "Bearer {token}" }\n',
        "",
      ],
      ["credentials:\n", "credentials: []\n"],
    ),
    run: "toolcrib egress --manifest manifest.yaml -- curl -sS https://192.0.2.7/",
    fix: "Write the plain host name. Convert names with other letters to their form in ASCII (xn--…), and send credentials in headers.",
  },
  EGRESS_AUTHORITY_MISMATCH: {
    cause:
      "The host of CONNECT, the name in the TLS handshake (SNI) and the Host header are not the same. A program could reach a forbidden host behind an allowed one (domain fronting).",
    files: manifestFile(
      [
        '  - id: token\n    type: api_key\n    inject: { header: Authorization, format: "Bearer {token}" }\n',
        "",
      ],
      ["credentials:\n", "credentials: []\n"],
    ),
    run: "toolcrib egress --manifest manifest.yaml -- curl -sS --http1.1 -H 'Host: cdn.example' https://api.acme.example/",
    fix: "Correct the program, or its settings of a proxy. With tls: passthrough, the client must name the host in its handshake and use no encrypted client hello (ECH).",
  },
  EGRESS_AUTHORITY_UNUSABLE: {
    cause:
      "The proxy signs certificates for contained processes with a local authority, whose key is in the home. The files cannot be read or written, are open to others, or do not belong together.",
    did: "The files of the authority were copied without their key.",
    prints:
      'Cannot use the local authority at "/home/ada/.toolcrib/egress/ca.pem": others can read or change it\nremove it to create a new one, and restart the processes that trust the old one',
    unrun: "machine",
    tested: "packages/egress/test/local-authority.process.test.ts",
    fix: "Remove the folder that the message names: a new authority is created at the next start. Restart contained servers, which trust the old one.",
  },
  EGRESS_CLOSED: {
    cause: "The gateway was stopping while the request was made.",
    files: library(
      'const deps = { directory: "egress", now: Date.now, randomBytes, onEvent() {} };',
      "const egress = createEgress({}, deps);",
      "await egress[Symbol.asyncDispose]();",
      'await egress.openProxy({ id: "process:notes", allow: [] });',
    ),
    did: "An embedding program uses an egress that it has closed.",
    run: "node program.mjs",
    fix: "Repeat the call when the gateway runs again, after checking whether it had an effect.",
  },
  EGRESS_CONNECTION_LOST: {
    cause:
      "The connection to the host broke before the response was complete, or the response became larger than is read.",
    files: apiFiles(),
    did: "The host ends the connection in the middle of its answer.",
    before: apiBefore,
    run: "toolcrib call acme:get_repo --arg id=lost",
    fix: "Check whether the request had an effect, then repeat it. If it happens always at the same size, ask for less at once.",
  },
  EGRESS_HOST_DENIED: {
    cause:
      "The source of the request (a toolspec, a package, a contained server) may reach the hosts of its egress list only, and this host is not in it. The refusal is on the audit trail.",
    files: manifestFile(
      [
        '  - id: token\n    type: api_key\n    inject: { header: Authorization, format: "Bearer {token}" }\n',
        "",
      ],
      ["credentials:\n", "credentials: []\n"],
    ),
    run: "toolcrib egress --manifest manifest.yaml -- curl -sS https://evil.example/",
    fix: "If the server needs the host and you know why, add it to containment.egress_allow of the server, or to entitlements.egress of the manifest. Otherwise find out what asked for it: toolcrib audit list --type egress.denied.",
  },
  EGRESS_LISTEN_FAILED: {
    cause:
      "The proxy of a contained process listens on a free port of this machine, and the system gave none.",
    files: library(
      'const deps = { directory: "egress", now: Date.now, randomBytes, onEvent() {} };',
      "const egress = createEgress({}, deps);",
      'await egress.openProxy({ id: "process:notes", allow: [], credentials: [] });',
      'execFileSync("prlimit", ["--nofile=64", "--pid", String(process.pid)]);',
      "try {",
      '  for (;;) openSync("program.mjs");',
      "} catch {",
      '  await egress.openProxy({ id: "process:crm", allow: [], credentials: [] });',
      "}",
    ),
    did: "The process has as many files open as it may have.",
    run: "node program.mjs",
    fix: "See which limit applies (ulimit -n, rules of the container), and restart the gateway.",
  },
  EGRESS_PLACEHOLDER_MISPLACED: {
    cause:
      "Contained programs get a placeholder instead of a secret, and the egress replaces it in the place that the manifest names, such as the header Authorization. Here the placeholder was sent elsewhere, where the secret would leak.",
    files: manifestFile(),
    did: "The program sends its token in the URL, and the manifest says that it belongs into a header.",
    before: ["sh -c 'umask 077; echo abc > token.txt'; toolcrib secret set token < token.txt"],
    run: "toolcrib egress --manifest manifest.yaml --secret token=token -- sh -c 'curl -sS https://api.acme.example/?token=$TOOLCRIB_CREDENTIAL_TOKEN'",
    fix: "Correct inject of the credential in the manifest if the API really takes it there, or the program.",
  },
  EGRESS_PLAIN_HTTP: {
    cause:
      "Requests in plain HTTP can be read and changed on their way, and secrets must not go there. The proxy passes on HTTPS only.",
    files: manifestFile(
      [
        '  - id: token\n    type: api_key\n    inject: { header: Authorization, format: "Bearer {token}" }\n',
        "",
      ],
      ["credentials:\n", "credentials: []\n"],
    ),
    run: "toolcrib egress --manifest manifest.yaml -- curl -sS http://api.acme.example/",
    fix: "Use the https:// URL. For a server that the program itself starts on this machine, set NO_PROXY in transport.env.",
  },
  EGRESS_PORT_DENIED: {
    cause: "Hosts of an egress list may be reached at port 443, unless the entry names others.",
    files: manifestFile(
      [
        '  - id: token\n    type: api_key\n    inject: { header: Authorization, format: "Bearer {token}" }\n',
        "",
      ],
      ["credentials:\n", "credentials: []\n"],
    ),
    run: "toolcrib egress --manifest manifest.yaml -- curl -sS https://api.acme.example:5432/",
    fix: "Name the port in the egress list if it is needed, such as db.example.com:5432.",
  },
  EGRESS_REQUEST_INVALID: {
    cause:
      "The request has a method, path or header that two programs could read differently, or is no HTTP at all. It is refused before it is sent.",
    files: manifestFile(
      [
        '  - id: token\n    type: api_key\n    inject: { header: Authorization, format: "Bearer {token}" }\n',
        "",
      ],
      ["credentials:\n", "credentials: []\n"],
    ),
    run: "toolcrib egress --manifest manifest.yaml -- curl -sS --http1.1 -X 'A B' https://api.acme.example/",
    fix: "Correct the program, or update it. The log of the gateway has the part that was refused.",
  },
  EGRESS_RESPONSE_INVALID: {
    cause:
      "The response is not valid HTTP, its headers are too large, or it is compressed in a way that cannot be read. Responses that cannot be read cannot be cleaned of secrets, so they are not passed on.",
    files: apiFiles(),
    did: "The host compresses its answer in another way than was asked for.",
    before: apiBefore,
    run: "toolcrib call acme:get_repo --arg id=compressed",
    fix: "Report it to the operator of the host. If the coding is at fault, ask for one that is supported (Accept-Encoding).",
  },
  EGRESS_SECRET_UNAVAILABLE: {
    cause:
      "The request needs the secret of a credential, and it cannot be read, or has characters that a header cannot carry. The request is not sent without it.",
    files: { ...pairFiles({}), "arguments.json": '{ "id": "7" }\n' },
    run: "toolcrib toolpack serve --manifest acme/manifests/acme/0.1.0.yaml --toolspec acme/toolspecs/acme/0.1.0.yaml --call get_repo < arguments.json",
    fix: "Store the secret: toolcrib secret set github-token. toolcrib secret test and toolcrib doctor check all of them.",
  },
  EGRESS_SETTINGS_INVALID: {
    cause:
      "A setting of the egress cannot be used: a range that is no address with bits, a target that is no address with a port, a certificate that is no PEM. In toolcrib.yaml such values are found by toolcrib config check.",
    files: library(
      'const deps = { directory: "egress", now: Date.now, randomBytes, onEvent() {} };',
      'createEgress({ internalRanges: ["10.0.0"] }, deps);',
    ),
    did: "An embedding program gives a range without a number of bits.",
    run: "node program.mjs",
    fix: "Write the value in the form of the hint.",
  },
  EGRESS_TIMED_OUT: {
    cause:
      "The host did not accept the connection, did not answer, or stopped in the middle of its answer for too long.",
    did: "An API is overloaded and does not answer.",
    prints: 'Cannot wait longer for "api.example.com": it does not answer',
    unrun: "setup",
    tested: "packages/egress/test/failures.test.ts",
    fix: "Try again later. If the API needs longer, raise containment.max_execution_seconds of its entry; if nothing is reached, check proxy and firewall.",
  },
  EGRESS_TLS_FAILED: {
    cause:
      "The certificate of the host is not valid for it: expired, for another name, by an authority that this machine does not know, or the host speaks no TLS. Often a company's proxy replaces certificates.",
    files: {
      ...toolspecFiles(", credentials: { token: { secret_key_ref: acme-token } }"),
      "token.txt": "abc\n",
    },
    before: [
      "echo 'egress: { internal_ranges: [127.0.0.0/8], connect_to: { api.acme.example: \"127.0.0.1:9000\" } }' >> toolcrib.yaml",
      "toolcrib secret set acme-token < token.txt",
    ],
    run: "toolcrib call acme:get_repo --arg id=7",
    fix: "Check with: openssl s_client -connect HOST:443 -servername HOST. For an authority of your own: egress: { ca_files: [/path/ca.pem] }.",
  },
  EGRESS_UNREACHABLE: {
    cause:
      "The name of the host has no address, or none of its addresses accepts a connection; or the configured proxy cannot be used.",
    files: {
      ...toolspecFiles(", credentials: { token: { secret_key_ref: acme-token } }"),
      "token.txt": "abc\n",
    },
    before: ["toolcrib secret set acme-token < token.txt"],
    run: "toolcrib call acme:get_repo --arg id=7",
    fix: "Check the name, the network, DNS and the proxy (https_proxy must be http://HOST:PORT).",
  },
  EGRESS_UPGRADE_REFUSED: {
    cause:
      "A request asks to change to another protocol, such as WebSocket. What follows could neither be checked nor cleaned of secrets.",
    files: manifestFile(
      [
        '  - id: token\n    type: api_key\n    inject: { header: Authorization, format: "Bearer {token}" }\n',
        "",
      ],
      ["credentials:\n", "credentials: []\n"],
    ),
    run: "toolcrib egress --manifest manifest.yaml -- curl -sS --http1.1 -H 'Upgrade: websocket' -H 'Connection: Upgrade' https://api.acme.example/",
    fix: "Let the program use plain requests. If it needs WebSocket, it cannot run with a scoped network: decide whether it may have network_egress: allow.",
  },
};
