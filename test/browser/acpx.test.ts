import { createRequire } from "node:module";
import { dirname } from "node:path";
import { expect, it } from "vitest";
import { startAcpxInTerminal } from "../support/acp/acpx.ts";
import { startBridge } from "./support/bridge-process.ts";
import { createProfile } from "./support/browser-tabs.ts";
import { createPortalPage } from "./support/portal-page.ts";

const acpxFolder = dirname(createRequire(import.meta.url).resolve("acpx/package.json"));

it("An approval that acpx asks its user about is decided in the portal, and acpx completes its turn", async () => {
  const bridge = await startBridge();
  const portal = createPortalPage(await (await createProfile()).openTab(bridge.link));
  await portal.page.getByRole("link", { name: /^Inbox/ }).click();

  const acpx = startAcpxInTerminal({ acpxFolder, ...bridge }, "Please save a note: buy milk");
  await acpx.waitForText("Allow save_note");
  await portal.requests.waitFor();
  expect(await portal.requests.textContent()).toContain("buy milk");
  await portal.decide(/^Allow(?! |ways)/);

  await acpx.waitForText("Done. save_note says: Saved in");
  await acpx.waitForText("[done] end_turn");
  await portal.requests.waitFor({ state: "detached" });
});
