import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { createGate } from "../support/gate.ts";
import { respondsAfter, wants, type ScriptedResponse } from "../support/server/model-server.ts";
import { findViolations } from "./support/accessibility.ts";
import { startBridge } from "./support/bridge-process.ts";
import { createProfile, NOT_SIGNED_IN } from "./support/browser-tabs.ts";
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

const DEMO = { provider: { type: "demo" } } as const;

/** The demo agent `lead`, which delegates to two others. */
async function openLead(): Promise<{ readonly portal: PortalPage }> {
  const workers = { agents: ["helper", "reviewer"] };
  const { link } = await startBridge({
    config: { agents: { lead: { ...DEMO, workers }, helper: DEMO, reviewer: DEMO } },
  });
  const tab = await (await createProfile({ expectedProblems: /status of 400/ })).openTab(link);
  return { portal: createPortalPage(tab) };
}

it("A worker is started with the form in the details, its card appears, and its session opens", async () => {
  const { portal } = await openLead();
  const { page } = portal;
  await page.getByRole("button", { name: "Workers", exact: true }).click();
  const tree = page.getByRole("region", { name: "Workers" });
  const button = tree.getByRole("button", { name: "Start a worker" });
  await button.press("Enter");
  const form = tree.getByRole("form", { name: "New worker" });
  await form.getByLabel("Task").press("Escape");
  await form.waitFor({ state: "detached" });
  expect(await button.evaluate((element) => element === document.activeElement)).toBe(true);

  await button.press("Enter");
  // The field has the focus.
  await page.keyboard.type("   ");
  await form.getByRole("button", { name: "Start" }).click();
  await form.getByRole("alert").getByText(/task/).waitFor();
  expect(await findViolations(page)).toEqual([]);
  const task = form.getByLabel("Task");
  await task.fill("hello");
  const agents = form.getByLabel("Agent");
  expect(await agents.getByRole("option").allInnerTexts()).toEqual(["helper", "reviewer"]);
  await agents.selectOption("reviewer");
  await task.press("Control+Enter");
  await tree.getByRole("status").getByText("The worker has started").waitFor();
  await form.waitFor({ state: "detached" });
  expect(await button.evaluate((element) => element === document.activeElement)).toBe(true);

  const card = findCard(portal, "hello");
  await card.getByText("completed", { exact: true }).waitFor();
  await tree.getByRole("button", { name: "hello completed" }).waitFor();
  await card.getByRole("link").click();
  await page.getByRole("heading", { level: 1, name: "hello" }).waitFor();
  await portal.waitForText("I am the demo agent");
  await portal.header.getByText("reviewer").waitFor();
  // The agent of the worker does not delegate.
  expect(await page.getByRole("button", { name: "Workers", exact: true }).count()).toBe(0);
});

it("/delegate in the composer starts a worker with the first agent", async () => {
  const { portal } = await openLead();
  await portal.send("/delegate hello");
  await portal.page.getByText("The worker has started").waitFor();
  const card = findCard(portal, "hello");
  await card.getByText("completed", { exact: true }).waitFor();
  await card.getByRole("button").first().click();
  expect(await card.innerText()).toContain("helper");
});

it("A reader without the right to prompt has no button to start a worker", async () => {
  const key = "the-key-of-ada-1815";
  const bridge = await startScriptedBridge({
    agent: { workers: true },
    serve: { keys: [{ name: "ada", key: { env: "ADA" }, rights: ["approve", "control"] }] },
    environment: { ADA: key },
  });
  const opener = createPortalPage(await (await createProfile()).openTab(bridge.link));
  await opener.page.getByRole("button", { name: "Workers", exact: true }).click();
  await opener.page.getByRole("button", { name: "Start a worker" }).waitFor();

  const profile = await createProfile({ expectedProblems: NOT_SIGNED_IN });
  const { page } = await profile.openTab(`${bridge.url}/`);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByLabel("Key").fill(key);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByTitle("Rights: approve, control").waitFor();
  await page.goto(`${bridge.url}/sessions/${bridge.sessionId}`);
  await page.getByText("Your key does not have the right to prompt").first().waitFor();
  await page.getByRole("button", { name: "Workers", exact: true }).click();
  await page.getByText("No workers").waitFor();
  expect(await page.getByRole("button", { name: "Start a worker" }).count()).toBe(0);
});
