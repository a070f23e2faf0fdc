import { describe, expect, it } from "vitest";
import { resolveRegion } from "../../src/provisioning/resolve-region.ts";
import { ARN } from "../support/server/scripted-control-plane.ts";
import { catchRejection } from "../support/session/provider-session.ts";

const NOWHERE = { AWS_CONFIG_FILE: "/nowhere" };

describe("The region", () => {
  it.each([
    ["the --region option", { region: "eu-west-1" }, { AWS_REGION: "eu-west-2" }, "eu-west-1"],
    ["the ARN", { reference: ARN }, { AWS_REGION: "eu-west-2" }, "us-west-2"],
    ["AWS_REGION", { reference: "demo" }, { AWS_REGION: "eu-west-2" }, "eu-west-2"],
    ["AWS_DEFAULT_REGION", {}, { AWS_REGION: "", AWS_DEFAULT_REGION: "eu-west-3" }, "eu-west-3"],
    ["the emulator", { fallback: "us-east-1" }, {}, "us-east-1"],
  ])("The region is taken from %s [RMA-P0-11]", async (_, sources, env, region) => {
    expect(await resolveRegion(sources, { ...NOWHERE, ...env })).toBe(region);
  });

  it("A missing region and two different regions are refused [RMA-P0-11]", async () => {
    expect(await catchRejection(resolveRegion({}, NOWHERE))).toMatchObject({
      code: "invalid_option",
    });
    const both = { region: "eu-west-1", reference: ARN };
    expect(await catchRejection(resolveRegion(both, NOWHERE))).toMatchObject({
      message: `The region is eu-west-1, but ${ARN} is in us-west-2`,
    });
  });
});
