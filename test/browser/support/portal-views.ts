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
  "Take your time": respondsAfter(new Promise(() => undefined), responds({ text: "Late." })),
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
