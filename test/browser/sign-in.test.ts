import { expect, it } from "vitest";
import { wants } from "../support/server/model-server.ts";
import { createProfile } from "./support/browser-tabs.ts";
import { createPortalPage } from "./support/portal-page.ts";
import { startScriptedBridge } from "./support/scripted-bridge.ts";

it("A person without the token reads, prompts and signs in to decide, and has no rights after signing out", async () => {
  const bridge = await startScriptedBridge({
    responses: {
      write: wants({ id: "w", name: "write_file", input: { path: "a.txt", content: "a\n" } }),
    },
  });
  const profile = await createProfile({ expectedProblems: /status of 401/ });
  const portal = createPortalPage(
    await profile.openTab(`${bridge.url}/sessions/${bridge.sessionId}`),
  );
  const { page, requests } = portal;
  await portal.send("write");
  await requests.getByText("Your key does not have the right to approve").waitFor();

  await page.getByRole("link", { name: "Sign in to decide" }).click();
  await page.getByLabel("Key").fill("wrong");
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByText("The key is not a key of this bridge").waitFor();
  await page.getByLabel("Key").fill(bridge.token);
  await page.getByRole("button", { name: "Sign in" }).click();
  await requests.waitFor();
  await page.getByText("Signed in as local").waitFor();
  await portal.decide(/^Allow(?! |ways)/);
  await requests.waitFor({ state: "detached" });

  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByLabel("Key").waitFor();
  await page.goto(`${bridge.url}/`);
  await page.getByRole("link", { name: "Sign in to decide" }).waitFor();
  expect(await page.evaluate(() => document.cookie)).toBe("");
});
