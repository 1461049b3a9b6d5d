/**
 * The commands of pages that are not run by the runner of pages: those that no test runs, each with its reason, and those
 * that another test takes from their page. A test fails where a command is neither run nor here, and where an entry has no
 * such command any more.
 */

/** Commands that no test runs, with the reason: none today. */
export const notRun: { readonly [page: string]: { readonly [command: string]: string } } = {};

const inDocker = "scripts/test/containers.process.test.ts";
const inImage = "packages/cli/test/e2e/gateway-image.process.test.ts";
const installed = "scripts/verify-release.ts";
const checkout = "scripts/verify-checkout.ts";
const adopted = "scripts/verify-adopted-servers.ts";
const continuousIntegration = ".ci/run";
const firstDay = "scripts/verify-first-day.ts";
const onMachine = "packages/cli/test/pages/systemd.process.test.ts";
const cluster = "scripts/verify-cluster.ts";
const realClients = "scripts/verify-real-clients.ts";

/** Commands that the named file takes from their page and runs; the script of CI has them as its own lines. */
export const ranElsewhere: { readonly [page: string]: { readonly [command: string]: string } } = {
  "../README.md": {
    "npm ci && npm start": checkout,
    "npm ci && npm test": continuousIntegration,
  },
  "getting-started.md": {
    "git clone REPOSITORY toolcrib && cd toolcrib": checkout,
    "npm ci": checkout,
    'export PATH="$PWD/node_modules/.bin:$PATH"': checkout,
    "toolcrib --version": checkout,
    "npm run release -- --dry-run": checkout,
    "npm install --global ./release/toolcrib-0.1.0.tgz": checkout,
    "toolcrib add time": adopted,
  },
  "guides/adopted-servers.md": {
    "toolcrib add time": adopted,
    "toolcrib add filesystem --server-arg /srv/docs --read /srv/docs": adopted,
    "toolcrib add memory --env MEMORY_FILE_PATH=/srv/memory/graph.jsonl --write /srv/memory": adopted,
    "toolcrib add grafana --env GRAFANA_URL=https://acme.grafana.net": adopted,
  },
  "index.md": {
    "git clone REPOSITORY toolcrib && cd toolcrib": checkout,
    "npm ci": checkout,
  },
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
  "library.md": { "npm install ./toolcrib-registry-0.1.0.tgz": installed },
  "operations/upgrade.md": {
    "npm install --global ./toolcrib-0.2.0.tgz": installed,
    "npm install --global ./toolcrib-0.1.0.tgz": installed,
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
