import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import {
  benignNames,
  caseHost,
  endpointCases,
  hostTexts,
  leftOut,
  redirectTargets,
  runsAll,
  type Sinks,
  sampled,
} from "@toolcrib/testing";
import { checkForeign, curlUrls, fetchByCurl, hasCurl } from "./hosts/egress-entry.ts";
import { batchesOf, openEngineEntry, startOpenProxy, variableTexts } from "./hosts/engine-entry.ts";
import {
  benignRows,
  connectRows,
  dnsRows,
  handshakeRows,
  http2Rows,
  insideRows,
  plainRows,
} from "./hosts/foreign-cases.ts";
import { checkConfigurations, type GatewayEntry, openGatewayEntry } from "./hosts/gateway-entry.ts";
import {
  checkArrived,
  checkAttempts,
  checkSinks,
  forEachOf,
  type HostSetting,
  startHostSetting,
  startHostSinks,
} from "./hosts/host-setting.ts";
import {
  type CallTool,
  checkBenign,
  checkRedirects,
  checkTexts,
  checkValues,
  valueCases,
} from "./hosts/tool-calls.ts";

const step = 12;
/** Number of executed cases by entry point. */
const counts = { gateway: 0, engine: 0, egress: 0 };

/** Returns the cases to run, and counts them for `entry`. */
function casesOf<T>(entry: keyof typeof counts, cases: readonly T[]): readonly T[] {
  const chosen = sampled(cases, step);
  counts[entry] += chosen.length;
  return chosen;
}

/** Returns a sample of `cases`; the gateway runs all of them. */
function everyNth<T>(cases: readonly T[], nth: number): readonly T[] {
  return cases.filter((_, index) => index % nth === 0);
}

describe("access to other hosts", () => {
  let sinks: Sinks;
  before(async () => {
    sinks = await startHostSinks();
  });
  after(async () => {
    await sinks?.[Symbol.asyncDispose]();
  });

  describe("through each entry point", { concurrency: true }, () => {
    describe("through the engine of a gateway", { concurrency: 1 }, () => {
      let setting: HostSetting;
      let entry: GatewayEntry;
      before(async () => {
        setting = await startHostSetting(sinks);
        entry = await openGatewayEntry(setting);
      });
      after(async () => {
        await entry?.[Symbol.asyncDispose]();
        await setting?.[Symbol.asyncDispose]();
      });

      it("refuses every configuration whose variables produce another host", async () => {
        await checkConfigurations(setting, casesOf("gateway", hostTexts));
      });

      it("keeps hostile argument values in their position", async () => {
        await checkValues(entry.call, setting, casesOf("gateway", valueCases));
      });

      it("follows no redirect to another host", async () => {
        await checkRedirects(entry.call, casesOf("gateway", redirectTargets));
      });

      it("connects to no internal address from DNS, at any time", async () => {
        const cases = casesOf("gateway", [...setting.dnsCases.entries()]);
        await forEachOf(cases, async ([index, { host, answers }]) => {
          for (let nth = 1; nth < answers.length; nth += 1) {
            const first = await entry.call(`dns_${index}`, {});
            assert.equal(first.code, "EGRESS_UNREACHABLE", first.text);
          }
          const { code, text } = await entry.call(`dns_${index}`, {});
          assert.equal(code, "EGRESS_ADDRESS_DENIED", `${host} ${JSON.stringify(answers)}: ${text}`);
          assert.equal(setting.dns.askedFor(host), answers.length);
        });
      });

      it("checks the addresses that an operator configures", async () => {
        for (const [index, endpoint] of casesOf("gateway", [...endpointCases.entries()])) {
          // Some systems have only one loopback address.
          if (endpoint.startsWith(`${setting.address}:`)) continue;
          const { code } = await entry.call(`to_${index}`, {});
          assert.equal(code, "EGRESS_ADDRESS_DENIED", endpoint);
        }
      });

      it(`reaches ${benignNames.length} hosts with unusual names`, async () => {
        await checkBenign(entry.call, setting);
        checkAttempts(setting, "gateway");
        checkArrived(setting);
      });
    });

    describe("through the standalone engine", { concurrency: 1 }, () => {
      let setting: HostSetting;
      before(async () => {
        setting = await startHostSetting(sinks);
      });
      after(async () => {
        await setting?.[Symbol.asyncDispose]();
      });

      async function checkDns(call: CallTool, expected: RegExp): Promise<void> {
        const cases = casesOf("engine", [...setting.dnsCases.entries()]);
        await forEachOf(cases, async ([index, { answers }]) => {
          for (const _ of answers) {
            const { code, text } = await call(`dns_${index}`, {});
            const outcome = `${code} ${text}`;
            assert.match(outcome, expected, `${JSON.stringify(answers)}: ${outcome}`);
          }
        });
      }

      async function checkVariables(
        all: readonly string[],
        env: { readonly [name: string]: string },
        name: string,
      ): Promise<void> {
        for (const texts of batchesOf(casesOf("engine", all))) {
          await using entry = await openEngineEntry(setting, { entry: name, env, texts });
          await checkTexts(entry.call, setting, texts);
        }
      }

      it("sends nothing to a host from variables or DNS", async () => {
        // Each process runs only a few cases.
        await checkVariables(everyNth(variableTexts, 3), {}, "engine");
        await using entry = await openEngineEntry(setting, { entry: "engine" });
        await checkDns(entry.call, /^EGRESS_ADDRESS_DENIED /);
        assert.deepEqual(setting.attempts("engine"), []);
      });

      it(`uses only toolcrib egress, and reaches ${benignNames.length} hosts`, async () => {
        await using entry = await openEngineEntry(setting, { entry: "engine-egress", isBehindEgress: true });
        await checkDns(entry.call, /^(?:CLI_PROXY_UNUSABLE .*403|HTTP 403|HTTP 502| HTTP 403| HTTP 502)/);
        await checkRedirects(entry.call, casesOf("engine", everyNth(redirectTargets, 4)));
        await checkBenign(entry.call, setting);
        checkAttempts(setting, "engine-egress", { hasProxy: true });
      });

      it("requests no other host from an open proxy", async () => {
        await using proxy = await startOpenProxy(setting);
        const env = { HTTPS_PROXY: proxy.url, NODE_EXTRA_CA_CERTS: setting.caFile };
        await checkVariables(everyNth(variableTexts, 18), env, "engine-proxy");
        await using entry = await openEngineEntry(setting, { entry: "engine-proxy", env });
        await checkValues(entry.call, setting, casesOf("engine", valueCases));
        await checkRedirects(entry.call, casesOf("engine", redirectTargets));
        assert.deepEqual([...proxy.asked], [`${caseHost}:443`]);
        assert.deepEqual(setting.attempts("engine-proxy"), [proxy.place]);
        checkArrived(setting);
      });
    });

    describe("from another program, behind toolcrib egress", { concurrency: 1 }, () => {
      let setting: HostSetting;
      before(async () => {
        setting = await startHostSetting(sinks);
      });
      after(async () => {
        await setting?.[Symbol.asyncDispose]();
      });

      it("opens tunnels only to allowed hosts", async () => {
        await checkForeign(setting, "connect", casesOf("egress", connectRows));
        checkAttempts(setting, "connect", { hasProxy: true, reaches: false });
      });

      it("forwards nothing without a tunnel", async () => {
        await checkForeign(setting, "plain", casesOf("egress", plainRows));
        checkAttempts(setting, "plain", { hasProxy: true, reaches: false });
      });

      it("aborts handshakes for other names", async () => {
        await checkForeign(setting, "handshake", casesOf("egress", handshakeRows));
        checkAttempts(setting, "handshake", { hasProxy: true, reaches: false });
      });

      it("refuses requests for another host in a tunnel, over HTTP/1.1 and HTTP/2", async () => {
        await checkForeign(setting, "inside", casesOf("egress", [...insideRows, ...http2Rows]));
        checkAttempts(setting, "inside", { hasProxy: true, reaches: runsAll });
      });

      it("connects to no internal address from DNS", async () => {
        const cases = casesOf("egress", setting.dnsCases);
        // One answer after the other: lookups that run at the same time are one.
        const rounds = Math.max(...cases.map(({ answers }) => answers.length));
        for (let round = 0; round < rounds; round += 1) {
          const rows = dnsRows(cases.filter(({ answers }) => answers.length > round));
          await checkForeign(setting, `dns-${round}`, rows);
          checkAttempts(setting, `dns-${round}`, { hasProxy: true, reaches: false });
        }
        for (const { host, answers } of cases) assert.equal(setting.dns.askedFor(host), answers.length, host);
      });

      it(`lets it reach ${benignNames.length} hosts with unusual names`, async () => {
        await checkForeign(setting, "benign", benignRows);
        checkAttempts(setting, "benign", { hasProxy: true });
      });

      it("keeps curl on allowed hosts, for every interpretation of a URL", async (test) => {
        if (!(await hasCurl())) return test.skip("curl is not installed");
        const urls = casesOf("egress", curlUrls);
        const fetched = await fetchByCurl(setting, "curl", [`https://${caseHost}/`, ...urls]);
        assert.ok(fetched >= 1);
        checkAttempts(setting, "curl");
        checkArrived(setting);
      });
    });
  });

  it("reaches no sink", async () => {
    await checkSinks(sinks);
  });

  it("is tested with at least 400 cases for each entry point", leftOut(step), (test) => {
    test.diagnostic(JSON.stringify(counts));
    for (const [entry, count] of Object.entries(counts)) assert.ok(count >= 400, `${entry}: ${count}`);
  });
});
