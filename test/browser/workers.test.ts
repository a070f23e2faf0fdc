import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { createGate } from "../support/gate.ts";
import { respondsAfter, wants, type ScriptedResponse } from "../support/server/model-server.ts";
import { createProfile } from "./support/browser-tabs.ts";
import { createPortalPage, type PortalPage } from "./support/portal-page.ts";
import { NOTES_FILE, startScriptedBridge, type ScriptedBridge } from "./support/scripted-bridge.ts";

const READ = wants({ id: "r", name: "read_file", input: { path: NOTES_FILE } });

/** A session whose agent delegates to itself. Workers are in the background, so that the session can go on. */
async function openBoss(
  responses: Readonly<Record<string, ScriptedResponse>>,
): Promise<{ readonly bridge: ScriptedBridge; readonly portal: PortalPage }> {
  const bridge = await startScriptedBridge({
    responses,
    agent: { workers: true, approvals: { allow: ["delegate", "read_file"] } },
  });
  const sessionId = await bridge.openSession("Boss");
  const tab = await (await createProfile()).openTab(bridge.createLink(sessionId));
  return { bridge, portal: createPortalPage(tab) };
}

function delegates(name: string, task: string, options: object = {}): ScriptedResponse {
  const input = { task, name, background: true, ...options };
  return wants({ id: name, name: "delegate", input });
}

/** The card of a worker in the conversation. */
function findCard({ conversation }: PortalPage, name: string) {
  return conversation.locator('[data-kind="worker"]').filter({ hasText: `Worker ${name}` });
}

it("An approval of a worker is decided in the session above, which names the worker, and the worker completes [B-122]", async () => {
  const edit = { path: NOTES_FILE, old_text: "line 2\n", new_text: "line two\n" };
  const { bridge, portal } = await openBoss({
    start: delegates("editor", "edit it", { background: false }),
    "edit it": wants({ id: "e", name: "edit_file", input: edit }),
  });
  await portal.send("start");
  await portal.requests.getByRole("link", { name: "editor" }).waitFor();
  await findCard(portal, "editor").getByText("running", { exact: true }).waitFor();
  // The tool call belongs to the worker: the session above shows the request only.
  expect(await portal.conversation.locator('[data-kind="tool"]').count()).toBe(1);
  await portal.page.getByRole("button", { name: "Workers", exact: true }).click();
  const tree = portal.page.getByRole("region", { name: "Workers" });
  await tree.getByRole("button", { name: "editor needs you" }).waitFor();
  await portal.decide(/^Allow(?! |ways)/);
  await findCard(portal, "editor").getByText("completed", { exact: true }).waitFor();
  await tree.getByRole("button", { name: "editor completed" }).waitFor();
  expect(readFileSync(join(bridge.project, NOTES_FILE), "utf8")).toContain("line two\n");

  await findCard(portal, "editor").getByRole("link").click();
  await portal.page.getByRole("heading", { level: 1, name: "editor" }).waitFor();
  await portal.conversation.getByText("edit_file", { exact: true }).waitFor();
  await portal.conversation.locator('[data-kind="tool"]').getByRole("button").first().click();
  await portal.waitForText("Allowed by local");
});

it("A worker is found in the tree of workers, watched in its own session, and steered there", async () => {
  const gate = createGate();
  const { bridge, portal } = await openBoss({
    start: delegates("lead", "divide it"),
    "divide it": delegates("reader", "read it", { background: false }),
    "read it": respondsAfter(gate.pass(), READ),
  });
  const { page } = portal;
  await portal.send("start");
  await portal.waitForText("It is done.");
  await page.getByRole("button", { name: "Workers", exact: true }).click();
  const tree = page.getByRole("region", { name: "Workers" });
  await tree.getByRole("button", { name: /^lead/ }).click();
  await tree.getByText("1 worker").waitFor();
  await tree.getByRole("button", { name: /^reader.*running/ }).click();
  await tree.getByText("No workers").waitFor();
  await tree.getByRole("link", { name: /the worker reader$/ }).click();

  await page.getByRole("heading", { level: 1, name: "reader" }).waitFor();
  await page.getByText("This session belongs to a worker, at level 2").waitFor();
  await portal.send("mind the last line");
  gate.open();
  await portal.waitForText("You said: mind the last line");
  const steered = bridge.model.modelRequests.find(({ messages }) =>
    JSON.stringify(messages).includes("mind the last line"),
  );
  expect(JSON.stringify(steered?.messages[0])).toContain("read it");

  await page.getByRole("link", { name: "Open the session which delegated" }).click();
  await page.getByRole("heading", { level: 1, name: "lead" }).waitFor();
  await findCard(portal, "reader").getByText("completed", { exact: true }).waitFor();
});

it("A worker which waits is triggered and closed from its card, with each result [B-120, B-121, B-125]", async () => {
  const { portal } = await openBoss({
    start: delegates("parrot", "first", { retriggerable: true }),
  });
  await portal.send("start");
  const card = findCard(portal, "parrot");
  await card.getByText("You said: first").waitFor();
  await card.getByText("waits for a trigger").waitFor();
  await card.getByLabel("Next task of the worker parrot").fill("second");
  await card.getByRole("button", { name: "Trigger", exact: true }).click();
  await card.getByText("You said: second").waitFor();
  await card.getByText(/coder · cycle 2/).waitFor();
  expect(await card.getByLabel("Next task of the worker parrot").inputValue()).toBe("");
  await card.getByRole("button", { name: "Close the worker" }).click();
  await card.getByText("cancelled", { exact: true }).waitFor();
  await eventually(async () => expect(await card.getByRole("textbox").count()).toBe(0));
});
