/** The manifests for Kubernetes that a page shows fit together, and their configuration is one of the gateway. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { parseAllDocuments } from "yaml";

const root = fileURLToPath(new URL("../..", import.meta.url));
const page = readFileSync(join(root, "docs/operations/kubernetes.md"), "utf8");

// biome-ignore lint/suspicious/noExplicitAny: a manifest is data of another program, and each access is asserted.
type Manifest = any;

/** The values of the documents in a YAML text. */
function documentsOf(text: string): readonly Manifest[] {
  return parseAllDocuments(text).map((document) => {
    assert.deepEqual([...document.errors, ...document.warnings], []);
    return document.toJS() as Manifest;
  });
}

const manifests = documentsOf(/```yaml gateway\.k8s\.yaml\n([\s\S]*?)^```$/m.exec(page)?.[1] ?? "");
const byKind = new Map<string, Manifest>(manifests.map((manifest) => [manifest.kind, manifest]));
const stateful = byKind.get("StatefulSet");
const pod = stateful.spec.template.spec;
const container = pod.containers[0];

test("the manifests are of the versions and kinds that the page explains", () => {
  assert.deepEqual(
    manifests.map(({ apiVersion, kind, metadata }) => `${apiVersion} ${kind} ${metadata.name}`),
    ["v1 ConfigMap toolcrib", "v1 Secret toolcrib", "v1 Service toolcrib", "apps/v1 StatefulSet toolcrib"],
  );
});

test("one replica has one volume for its home", () => {
  assert.equal(stateful.spec.replicas, 1);
  assert.equal(stateful.spec.serviceName, byKind.get("Service").metadata.name);
  const { accessModes } = stateful.spec.volumeClaimTemplates[0].spec;
  assert.deepEqual(accessModes, ["ReadWriteOnce"]);
});

test("selectors select the pod, and the service leads to its port", () => {
  const { labels } = stateful.spec.template.metadata;
  assert.deepEqual(stateful.spec.selector.matchLabels, labels);
  assert.deepEqual(byKind.get("Service").spec.selector, labels);
  const ports = container.ports.map(({ name }: { name: string }) => name);
  assert.ok(ports.includes(byKind.get("Service").spec.ports[0].targetPort));
});

test("each mounted volume exists, and each volume is mounted", () => {
  const names = (list: readonly { name: string }[]) => list.map(({ name }) => name).toSorted();
  const claimed = stateful.spec.volumeClaimTemplates.map(({ metadata }: Manifest) => metadata);
  assert.deepEqual(names(container.volumeMounts), names([...pod.volumes, ...claimed]));
});

test("the probes ask paths that need no token, at a port and a host that the gateway accepts", () => {
  for (const probe of [container.startupProbe, container.livenessProbe, container.readinessProbe]) {
    assert.match(probe.httpGet.path, /^\/(?:healthz|readyz)$/);
    assert.equal(probe.httpGet.port, "mcp");
    assert.deepEqual(probe.httpGet.httpHeaders, [{ name: "Host", value: "localhost" }]);
  }
});

test("the configuration listens on the port of the container, and reads secrets that are mounted", () => {
  const [config] = documentsOf(byKind.get("ConfigMap").data["toolcrib.yaml"]);
  assert.equal(config.serve.listen, `0.0.0.0:${container.ports[0].containerPort}`);
  const { file } = config.tool_servers[0].transport.headers.Authorization.secret_key_ref;
  const mount = container.volumeMounts.find(({ name }: { name: string }) => name === "secrets");
  const names = Object.keys(byKind.get("Secret").stringData);
  assert.deepEqual(
    names.map((name) => `${mount.mountPath}/${name}`),
    [file],
  );
});
