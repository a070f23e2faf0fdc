import { expect, it } from "vitest";
import { startBridge } from "./support/bridge-process.ts";
import { createProfile } from "./support/browser-tabs.ts";

it("The portal opens with a strict content security policy and no console errors", async () => {
  const bridge = await startBridge();
  const { page } = await (await createProfile()).openTab(bridge.link);
  await page.getByRole("main").waitFor();
  expect(page.url()).not.toContain(bridge.token);

  const response = await page.reload();
  const policy = response?.headers()["content-security-policy"] ?? "";
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("script-src 'self'");
  expect(policy).toContain("require-trusted-types-for 'script'");
  expect(policy).not.toContain("unsafe");
});
