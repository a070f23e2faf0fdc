import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text as readText } from "node:stream/consumers";
import type { Locator } from "playwright-core";
import { expect, it } from "vitest";
import { createGate } from "../support/gate.ts";
import {
  respondsAfter,
  says,
  wants,
  type ScriptedResponse,
} from "../support/server/model-server.ts";
import { createProfile } from "./support/browser-tabs.ts";
import { createPortalPage } from "./support/portal-page.ts";
import {
  NOTES_FILE,
  startScriptedBridge,
  type ScriptedBridgeOptions,
} from "./support/scripted-bridge.ts";

async function openSession(options: ScriptedBridgeOptions) {
  const bridge = await startScriptedBridge({
    ...options,
    agent: { runtimeTools: true, approvals: { allow: ["watch_files"] }, ...options.agent },
  });
  const sessionId = await bridge.openSession("Outputs");
  const tab = await (await createProfile()).openTab(bridge.createLink(sessionId));
  return { bridge, sessionId, portal: createPortalPage(tab) };
}

function emits(name: string, input: object): ScriptedResponse {
  return wants({ id: name, name, input });
}

async function readDownload(link: Locator): Promise<string> {
  const started = link.page().waitForEvent("download");
  await link.click();
  return readText(await (await started).createReadStream());
}

it("A plan shows its current step and all steps with their status while the turn runs, and progress has a bar", async () => {
  const gate = createGate();
  const steps = [
    { content: "Collect", status: "completed" },
    { content: "Compare", status: "in_progress" },
    { content: "Wait for March", status: "blocked" },
  ];
  const plan = { title: "Totals", steps, open_questions: ["Which currency?"] };
  const { portal } = await openSession({
    responses: {
      plan: wants(
        { id: "p", name: "emit_plan", input: plan },
        { id: "n", name: "agent_progress", input: { message: "Compared", progress: 3, total: 12 } },
      ),
    },
    afterTools: respondsAfter(gate.pass(), says("It is done.")),
  });
  const { page } = portal;
  await portal.send("plan");
  const panel = page.getByRole("region", { name: "Plan" });
  await panel.getByText("1 of 3").waitFor();
  await panel.getByText("Compare", { exact: true }).waitFor();
  await panel.getByRole("button", { name: /^Totals/ }).click();
  const rows = await panel.locator("li[data-status]").allTextContents();
  expect(rows).toEqual(["done: Collect", "in progress: Compare", "blocked: Wait for March"]);
  await panel.getByText("Which currency?").waitFor();
  await portal.waitForText("3 of 12");
  const bar = portal.conversation.getByRole("progressbar", { name: "Compared" });
  expect([await bar.getAttribute("value"), await bar.getAttribute("max")]).toEqual(["3", "12"]);

  gate.open();
  await portal.waitForText("It is done.");
  await panel.getByText("open: Compare").waitFor();
});

it("A table is shown with its cells, found in the list of artifacts, and downloaded as its agent wrote it", async () => {
  const spec = {
    columns: ["week", "total"],
    rows: [
      ["2026-10", "1,733.10 €"],
      ["2026-11", "986.00 €"],
    ],
  };
  const { portal } = await openSession({
    responses: { show: emits("emit_artifact", { kind: "table", title: "Totals", spec }) },
  });
  await portal.send("show");
  const table = portal.conversation.getByRole("table");
  await table.waitFor();
  expect(await table.locator("th").allTextContents()).toEqual(spec.columns);
  expect(await table.locator("td").allTextContents()).toEqual(spec.rows.flat());
  const link = portal.conversation.getByRole("link", { name: "Download Totals" });
  expect(JSON.parse(await readDownload(link))).toEqual(spec);
  await portal.page.getByRole("button", { name: "Artifacts", exact: true }).click();
  await portal.page
    .getByRole("region", { name: "Artifacts" })
    .getByRole("link", { name: "Totals" })
    .waitFor();
});

it("A handoff shows the person, the task and the open questions, and is downloaded whole", async () => {
  const handoff = {
    task: "Check the invoices",
    target_persona_or_human: { kind: "human", id: "grace", label: "Grace" },
    reason: "March is missing",
    open_questions: ["Where is March?"],
    confidence: 0.7,
  };
  const { portal } = await openSession({ responses: { hand: emits("emit_handoff", handoff) } });
  await portal.send("hand");
  const card = portal.conversation.locator('[data-kind="handoff"]');
  for (const text of ["Handoff to Grace", "Check the invoices", "Where is March?", "70 %"])
    await card.getByText(text).waitFor();
  const link = card.getByRole("link", { name: "Download the handoff to Grace" });
  expect(JSON.parse(await readDownload(link))).toMatchObject({ ...handoff, kind: "handoff" });
});

it("Changes of watched files are one card each, with the kind of each change [B-037]", async () => {
  const { bridge, portal } = await openSession({
    responses: { watch: emits("watch_files", { paths: ["."] }) },
  });
  await portal.send("watch");
  await portal.waitForText("Files are watched: the whole workspace");
  const cards = portal.conversation.locator('[data-kind="files"]');
  writeFileSync(join(bridge.project, "new.txt"), "new\n");
  await cards.filter({ hasText: "new.txt" }).first().getByRole("button").click();
  await cards.locator("li").filter({ hasText: "new.txt" }).getByText("created").waitFor();
  rmSync(join(bridge.project, NOTES_FILE));
  const removal = cards.filter({ hasText: NOTES_FILE }).first();
  await removal.getByRole("button").click();
  expect(await removal.locator("li").allTextContents()).toContain(`removed${NOTES_FILE}`);
});

it("A compaction from the menu shows its receipt, keeps the earlier turns readable, and its archive is downloaded [B-039]", async () => {
  const { bridge, portal, sessionId } = await openSession({
    agent: { compaction: { keepLast: 2 } },
    responses: {},
  });
  for (const text of ["one", "two", "three"]) {
    await portal.send(text);
    await portal.waitForText(`You said: ${text}`);
  }
  await portal.page.getByRole("button", { name: "Session menu" }).click();
  await portal.page.getByRole("button", { name: "Compact the conversation" }).click();
  const card = portal.conversation.locator('[data-kind="compaction"]');
  await card.getByRole("button", { name: /^A summary replaces 4 messages/ }).click();
  await card.getByText("A person asked").waitFor();
  await card.getByText("4 messages", { exact: true }).waitFor();
  await card.getByText(/^Summary of the earlier conversation/).waitFor();
  const archive = await readDownload(card.getByRole("link", { name: "Archived messages" }));
  for (const text of ["one", "You said: two"]) expect(archive).toContain(text);
  expect(archive).not.toContain("three");

  await portal.page.reload();
  await portal.waitForText("You said: one");
  await portal.send("four");
  await portal.waitForText("You said: four");
  const sent = JSON.stringify(bridge.model.modelRequests.at(-1)?.messages);
  expect(sent).toContain("Summary of the earlier conversation");
  expect(portal.page.url()).toContain(sessionId);
});
