import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { startBridge } from "./support/bridge-process.ts";
import { createProfile } from "./support/browser-tabs.ts";
import { createPortalPage } from "./support/portal-page.ts";

it("A new user opens the link, sends the example, allows the tool call, and finds the same thread after a reload", async () => {
  const bridge = await startBridge();
  const portal = createPortalPage(await (await createProfile()).openTab(bridge.link));
  const { page, conversation, requests } = portal;
  expect(page.url()).toBe(`${bridge.url}/sessions/${bridge.sessionId}`);

  await page.getByRole("button", { name: "Please save a note: buy milk" }).click();
  if ((await portal.field.inputValue()) !== "") await portal.field.press("Enter");
  await requests.waitFor();
  expect(await requests.textContent()).toContain("buy milk");
  await eventually(async () => expect(await page.title()).toContain("(1)"));
  await portal.decide(/^Allow(?! |ways)/);
  await portal.waitForText(/Done\. save_note says: Saved in/);
  await requests.waitFor({ state: "detached" });
  expect(readFileSync(join(bridge.dataDirectory, "notes.txt"), "utf8")).toContain("buy milk");
  await eventually(async () => expect(await page.title()).not.toContain("(1)"));

  const before = await conversation.getByRole("listitem").allInnerTexts();
  await page.reload();
  await portal.waitForText(/Done\. save_note says: Saved in/);
  const items = conversation.getByRole("listitem");
  await eventually(async () => expect(await items.allInnerTexts()).toEqual(before));
});
