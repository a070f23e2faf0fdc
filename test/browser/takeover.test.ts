import { expect, it } from "vitest";
import { createProfile } from "./support/browser-tabs.ts";
import { createPortalPage } from "./support/portal-page.ts";
import { startScriptedBridge } from "./support/scripted-bridge.ts";

it("A second tab takes control of the session: it may prompt, and the first tab observes until it takes control back", async () => {
  const bridge = await startScriptedBridge();
  const profile = await createProfile();
  const first = createPortalPage(await profile.openTab(bridge.link));
  await first.page.getByRole("button", { name: /controls?\b|controller/i }).click();
  await first.page.getByRole("button", { name: "Take control" }).click();
  await first.page.getByText("You control").first().waitFor();
  await first.page.keyboard.press("Escape");

  const second = createPortalPage(await profile.openTab(bridge.link));
  await second.page.getByText(/you are observing/).waitFor();
  await second.page.getByRole("button", { name: "Take control" }).click();
  await first.page.getByText(/you are observing/).waitFor();
  await second.page.getByText(/you are observing/).waitFor({ state: "detached" });
  await second.send("from the second tab");
  for (const tab of [first, second]) await tab.waitForText("You said: from the second tab");

  await first.page.getByRole("button", { name: "Take control" }).click();
  await second.page.getByText(/you are observing/).waitFor();
  await first.page.getByText(/you are observing/).waitFor({ state: "detached" });
  await first.send("from the first tab");
  for (const tab of [first, second]) {
    await tab.waitForText("You said: from the first tab");
    expect(await tab.conversation.getByText("You said: from the second tab").count()).toBe(1);
  }
});
