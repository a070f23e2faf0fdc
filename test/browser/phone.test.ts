import { expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { says, wants } from "../support/server/model-server.ts";
import { createProfile } from "./support/browser-tabs.ts";
import { createPortalPage } from "./support/portal-page.ts";
import { startScriptedBridge } from "./support/scripted-bridge.ts";

const PHONE = { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true };

it("On a phone, a person prompts, opens and closes the details, and allows a tool call by touch", async () => {
  const bridge = await startScriptedBridge({
    responses: {
      write: wants({ id: "w", name: "write_file", input: { path: "a.txt", content: "a\n" } }),
    },
  });
  const portal = createPortalPage(
    await (await createProfile({ context: PHONE })).openTab(bridge.link),
  );
  const { page } = portal;
  await portal.field.fill("write");
  await page.getByRole("button", { name: "Send" }).tap();
  await portal.requests.waitFor();

  const details = page.getByRole("complementary", { name: "Details" });
  await page.getByRole("button", { name: "Details" }).tap();
  await details.getByText("write_file").waitFor();
  await page.getByRole("button", { name: "Details" }).tap();
  await details.waitFor({ state: "detached" });

  await portal.requests.getByRole("button", { name: /^Allow/ }).tap();
  await portal.waitForText("It is done.");
  const overflow = await page.evaluate(
    () => document.documentElement.scrollWidth - window.innerWidth,
  );
  expect(overflow).toBeLessThanOrEqual(0);
});

it("On a phone, the end of the conversation stays visible when the keyboard opens", async () => {
  const text = Array.from({ length: 30 }, (_, at) => `Paragraph ${at} of the answer`).join("\n\n");
  const bridge = await startScriptedBridge({ responses: { go: says(text) } });
  const profile = await createProfile({ context: PHONE });
  const { page, conversation, field } = createPortalPage(await profile.openTab(bridge.link));
  await field.fill("go");
  await page.getByRole("button", { name: "Send" }).tap();
  const end = conversation.getByText("Completed");
  await end.waitFor();
  const isVisible = async () => {
    const [row, box] = [await end.boundingBox(), await conversation.boundingBox()];
    return row !== null && box !== null && row.y + row.height <= box.y + box.height;
  };
  await eventually(async () => expect(await isVisible()).toBe(true));
  // The keyboard takes a part of the height.
  await page.setViewportSize({ width: 360, height: 400 });
  await eventually(async () => expect(await isVisible()).toBe(true));
  expect(await page.getByRole("button", { name: "Jump to latest" }).count()).toBe(0);
});
