import { expect, it } from "vitest";
import { wants } from "../support/server/model-server.ts";
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
