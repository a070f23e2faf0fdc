import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { wants } from "../support/server/model-server.ts";
import { writeSessions } from "../support/session/write-session.ts";
import { startBridge } from "./support/bridge-process.ts";
import { createProfile } from "./support/browser-tabs.ts";
import { BIDI, createHostileEvents, HOSTILE_MARKUP } from "./support/hostile-session.ts";
import { createHostileOutputs } from "./support/hostile-outputs.ts";
import { createPortalPage } from "./support/portal-page.ts";
import { startScriptedBridge } from "./support/scripted-bridge.ts";

const CLEAN: PageState = {
  owned: undefined,
  activeElements: 0,
  unsafeLinks: [],
  rawControls: [],
  overflow: 0,
};

it("HTML, script links, huge lines and control characters in a session are shown as text and run nothing", async () => {
  const sessionId = "ses_hostile";
  const title = `${HOSTILE_MARKUP}${BIDI}`.slice(0, 200);
  const events = createHostileEvents();
  const bridge = await startBridge({
    prepare: ({ dataDirectory }) => writeSessions(dataDirectory, { sessionId, title, events }),
  });
  const link = `${bridge.url}/sessions/${sessionId}?token=${bridge.token}`;
  const portal = createPortalPage(await (await createProfile()).openTab(link));
  await portal.waitForText("onerror");
  expect(await inspectPage(portal.page)).toEqual(CLEAN);
  await openFolds(portal.page);
  await portal.waitForText("a line of output");
  expect(await inspectPage(portal.page)).toEqual(CLEAN);
  expect(await portal.page.title()).not.toBe("owned");

  await portal.page.setViewportSize({ width: 360, height: 740 });
  expect(await inspectPage(portal.page)).toEqual(CLEAN);
});

it("Hostile names of workers, plans, progress, log entries, file changes and summaries are shown as text and run nothing", async () => {
  const sessionId = "ses_hostile_outputs";
  const events = createHostileOutputs();
  const bridge = await startBridge({
    prepare: ({ dataDirectory }) =>
      writeSessions(dataDirectory, { sessionId, title: "Outputs", events }),
  });
  const link = `${bridge.url}/sessions/${sessionId}?token=${bridge.token}`;
  const portal = createPortalPage(await (await createProfile()).openTab(link));
  // High enough for all rows.
  await portal.page.setViewportSize({ width: 1280, height: 6000 });
  await portal.page.getByRole("button", { name: "Workers", exact: true }).click();
  await portal.page.getByRole("region", { name: "Workers" }).getByText("onerror").first().waitFor();
  for (const kind of ["worker", "files", "compaction", "notice"])
    await portal.conversation.locator(`[data-kind="${kind}"]`).first().waitFor();
  await openFolds(portal.page);
  for (const text of ["Next task of the worker", "Task", "Failure"])
    await portal.conversation.getByLabel(text).first().waitFor();
  for (const text of ["A person asked", "Open questions", "incomplete"])
    await portal.page.getByText(text).first().waitFor();
  expect(await inspectPage(portal.page)).toEqual(CLEAN);
  await portal.page.setViewportSize({ width: 390, height: 740 });
  expect(await inspectPage(portal.page)).toEqual(CLEAN);
});

it("Hostile arguments of a tool call and hostile questions in the inbox are shown as text and run nothing", async () => {
  const text = `${HOSTILE_MARKUP}${BIDI}`;
  const input = { path: "notes.md", content: `${text}\n${"y".repeat(50_000)}` };
  const bridge = await startScriptedBridge({
    responses: {
      write: wants({ id: "w", name: "write_file", input }),
      ask: wants({
        id: "q",
        name: "ask_user",
        input: {
          question: text,
          options: [text.slice(0, 100), "[a](javascript:globalThis.owned=1)"],
        },
      }),
    },
  });
  for (const prompt of ["write", "ask"]) {
    await bridge.prompt(await bridge.openSession(HOSTILE_MARKUP.slice(0, 150)), prompt);
  }
  const link = `${bridge.url}/?token=${bridge.token}`;
  const portal = createPortalPage(await (await createProfile()).openTab(link));
  await portal.requests.nth(1).waitFor();
  await openFolds(portal.page);
  expect(await inspectPage(portal.page)).toEqual(CLEAN);
});

interface PageState {
  /** Set by hostile code if the page runs the code. */
  readonly owned: unknown;
  /** Elements which only hostile text can have created. */
  readonly activeElements: number;
  readonly unsafeLinks: readonly string[];
  /** Characters which reorder or hide text. */
  readonly rawControls: readonly string[];
  /** Pixels by which the page is wider than its window. */
  readonly overflow: number;
}

function inspectPage(page: Page): Promise<PageState> {
  return page.evaluate(() => {
    const links = [...document.querySelectorAll<HTMLAnchorElement>("a[href]")];
    const isSafe = ({ protocol, origin, rel }: HTMLAnchorElement): boolean => {
      if (origin === location.origin) return true;
      return /^(?:https?|mailto):$/.test(protocol) && /noopener/.test(rel);
    };
    const active =
      "iframe, object, embed, [onerror], [onload], [srcdoc], img[src='x'], body script";
    const controls = /(?![\t\n\r])[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu;
    const root = document.documentElement;
    return {
      owned: Reflect.get(window, "owned"),
      activeElements: document.querySelectorAll(active).length,
      unsafeLinks: links.filter((link) => !isSafe(link)).map((link) => link.outerHTML),
      rawControls: [...new Set(root.innerText.match(controls))],
      overflow: Math.max(0, root.scrollWidth - root.clientWidth),
    };
  });
}

/** Opens all folded parts. */
async function openFolds(page: Page): Promise<void> {
  const folds = page.getByRole("main").getByRole("button", { expanded: false });
  for (let round = 0; round < 20; round++) {
    const fold = folds.first();
    if (!(await fold.isVisible())) return;
    await fold.click();
  }
}
