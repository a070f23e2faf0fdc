import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { wants } from "../support/server/model-server.ts";
import { createProfile, NOT_SIGNED_IN } from "./support/browser-tabs.ts";
import { createPortalPage, type PortalPage } from "./support/portal-page.ts";
import { startScriptedBridge } from "./support/scripted-bridge.ts";

const KEYS = { ada: "the-key-of-ada-1815", grace: "the-key-of-grace-1906" };
const rights = ["prompt", "approve", "control"];

const policy = {
  auto_approve: ["read_*"],
  rules: [
    {
      id: "writes",
      ask: { tool: "write_file" },
      approval: { prompt: "Two people have to agree", risk: "high", approvers: 2 },
    },
  ],
};

it("Two people with their own keys fill a quorum of two, and each sees who has approved", async () => {
  const bridge = await startScriptedBridge({
    agent: { policy, approvals: undefined },
    responses: {
      "write it": wants({ id: "w", name: "write_file", input: { path: "a.txt", content: "ok" } }),
    },
    serve: {
      keys: [
        { name: "ada", key: { env: "ADA" }, rights },
        { name: "grace", key: { env: "GRACE" }, rights },
      ],
    },
    environment: { ADA: KEYS.ada, GRACE: KEYS.grace },
  });
  await bridge.prompt(bridge.sessionId, "write it");
  const written = join(bridge.project, "a.txt");

  const ada = await signIn(bridge.url, KEYS.ada);
  await ada.decide(/^Allow/);
  const grace = await signIn(bridge.url, KEYS.grace);
  await grace.requests.getByText(/ada approved; 1 more person must approve/).waitFor();
  // Ada's second vote does not count.
  expect(
    await ada.requests.getByRole("button", { name: /^Allow/ }).getAttribute("aria-disabled"),
  ).toBe("true");
  expect(existsSync(written)).toBe(false);
  await grace.decide(/^Allow/);
  await grace.requests.waitFor({ state: "detached" });
  await ada.requests.waitFor({ state: "detached" });
  await eventually(() => expect(existsSync(written) && readFileSync(written, "utf8")).toBe("ok"));
});

/** Opens the portal in a separate profile and signs in with a key. */
async function signIn(url: string, key: string): Promise<PortalPage> {
  const profile = await createProfile({ expectedProblems: NOT_SIGNED_IN });
  const portal = createPortalPage(await profile.openTab(`${url}/`));
  await portal.page.getByRole("button", { name: "Sign in" }).click();
  await portal.page.getByLabel("Key").fill(key);
  await portal.page.getByRole("button", { name: "Sign in" }).click();
  await portal.requests.waitFor();
  return portal;
}
