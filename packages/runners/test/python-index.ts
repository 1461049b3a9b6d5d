/** A package index for Python on a loopback port (PEP 503), which serves wheels that tests publish. */

import { createHash } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { crc32 } from "node:zlib";

interface Wheel {
  readonly name: string;
  readonly file: string;
  readonly bytes: Buffer;
}

/** An index with the wheels that were published to it. */
export class PythonIndex implements AsyncDisposable {
  readonly #wheels: Wheel[] = [];
  /** Paths that were requested. */
  readonly requests: string[] = [];
  readonly #server = createServer((request, response) => {
    const path = request.url ?? "/";
    this.requests.push(path);
    const wheel = this.#wheels.find(({ file }) => path === `/files/${file}`);
    if (wheel !== undefined) return void response.end(wheel.bytes);
    const listed = this.#wheels.filter(({ name }) => path === `/simple/${name}/`);
    if (listed.length === 0) return void response.writeHead(404).end();
    response.setHeader("content-type", "text/html");
    const links = listed.map(
      ({ file, bytes }) => `<a href="/files/${file}#sha256=${sha256(bytes, "hex")}">${file}</a>`,
    );
    response.end(`<!DOCTYPE html><html><body>${links.join("\n")}</body></html>`);
  });

  async listen(): Promise<this> {
    await new Promise<void>((resolve) => {
      this.#server.listen(0, "127.0.0.1", resolve);
    });
    return this;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/simple/`;
  }

  /** Publishes version 1.0 of a package whose program prints the result of a Python expression. */
  publish(name: string, expression: string, requires = ">=3.8"): void {
    const module = name.replaceAll("-", "_");
    const info = `${module}-1.0.dist-info`;
    const files = new Map([
      [`${module}.py`, `import os, sys\n\ndef main():\n    print(${expression})\n`],
      [
        `${info}/METADATA`,
        `Metadata-Version: 2.1\nName: ${name}\nVersion: 1.0\nRequires-Python: ${requires}\n`,
      ],
      [`${info}/WHEEL`, "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"],
      [`${info}/entry_points.txt`, `[console_scripts]\n${name} = ${module}:main\n`],
    ]);
    const record = [...files].map(
      ([path, text]) => `${path},sha256=${sha256(Buffer.from(text), "base64url")},${Buffer.byteLength(text)}`,
    );
    files.set(`${info}/RECORD`, `${[...record, `${info}/RECORD,,`].join("\n")}\n`);
    this.#wheels.push({ name, file: `${module}-1.0-py3-none-any.whl`, bytes: zipOf(files) });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

function sha256(bytes: Buffer, encoding: "hex" | "base64url"): string {
  return createHash("sha256").update(bytes).digest(encoding);
}

/** A ZIP archive whose files are stored as they are (APPNOTE 4.3). */
function zipOf(files: ReadonlyMap<string, string>): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const [path, text] of files) {
    const [name, content] = [Buffer.from(path), Buffer.from(text)];
    // From the needed version to the length of extra fields: the same in both headers.
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(0x21, 8);
    common.writeUInt32LE(crc32(content), 10);
    common.writeUInt32LE(content.length, 14);
    common.writeUInt32LE(content.length, 18);
    common.writeUInt16LE(name.length, 22);
    const local = Buffer.concat([Buffer.from("PK\x03\x04", "latin1"), common, name, content]);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(offset, 10);
    directory.push(Buffer.from("PK\x01\x02\x14\x00", "latin1"), common, rest, name);
    parts.push(local);
    offset += local.length;
  }
  const central = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write("PK\x05\x06", 0, "latin1");
  end.writeUInt16LE(files.size, 8);
  end.writeUInt16LE(files.size, 10);
  end.writeUInt32LE(central.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...parts, central, end]);
}
