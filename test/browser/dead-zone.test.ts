import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { wants } from "../support/server/model-server.ts";
import { createProfile } from "./support/browser-tabs.ts";
import { createPortalPage } from "./support/portal-page.ts";
import { startScriptedBridge } from "./support/scripted-bridge.ts";

const write = (path: string) => ({ id: path, name: "write_file", input: { path, content: "x\n" } });

it("A second press at the same place does not decide the request which has moved there in the thread", async () => {
  const bridge = await startScriptedBridge({
    responses: { "write both": wants(write("a.txt"), write("b.txt")) },
  });
  const sessionId = await bridge.openSession("Two files");
  await bridge.prompt(sessionId, "write both");
  const tab = await (await createProfile()).openTab(bridge.createLink(sessionId));
  const { requests } = createPortalPage(tab);
  await requests.nth(1).waitFor();
  const second = requests.nth(1).getByRole("button", { name: /^Allow/ });
  await eventually(async () => expect(await second.getAttribute("aria-disabled")).toBe("false"));

  // The decided form closes, and the other form moves under the pointer.
  await requests
    .first()
    .getByRole("button", { name: /^Allow(?! |ways)/ })
    .click();
  await eventually(async () => expect(await requests.count()).toBe(1));
  const remaining = requests.getByRole("button", { name: /^Allow(?! |ways)/ });
  await eventually(async () => expect(await remaining.getAttribute("aria-disabled")).toBe("true"));
  expect(await remaining.getAttribute("title")).toContain("moved just now");
  await remaining.dispatchEvent("click");
  expect(await requests.count()).toBe(1);
  await eventually(() => expect(existsSync(join(bridge.project, "a.txt"))).toBe(true));
  expect(existsSync(join(bridge.project, "b.txt"))).toBe(false);

  await remaining.click();
  await eventually(() => expect(existsSync(join(bridge.project, "b.txt"))).toBe(true));
});
