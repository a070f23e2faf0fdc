import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { readProfileRegion } from "./profile-region.ts";

const CONFIG = `
[default]
output = json
region=eu-west-1
[profile   sales]
s3 =
  region = us-west-1
region = us-west-2  
[sso-session sales]
region = ap-south-1
[profile none]
`;

describe("Region of a profile", () => {
  it.each([
    [{}, undefined, "eu-west-1"],
    [{}, "default", "eu-west-1"],
    [{}, "sales", "us-west-2"],
    [{ AWS_PROFILE: "sales" }, undefined, "us-west-2"],
    [{ AWS_PROFILE: "sales" }, "none", undefined],
    [{}, "unknown", undefined],
  ])("The region with environment %j and profile %s is %s", async (env, profile, region) => {
    const folder = mkdtempSync(join(tmpdir(), "spanline-profile-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    writeFileSync(join(folder, "config"), CONFIG);
    const file = { AWS_CONFIG_FILE: join(folder, "config") };
    expect(await readProfileRegion({ ...env, ...file }, profile)).toBe(region);
  });

  it("The region is undefined without AWS configuration files", async () => {
    expect(await readProfileRegion({ AWS_CONFIG_FILE: "/nowhere" }, undefined)).toBeUndefined();
  });
});
