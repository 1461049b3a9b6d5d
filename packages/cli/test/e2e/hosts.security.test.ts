import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { benignNames, endpointCases, hostTexts, leftOut, redirectTargets, sampled } from "@toolcrib/testing";
import { checkVariables, type GatewayDoor, openGatewayDoor } from "./hosts/gateway-door.ts";
import {
  checkArrived,
  checkAttempts,
  checkSinks,
  forEachOf,
  type HostSetting,
  startHostSetting,
} from "./hosts/host-setting.ts";
import { checkBenign, checkRedirects, checkValues, valueCases } from "./hosts/tool-calls.ts";

const step = 12;

describe("ways to another host", () => {
  let setting: HostSetting;
  before(async () => {
    setting = await startHostSetting();
  });
  after(async () => {
    await setting?.[Symbol.asyncDispose]();
  });

  describe("through the engine of a gateway", () => {
    let door: GatewayDoor;
    before(async () => {
      door = await openGatewayDoor(setting);
    });
    after(async () => {
      await door?.[Symbol.asyncDispose]();
    });

    it("refuses every configuration whose variables make another host", async () => {
      await checkVariables(setting, sampled(hostTexts, step));
    });

    it("keeps hostile values of arguments in their place", async () => {
      await checkValues(door.call, setting, sampled(valueCases, step));
    });

    it("follows no redirect to another host", async () => {
      await checkRedirects(door.call, sampled(redirectTargets, step));
    });

    it("dials no address of DNS that leads inside, whenever DNS says so", async () => {
      const cases = sampled([...setting.dnsCases.entries()], step);
      await forEachOf(cases, async ([index, { host, answers }]) => {
        for (let nth = 1; nth < answers.length; nth += 1) {
          const first = await door.call(`dns_${index}`, {});
          assert.equal(first.code, "EGRESS_UNREACHABLE", first.text);
        }
        const { isError, code, text } = await door.call(`dns_${index}`, {});
        assert.ok(isError);
        assert.equal(code, "EGRESS_ADDRESS_DENIED", `${host} ${JSON.stringify(answers)}: ${text}`);
        assert.equal(setting.dns.askedFor(host), answers.length);
      });
    });

    it("judges the addresses that an operator connects to", async () => {
      for (const [index, endpoint] of endpointCases.entries()) {
        const { code } = await door.call(`to_${index}`, {});
        assert.equal(code, "EGRESS_ADDRESS_DENIED", endpoint);
      }
    });

    it(`reaches ${benignNames.length} hosts that only look odd`, async () => {
      await checkBenign(door.call, setting);
      checkAttempts(setting, "gateway");
    });
  });

  it("reached no sink", async () => {
    checkArrived(setting);
    assert.ok(setting.sinks.places.length >= 20, String(setting.sinks.places.length));
    await checkSinks(setting);
  });

  it("the other cases", leftOut(step), () => {});
});
