import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { startBridge, type BridgeProcess } from "./support/bridge-process.ts";
import { createProfile } from "./support/browser-tabs.ts";
import { createPortalPage, type PortalPage } from "./support/portal-page.ts";

/** Failed attempts to connect are logged by the browser. */
const LOST_CONNECTION = /net::ERR_CONNECTION|WebSocket connection to/;

const PROMPT = "Please save a note: buy milk";

async function openDemo(bridge: BridgeProcess): Promise<PortalPage> {
  const portal = createPortalPage(
    await (await createProfile({ expectedProblems: LOST_CONNECTION })).openTab(bridge.link),
  );
  await portal.page.evaluate("globalThis.isSamePage = true");
  await portal.send(PROMPT);
  await portal.requests.waitFor();
  return portal;
}

/** Kills the bridge. The page has to say so before the limit of two seconds. */
async function killUnderPage(bridge: BridgeProcess, { page }: PortalPage): Promise<void> {
  await bridge.kill();
  await page
    .getByText(/reconnecting/i)
    .first()
    .waitFor({ timeout: 2000 });
}

async function expectWholeThread(portal: PortalPage): Promise<void> {
  await portal.waitForText(/Done\. save_note says: Saved in/);
  await portal.page
    .getByText(/reconnecting/i)
    .first()
    .waitFor({ state: "detached" });
  for (const text of [PROMPT, "Let me use save_note for that.", /Done\. save_note says/]) {
    await portal.waitForCount(text, 1);
  }
  expect(await portal.page.evaluate("globalThis.isSamePage")).toBe(true);
}

it("During an outage, the header shows the lost connection and the last known state, then the present state", async () => {
  const bridge = await startBridge();
  const portal = await openDemo(bridge);
  const { header } = portal;
  await header.getByText("Waiting for a person", { exact: true }).waitFor();
  await killUnderPage(bridge, portal);
  await header.getByText("Disconnected", { exact: true }).waitFor();
  await header.getByText("(last: waiting for a person)").waitFor();
  expect(await header.getByText("Waiting for a person", { exact: true }).count()).toBe(0);
  await bridge.restart();
  await header.getByText("Waiting for a person", { exact: true }).waitFor();
  expect(await header.getByText("Disconnected").count()).toBe(0);
  await portal.decide(/^Allow(?! |ways)/);
  await header.getByText("Idle", { exact: true }).waitFor();
});

it("A tab reconnects by itself after the bridge was killed while an approval waits, and the turn completes", async () => {
  const bridge = await startBridge();
  const portal = await openDemo(bridge);
  await killUnderPage(bridge, portal);
  await portal.field.fill("typed while the bridge is away");
  await bridge.restart();
  await portal.decide(/^Allow(?! |ways)/);
  await expectWholeThread(portal);
  expect(await portal.field.inputValue()).toBe("typed while the bridge is away");
});

it("A tab reconnects after a kill of the bridge during a tool run, requests the outcome, and the turn completes", async () => {
  const bridge = await startBridge();
  const portal = await openDemo(bridge);
  // The tool waits until a reader opens the pipe, so the tool is running when the bridge is killed.
  const notes = join(bridge.dataDirectory, "notes.txt");
  execFileSync("mkfifo", [notes]);
  await portal.decide(/^Allow(?! |ways)/);
  await portal.conversation
    .getByText(/running/i)
    .first()
    .waitFor();
  await killUnderPage(bridge, portal);
  rmSync(notes);
  await bridge.restart();
  await portal.page
    .getByText(/was interrupted/)
    .first()
    .waitFor();
  await portal.decide(/^Run again/);
  await expectWholeThread(portal);
});
