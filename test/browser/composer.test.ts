import { expect, it } from "vitest";
import { createGate } from "../support/gate.ts";
import { respondsAfter, responds, says, wants } from "../support/server/model-server.ts";
import { createProfile } from "./support/browser-tabs.ts";
import { createPortalPage } from "./support/portal-page.ts";
import { startScriptedBridge } from "./support/scripted-bridge.ts";

const read = wants({ id: "r", name: "read_file", input: { path: "notes.md" } });

it("While a turn runs, a message steers the turn, a queued message waits for the next turn, and another is revoked", async () => {
  const gate = createGate();
  const bridge = await startScriptedBridge({
    responses: {
      "read it": respondsAfter(gate.pass(), read),
      "mind the last line": says("I have read the file."),
    },
  });
  const portal = createPortalPage(await (await createProfile()).openTab(bridge.link));
  const { page } = portal;
  await portal.send("read it");
  await page
    .getByRole("button", { name: /^(Stop|Cancel)/ })
    .first()
    .waitFor();

  await portal.send("mind the last line");
  const queue = page.getByRole("list", { name: /queue|waiting/i });
  await queue.getByText("mind the last line").waitFor();
  await page.getByRole("radio", { name: "Queue" }).check();
  await portal.send("a later question");
  await queue.getByText("a later question").waitFor();
  await portal.send("a wrong question");
  const wrong = queue.getByRole("listitem").filter({ hasText: "a wrong question" });
  await wrong.getByRole("button", { name: /^(Revoke|Remove)/ }).click();
  await wrong.waitFor({ state: "detached" });

  gate.open();
  await portal.waitForText("I have read the file.");
  await portal.waitForText("You said: a later question");
  await portal.waitForCount("mind the last line", 1);
  await queue.waitFor({ state: "detached" });
  const requests = bridge.model.modelRequests.map(({ messages }) => JSON.stringify(messages));
  expect(requests[1]).toContain("mind the last line");
  expect(requests[1]).not.toContain("a later question");
  expect(requests.join(" ")).not.toContain("a wrong question");
});

it("Escape cancels the running turn, and the text in the field is kept", async () => {
  const gate = createGate();
  const bridge = await startScriptedBridge({
    responses: { "wait for me": respondsAfter(gate.pass(), responds({ text: "Too late." })) },
  });
  const portal = createPortalPage(await (await createProfile()).openTab(bridge.link));
  await portal.send("wait for me");
  await portal.page
    .getByRole("button", { name: /^(Stop|Cancel)/ })
    .first()
    .waitFor();
  await portal.field.fill("half a thought");
  await portal.field.press("Escape");
  await portal.waitForText("Cancelled");
  expect(await portal.field.inputValue()).toBe("half a thought");
  gate.open();
});
