/**
 * The commands of pages that are not run by the runner of pages: those that no test runs, each with its reason, and those
 * that another test takes from their page. A test fails where a command is neither run nor here, and where an entry has no
 * such command any more.
 */

const adopted =
  "downloads from a public registry; npm run verify -- adopted-servers adds servers of each registry";

/** Commands that no test runs, with the reason. */
export const notRun: { readonly [page: string]: { readonly [command: string]: string } } = {
  "../README.md": {
    "npm ci && npm start":
      "the tests run in a checkout after npm ci; the transcript below it runs the servers of npm start",
    "npm ci && npm test": "it would start the tests within the tests",
  },
  "getting-started.md": {
    "git clone REPOSITORY toolcrib && cd toolcrib": "the tests run in such a checkout",
    "npm ci": "the tests run in a checkout after npm ci",
    "toolcrib add time": adopted,
  },
  "guides/adopted-servers.md": {
    "toolcrib add time": adopted,
    "toolcrib add filesystem --server-arg /srv/docs --read /srv/docs": adopted,
    "toolcrib add memory --env MEMORY_FILE_PATH=/srv/memory/graph.jsonl --write /srv/memory": adopted,
    "toolcrib add grafana --env GRAFANA_URL=https://acme.grafana.net": adopted,
  },
  },
};

const inDocker = "scripts/test/containers.process.test.ts";
const inImage = "packages/cli/test/e2e/gateway-image.process.test.ts";
const installed = "scripts/verify-release.ts";
const firstDay = "scripts/verify-first-day.ts";
const onMachine = "packages/cli/test/pages/systemd.process.test.ts";
const cluster = "scripts/verify-cluster.ts";
const realClients = "scripts/verify-real-clients.ts";

/** Commands that the named file takes from their page and runs. */
export const ranElsewhere: { readonly [page: string]: { readonly [command: string]: string } } = {
  "getting-started.md": {
    "npm install --global toolcrib": installed,
    "npm install --global ./toolcrib-0.1.0.tgz": installed,
  },
  "index.md": { "npm install --global toolcrib": installed },
  "clients/claude-code.md": { "claude mcp list": realClients },
  "clients/codex.md": { "codex mcp list": realClients },
  "clients/gemini-cli.md": { "gemini mcp list": realClients },
  "clients/opencode.md": { "opencode mcp list": realClients },
  "migrate/supergateway.md": {
    'npx -y supergateway --stdio "npx -y @modelcontextprotocol/server-filesystem ./my-folder" --outputTransport streamableHttp --stateful --sessionTimeout 60000 --port 8000':
      realClients,
    'npx -y supergateway --streamableHttp "https://mcp.example.com/mcp" --oauth2Bearer "some-access-token"':
      realClients,
  },
  "library.md": { "npm install @toolcrib/registry": installed },
  "operations/upgrade.md": {
    "npm install --global toolcrib@0.2.0": installed,
    "npm install --global toolcrib@0.1.0": installed,
  },
  "guides/toolpack-images.md": {
    "docker load --input out/github-0.1.0.oci.tar": inDocker,
    "skopeo copy oci:./github-image/image docker://registry.example.com/github:0.1.0": inDocker,
    "skopeo copy --preserve-digests oci:./github-image/image docker://registry.example.com/github:0.1.0":
      inDocker,
  },
  "operations/container.md": {
    "docker build --tag toolcrib:0.1.0 .": inDocker,
    'docker run --detach --name gateway --read-only --tmpfs /tmp --cap-drop ALL --security-opt no-new-privileges --publish 127.0.0.1:7420:7420 --volume toolcrib-home:/data --volume "$PWD/config:/config:ro" toolcrib:0.1.0':
      inDocker,
    "docker exec gateway toolcrib status": inDocker,
    "docker exec gateway toolcrib token create desk": inDocker,
    "docker cp gateway:/data/tokens/desk desk.token": inDocker,
    "docker exec gateway toolcrib sandbox check": inDocker,
    "docker run --rm --read-only --tmpfs /tmp --cap-drop ALL --security-opt no-new-privileges --security-opt seccomp=unconfined --security-opt systempaths=unconfined toolcrib:0.1.0 toolcrib sandbox check":
      inDocker,
  },
  "operations/kubernetes.md": {
    "kubectl apply --dry-run=server --filename gateway.k8s.yaml": cluster,
    "kubectl apply --filename gateway.k8s.yaml": cluster,
    "kubectl exec toolcrib-0 -- toolcrib status": inImage,
    "kubectl exec toolcrib-0 -- toolcrib token create desk": inImage,
    "kubectl exec toolcrib-0 -- cat /data/tokens/desk": cluster,
  },
  "operations/systemd.md": {
    "useradd --system --home-dir /var/lib/toolcrib --shell /usr/sbin/nologin toolcrib": onMachine,
    "systemctl daemon-reload": onMachine,
    "systemctl enable --now toolcrib": onMachine,
    "systemctl reload toolcrib": onMachine,
    "journalctl --unit toolcrib --follow": onMachine,
    "sudo -u toolcrib TOOLCRIB_HOME=/var/lib/toolcrib toolcrib status": onMachine,
  },
};

/** Pages whose transcripts the named file runs. */
export const transcriptsElsewhere: { readonly [page: string]: string } = {
  "../README.md": "packages/cli/test/e2e/readme.process.test.ts",
};

/** Pages whose commands the named file takes and runs. */
export const pagesElsewhere: { readonly [page: string]: string } = {
  "guides/first-day.md": firstDay,
};
