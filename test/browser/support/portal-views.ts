import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { responds, respondsAfter, wants } from "../../support/server/model-server.ts";
import { createPortalPage } from "./portal-page.ts";
import type { Profile } from "./browser-tabs.ts";
import type { ScriptedBridge, ScriptedBridgeOptions } from "./scripted-bridge.ts";

/** A view of the portal. `open` resolves when the view is complete. */
export interface PortalView {
  readonly name: string;
  open(world: ViewWorld): Promise<Page>;
}

interface ViewWorld {
  readonly bridge: ScriptedBridge;
  /** Signed in with the token of the bridge. */
  readonly profile: Profile;
  /** Not signed in. */
  readonly stranger: Profile;
}

const MARKDOWN = `# Summary

The **totals** were wrong in \`cart.ts\`; see [the guide](https://example.com/guide).

1. Prices are now in cents.
2. Rounding happens once:

\`\`\`ts
export function total(prices: readonly number[]): number {
  return prices.reduce((sum, price) => sum + price, 0); // cents
}
\`\`\`

> Nothing else changed.

| file | lines |
|---|---:|
| cart.ts | 12 |
| cart.test.ts | 34 |

- [x] tests
- [ ] release
`;

const PLAN = [
  { content: "Read the notes", status: "completed", priority: "medium" },
  { content: "Change the second line", status: "in_progress", priority: "high" },
  { content: "Run the tests", status: "pending", priority: "low" },
];

const edit = { path: "notes.md", old_text: "line 2\n", new_text: "line two\nand a half\n" };

/** A plan, progress, a table, a handoff and a watched folder, in one turn. */
const OUTPUTS = [
  {
    name: "emit_plan",
    input: {
      title: "Release of the cart",
      steps: [
        { content: "Read the totals of the last week", status: "completed" },
        { content: "Compare them with the invoices", status: "in_progress", priority: "high" },
        { content: "Wait for the numbers of March", status: "blocked" },
        { content: "Write the report", status: "pending" },
      ],
      open_questions: ["Which currency is right?"],
    },
  },
  { name: "agent_progress", input: { message: "Invoices are compared", progress: 3, total: 12 } },
  {
    name: "emit_artifact",
    input: {
      kind: "table",
      title: "Totals per week",
      spec: {
        columns: ["week", "orders", "total"],
        rows: [
          ["2026-09", 42, "1,204.50 EUR"],
          ["2026-10", 57, "1,733.10 EUR"],
          ["2026-11", 38, "986.00 EUR"],
        ],
      },
    },
  },
  {
    name: "emit_handoff",
    input: {
      task: "Check the invoices of March",
      target_persona_or_human: { kind: "human", id: "grace", label: "Grace" },
      reason: "The numbers of March are missing",
      open_questions: ["Where are the invoices of March?"],
      files_or_entities_touched: ["notes.md"],
      confidence: 0.7,
    },
  },
  { name: "watch_files", input: { paths: ["."] } },
];

/** The scripts of the model for the views. */
export const VIEW_RESPONSES: NonNullable<ScriptedBridgeOptions["responses"]> = {
  "Explain the change": responds({ thinking: "The reader wants a summary.", text: MARKDOWN }),
  "Make a plan and read": wants(
    { id: "p", name: "update_plan", input: { entries: PLAN } },
    { id: "r", name: "read_file", input: { path: "notes.md" } },
  ),
  "Change the notes": wants({ id: "e", name: "edit_file", input: edit }),
  "Run the tests": wants({ id: "c", name: "run_command", input: { command: "npm test -- --run" } }),
  "Ask me": wants({
    id: "q",
    name: "ask_user",
    input: { question: "Which currency is right?", options: ["EUR", "CHF"], default: "EUR" },
  }),
  "Ask for details": wants({
    id: "f",
    name: "ask_user",
    input: {
      question: "How should the release be made?",
      schema: {
        type: "object",
        properties: {
          version: { type: "string", title: "Version" },
          notify: { type: "boolean", title: "Notify the team" },
        },
        required: ["version"],
      },
    },
  }),
  "Report the totals": wants(...OUTPUTS.map((output, index) => ({ id: `o${index}`, ...output }))),
  "Split the work": wants(
    ...["Explain the change", "Change the notes", "Divide it further"].map((task, index) => ({
      id: `d${index}`,
      name: "delegate",
      input: { task, name: `worker ${index + 1}`, background: true },
    })),
  ),
  "Keep an explainer": wants({
    id: "k",
    name: "delegate",
    input: { task: "Explain the change", name: "explainer", retriggerable: true },
  }),
  "Divide it further": wants({
    id: "n",
    name: "delegate",
    input: { task: "Take your time", name: "slow worker" },
  }),
  "Take your time": respondsAfter(new Promise(() => undefined), responds({ text: "Late." })),
};

/** The agent delegates to itself, and all outputs are allowed. */
export const VIEW_AGENT = {
  runtimeTools: true,
  workers: true,
  approvals: { allow: ["read_file", "update_plan", "delegate", "watch_files"] },
};

async function openPrompted(
  { bridge, profile }: ViewWorld,
  title: string,
  ...prompts: readonly string[]
): Promise<Page> {
  const sessionId = await bridge.openSession(title);
  for (const prompt of prompts) await bridge.prompt(sessionId, prompt);
  const portal = createPortalPage(await profile.openTab(bridge.createLink(sessionId)));
  await portal.conversation.waitFor();
  return portal.page;
}

/** The buttons of a request which has just appeared ignore presses for a moment. */
async function waitForButtons(page: Page): Promise<void> {
  await page.locator('.request-decision[data-held="false"]').waitFor();
}

export const SESSION_VIEWS: readonly PortalView[] = [
  {
    name: "session-empty",
    open: (world) => openPrompted(world, "A new session"),
  },
  {
    name: "session-markdown",
    async open(world) {
      const page = await openPrompted(world, "Totals of the cart", "Explain the change");
      await page.getByText("Nothing else changed.").waitFor();
      return page;
    },
  },
  {
    name: "session-tools",
    async open(world) {
      const page = await openPrompted(world, "Notes", "Make a plan and read");
      await page.getByText("It is done.").waitFor();
      const { conversation } = createPortalPage({ page, problems: [] });
      for (const button of await conversation.getByRole("button", { expanded: false }).all()) {
        if (await button.isVisible()) await button.click();
      }
      return page;
    },
  },
  {
    name: "session-approval",
    async open(world) {
      const page = await openPrompted(world, "Change of the notes", "Change the notes");
      await page.getByText("and a half").first().waitFor();
      await waitForButtons(page);
      return page;
    },
  },
  {
    name: "session-command",
    async open(world) {
      const page = await openPrompted(world, "Tests", "Run the tests");
      await page.getByText("npm test -- --run").first().waitFor();
      await waitForButtons(page);
      return page;
    },
  },
  {
    name: "session-question",
    async open(world) {
      const page = await openPrompted(world, "Currency", "Ask me");
      await page.getByRole("button", { name: /CHF/ }).waitFor();
      await waitForButtons(page);
      return page;
    },
  },
  {
    name: "session-running",
    async open(world) {
      const page = await openPrompted(world, "A long turn", "Take your time");
      const portal = createPortalPage({ page, problems: [] });
      await portal.field.fill("use short sentences");
      await portal.field.press("Enter");
      await page.getByText("use short sentences").first().waitFor();
      return page;
    },
  },
];

export const OUTPUT_VIEWS: readonly PortalView[] = [
  {
    name: "session-tool-rules",
    async open(world) {
      const page = await openPrompted(world, "Tools");
      const portal = createPortalPage({ page, problems: [] });
      await portal.send("/tools");
      await page.getByRole("region", { name: "Result of /tools" }).waitFor();
      return page;
    },
  },
  {
    name: "session-workers",
    async open(world) {
      const page = await openPrompted(world, "Shared work", "Split the work");
      await page.getByText("and a half").first().waitFor();
      await waitForButtons(page);
      await page.getByRole("button", { name: "Workers", exact: true }).click();
      await page.getByRole("button", { name: /^worker 3/ }).click();
      await page.getByRole("link", { name: /slow worker/ }).waitFor();
      return page;
    },
  },
  {
    name: "session-worker",
    async open(world) {
      const page = await openPrompted(world, "Work of a worker", "Split the work");
      await page.getByRole("button", { name: "Workers", exact: true }).click();
      await page.getByRole("link", { name: /worker 1/ }).click();
      await page.getByText("Nothing else changed.").waitFor();
      return page;
    },
  },
  {
    name: "session-worker-form",
    async open(world) {
      const page = await openPrompted(world, "New worker");
      await page.getByRole("button", { name: "Workers", exact: true }).click();
      await page.getByRole("button", { name: "Start a worker" }).click();
      await page.getByRole("form", { name: "New worker" }).waitFor();
      return page;
    },
  },
  {
    name: "session-worker-waiting",
    async open(world) {
      const page = await openPrompted(world, "Explanations", "Keep an explainer");
      await page.getByLabel("Next task of the worker explainer").waitFor();
      return page;
    },
  },
  {
    name: "session-outputs",
    async open(world) {
      const page = await openPrompted(world, "Totals", "Report the totals");
      await page.getByText("It is done.").waitFor();
      writeFileSync(join(world.bridge.project, "notes.md"), "line 1\n");
      await page.getByRole("button", { name: /^1 file changed/ }).click();
      await page.getByRole("button", { name: /^Release of the cart/ }).click();
      return page;
    },
  },
  {
    name: "session-compacted",
    async open(world) {
      const prompts = ["one", "two", "three", "four", "five", "six", "seven"];
      const page = await openPrompted(world, "A long conversation", ...prompts);
      await page.getByText("You said: seven").waitFor();
      await page.getByRole("button", { name: "Session menu" }).click();
      await page.getByRole("button", { name: "Compact the conversation" }).click();
      await page.getByRole("button", { name: /^A summary replaces/ }).click();
      return page;
    },
  },
];

/** Titles of sessions, and their prompts which lead to requests to people. */
const WAITING = {
  Release: "Ask for details",
  Notes: "Change the notes",
  Tests: "Run the tests",
  Currency: "Ask me",
};

export const OTHER_VIEWS: readonly PortalView[] = [
  {
    name: "inbox-empty",
    async open({ bridge, profile }) {
      const { page } = await profile.openTab(`${bridge.url}/?token=${bridge.token}`);
      await page.getByRole("heading", { name: "Inbox" }).waitFor();
      return page;
    },
  },
  {
    name: "inbox",
    async open(world) {
      const { bridge, profile } = world;
      for (const [title, prompt] of Object.entries(WAITING)) {
        await bridge.prompt(await bridge.openSession(title), prompt);
      }
      const { page } = await profile.openTab(`${bridge.url}/`);
      const { requests } = createPortalPage({ page, problems: [] });
      await requests.nth(Object.keys(WAITING).length - 1).waitFor();
      return page;
    },
  },
  {
    name: "inbox-keys",
    async open({ bridge, profile }) {
      const { page } = await profile.openTab(`${bridge.url}/`);
      await page.getByRole("heading", { name: "Inbox" }).waitFor();
      await page.keyboard.press("?");
      await page.getByRole("dialog").waitFor();
      return page;
    },
  },
  {
    name: "all-sessions",
    async open({ bridge, profile }) {
      const { page } = await profile.openTab(`${bridge.url}/sessions`);
      await page.getByRole("main").getByText("Release").waitFor();
      return page;
    },
  },
  {
    name: "drawer",
    async open({ bridge, profile }) {
      const { page } = await profile.openTab(`${bridge.url}/`);
      await page.setViewportSize({ width: 360, height: 740 });
      await page.getByRole("button", { name: "Show sessions" }).click();
      const sessions = page.getByRole("navigation", { name: "Sessions" });
      await sessions.getByRole("link", { name: /Release/ }).waitFor();
      return page;
    },
  },
  {
    name: "missing-session",
    async open({ bridge, profile }) {
      const { page } = await profile.openTab(`${bridge.url}/sessions/ses_missing`);
      await page
        .getByText(/not found|does not exist|no session/i)
        .first()
        .waitFor();
      return page;
    },
  },
  {
    name: "sign-in",
    async open({ bridge, stranger }) {
      const { page } = await stranger.openTab(`${bridge.url}/login`);
      await page.getByLabel("Key").waitFor();
      return page;
    },
  },
  // The last view, because it ends the bridge.
  {
    name: "outage",
    async open({ bridge, profile }) {
      const { page } = await profile.openTab(bridge.link);
      await page.getByRole("textbox", { name: "Message" }).waitFor();
      await bridge.kill();
      await page.getByText(/^Reconnecting/).waitFor();
      return page;
    },
  },
];
