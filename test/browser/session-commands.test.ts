import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { createGate } from "../support/gate.ts";
import { respondsAfter, wants } from "../support/server/model-server.ts";
import { createProfile } from "./support/browser-tabs.ts";
import { createPortalPage, type PortalPage } from "./support/portal-page.ts";
import { startScriptedBridge, type ScriptedBridgeOptions } from "./support/scripted-bridge.ts";

async function openSession(options: ScriptedBridgeOptions = {}) {
  const bridge = await startScriptedBridge(options);
  const sessionId = await bridge.openSession("Tea");
  const tab = await (await createProfile()).openTab(bridge.createLink(sessionId));
  return { bridge, sessionId, portal: createPortalPage(tab) };
}

/** The row of the thread with a text. */
function findRow({ conversation }: PortalPage, text: string) {
  return conversation.getByRole("listitem").filter({ hasText: text });
}

it("A session is renamed in its header and found by its name, exported whole, and deleted after a question", async () => {
  const { bridge, portal, sessionId } = await openSession();
  const { page } = portal;
  await portal.send("hello");
  await portal.waitForText("You said: hello");
  await page.getByRole("button", { name: "Tea" }).click();
  await page.getByLabel("Title of the session").fill("Green tea");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: "Green tea" }).waitFor();
  const sessions = page.getByRole("navigation", { name: "Sessions" });
  await page.getByLabel("Search sessions").fill("green");
  await sessions.getByRole("link", { name: /Green tea/ }).waitFor();
  await sessions.getByRole("link", { name: /First session/ }).waitFor({ state: "detached" });

  await page.getByRole("button", { name: "Session menu" }).click();
  const download = page.waitForEvent("download");
  await page.getByRole("link", { name: "Export as JSON lines" }).click();
  const file = join(bridge.dataDirectory, "export.jsonl");
  await (await download).saveAs(file);
  const lines = readFileSync(file, "utf8").trimEnd().split("\n");
  const types = lines.map((line) => JSON.parse(line).event.type);
  expect(types).toEqual(expect.arrayContaining(["prompt.accepted", "turn.finished"]));

  await page.getByRole("button", { name: "Session menu" }).click();
  await page.getByRole("button", { name: "Delete …" }).click();
  const dialog = page.getByRole("dialog", { name: "Delete the session" });
  await dialog.getByText("Green tea").waitFor();
  await dialog.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("heading", { level: 1, name: "Inbox" }).waitFor();
  await sessions.getByRole("link", { name: /Green tea/ }).waitFor({ state: "detached" });
  expect(page.url()).not.toContain(sessionId);
});

it("A fork after a message with a tool call has the message and the result, and a fork of a prompt offers its text", async () => {
  const { bridge, portal, sessionId } = await openSession({
    responses: { look: wants({ id: "r", name: "read_file", input: { path: "notes.md" } }) },
  });
  const { page } = portal;
  await portal.send("look");
  await portal.waitForText("It is done.");
  await findRow(portal, "Let me see.")
    .getByRole("button", { name: "Fork after this message" })
    .click();
  await page.getByRole("heading", { level: 1, name: "Tea (fork)" }).waitFor();
  await portal.waitForText("Let me see.");
  await portal.waitForText("read_file");
  await portal.waitForCount("It is done.", 0);
  await portal.send("and then?");
  await portal.waitForText("You said: and then?");
  const roles = bridge.model.modelRequests.at(-1)?.messages.map(({ role }) => role);
  expect(roles).toEqual(["user", "assistant", "tool", "user"]);

  await page.goto(`${bridge.url}/sessions/${sessionId}`);
  await portal.waitForText("It is done.");
  await findRow(portal, "look")
    .getByRole("button", { name: "Fork and edit this message" })
    .first()
    .click();
  await page.getByRole("heading", { level: 2, name: "Start the conversation" }).waitFor();
  expect(await portal.field.inputValue()).toBe("look");
});

it("A message is sent again, or edited and sent, and the mode of the session is changed", async () => {
  const { portal } = await openSession();
  const { page } = portal;
  await portal.send("hello");
  await portal.waitForText("You said: hello");
  const prompt = findRow(portal, "hello").first();
  await prompt.getByRole("button", { name: "Send again" }).click();
  await portal.waitForCount("You said: hello", 2);
  await prompt.getByRole("button", { name: "Edit and send" }).click();
  await page.getByLabel("Edited message").fill("good morning");
  await page.getByLabel("Edited message").press("Control+Enter");
  await portal.waitForText("You said: good morning");

  await page.getByRole("button", { name: /^Session mode/ }).click();
  await page.getByRole("button", { name: /^Ask / }).click();
  await page.getByRole("button", { name: /^Session mode: Ask/ }).waitFor();
  expect(portal.problems).toEqual([]);
});

it("A running tool call is stopped with its button, the other call and the turn complete, and the agent learns the reason", async () => {
  const command = "echo started > started.txt; sleep 600";
  const { bridge, portal } = await openSession({
    agent: { approvals: { allow: ["read_file", "run_command"] } },
    responses: {
      work: wants(
        { id: "c", name: "run_command", input: { command } },
        { id: "r", name: "read_file", input: { path: "notes.md" } },
      ),
    },
  });
  await portal.send("work");
  const file = join(bridge.project, "started.txt");
  await eventually(() => expect(existsSync(file)).toBe(true));
  await portal.conversation.getByRole("button", { name: "Stop run_command" }).click();
  await portal.waitForText("It is done.");
  const cards = portal.conversation.locator('[data-kind="tool"]');
  await cards.filter({ hasText: "run_command" }).getByText("cancelled", { exact: true }).waitFor();
  await cards.filter({ hasText: "read_file" }).getByText("done", { exact: true }).waitFor();
  await portal.waitForText("Completed");
  const results = JSON.stringify(bridge.model.modelRequests.at(-1)?.messages.slice(-2));
  expect(results).toContain("run_command was stopped: a person cancelled this tool call");
  expect(await portal.conversation.getByRole("button", { name: /^Stop / }).count()).toBe(0);
});

it("A reminder waits in the queue, is edited there, and reaches the agent once with its new text", async () => {
  const gate = createGate();
  const read = wants({ id: "r", name: "read_file", input: { path: "notes.md" } });
  const { bridge, portal } = await openSession({
    responses: { "read it": respondsAfter(gate.pass(), read) },
  });
  const { page } = portal;
  await portal.send("read it");
  await page.getByRole("radio", { name: "Remind" }).check();
  await portal.send("the file is old");
  const queue = page.getByRole("list", { name: /queue/i });
  await queue.getByText("the file is old").waitFor();
  await queue.getByRole("button", { name: "Edit" }).click();
  await page.getByLabel("Text: Reminder").fill("the file is new");
  await page.getByLabel("Text: Reminder").press("Enter");
  await queue.getByText("the file is new").waitFor();
  expect(await queue.getByRole("listitem").count()).toBe(1);

  gate.open();
  // The reminder follows the result of the tool, so the model repeats the reminder.
  await portal.waitForText(/You said: [^]*the file is new/);
  await queue.waitFor({ state: "detached" });
  const requests = JSON.stringify(bridge.model.modelRequests);
  expect(requests.split("the file is new")).toHaveLength(2);
  expect(requests).not.toContain("the file is old");
});

it("Commands of the bridge are completed and run from the composer, and the agent does not receive them", async () => {
  const { bridge, portal } = await openSession();
  const { page } = portal;
  await portal.field.fill("/st");
  await page.getByRole("option", { name: /\/status/ }).waitFor();
  await portal.field.press("Tab");
  await portal.field.press("Enter");
  const status = page.getByRole("region", { name: "Result of /status" });
  await status.getByText(bridge.project).waitFor();
  expect(await portal.field.inputValue()).toBe("");
  await portal.send("/tools");
  const tools = page.getByRole("region", { name: "Result of /tools" });
  expect(await tools.getByRole("definition").first().textContent()).toBe("allowed");
  await tools.getByText("needs approval").first().waitFor();
  expect(await status.count()).toBe(0);
  await tools.getByRole("button", { name: "Close the result" }).click();
  await tools.waitFor({ state: "detached" });

  await portal.send("/mode read-only");
  await page.getByRole("button", { name: /^Session mode: Read-only/ }).waitFor();
  await portal.send("/staus");
  await page
    .getByRole("alert")
    .getByText(/mean .*\/status/)
    .waitFor();
  expect(bridge.model.modelRequests).toEqual([]);
});

it("A slash command is completed with its arguments, and an image is attached, seen and removed", async () => {
  const commands = {
    greet: { description: "Greets a person", hint: "NAME", prompt: "Say hello to $ARGUMENTS" },
  };
  const { portal } = await openSession({ agent: { commands, images: "describe" } });
  const { page } = portal;
  await portal.field.fill("/gr");
  await page.getByRole("option", { name: /\/greet/ }).waitFor();
  await portal.field.press("Tab");
  expect(await portal.field.inputValue()).toBe("/greet ");
  await portal.field.pressSequentially("Ada");
  await portal.field.press("Enter");
  await portal.waitForText("You said: Say hello to Ada");

  const buffer = Buffer.from(PIXEL, "base64");
  const image = { name: "dot.png", mimeType: "image/png", buffer };
  await page
    .getByLabel("Images", { exact: true })
    .setInputFiles([image, { ...image, name: "b.png" }]);
  const images = page.getByRole("list", { name: "Attached images" });
  await images.getByText("b.png").waitFor();
  await page.getByRole("button", { name: "Remove b.png" }).click();
  await portal.send("look at the dot");
  await portal.conversation.getByRole("img", { name: /Image 1 of the message/ }).waitFor();
  await images.waitFor({ state: "detached" });
  await portal.waitForText(/You said: [^]*look at the dot/);
  expect(await portal.conversation.getByRole("img").count()).toBe(1);
});

/** A PNG image of one pixel. */
const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
