import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { wants } from "../support/server/model-server.ts";
import { createProfile } from "./support/browser-tabs.ts";
import { createPortalPage } from "./support/portal-page.ts";
import { startScriptedBridge } from "./support/scripted-bridge.ts";

const write = wants({ id: "w", name: "write_file", input: { path: "a.txt", content: "a\n" } });

it("With permission, a new request shows a notification of the browser while the page is not looked at, and a click opens the request", async () => {
  const bridge = await startScriptedBridge({ responses: { write } });
  const profile = await createProfile({ context: { permissions: ["notifications"] } });
  const address = `${bridge.url}/?token=${bridge.token}`;
  const { page } = createPortalPage(await profile.openTab(address));
  await recordNotifications(page);
  await page.getByRole("button", { name: "Notify me" }).click();
  await page.getByRole("button", { name: "Notifications on", pressed: true }).waitFor();

  // The page is visible and has the focus: the list itself shows the request.
  const first = await bridge.openSession("Watched");
  await bridge.prompt(first, "write");
  await page.getByRole("region", { name: /needs a decision$/ }).waitFor();
  expect(await listNotifications(page)).toEqual([]);

  await lookAway(page);
  const second = await bridge.openSession("Elsewhere");
  await bridge.prompt(second, "write");
  const expected = {
    title: "coder: Tool call",
    body: expect.stringMatching(/a\.txt[^]*\nElsewhere$/),
    tag: expect.stringMatching(new RegExp(`^${second}/`)),
    state: "show",
  };
  await eventually(async () => expect(await listNotifications(page)).toEqual([expected]));

  await clickNotification(page);
  await eventually(() => expect(decodeURIComponent(new URL(page.url()).hash)).toContain(second));
  await page.locator(`[data-card^="${second}/"][data-current="true"]`).waitFor();
});

it("A notification is closed when its request is decided elsewhere, and turning notifications off ends them", async () => {
  const bridge = await startScriptedBridge({ responses: { write } });
  const profile = await createProfile({ context: { permissions: ["notifications"] } });
  const tab = await profile.openTab(`${bridge.url}/?token=${bridge.token}`);
  const { page } = tab;
  await recordNotifications(page);
  await page.getByRole("button", { name: "Notify me" }).click();
  await lookAway(page);
  const sessionId = await bridge.openSession("Elsewhere");
  await bridge.prompt(sessionId, "write");
  await eventually(async () => expect(await listNotifications(page)).toHaveLength(1));

  const other = createPortalPage(await profile.openTab(bridge.createLink(sessionId)));
  await other.decide(/^Deny/);
  await other.decide(/^Deny/);
  await eventually(async () =>
    expect(await listNotifications(page)).toMatchObject([{ state: "close" }]),
  );

  await page.bringToFront();
  await page.getByRole("button", { name: "Notifications on" }).click();
  await bridge.prompt(await bridge.openSession("Later"), "write");
  await createPortalPage(tab).requests.waitFor();
  expect(await listNotifications(page)).toHaveLength(1);
});

it("A browser that blocks notifications is named on the button, with the fix", async () => {
  const bridge = await startScriptedBridge();
  const { page } = await (await createProfile()).openTab(`${bridge.url}/?token=${bridge.token}`);
  // A headless browser denies the permission without asking.
  expect(await page.evaluate(() => Notification.requestPermission())).toBe("denied");
  await page.reload();
  const blocked = page.getByRole("button", { name: "Notifications blocked" });
  await blocked.waitFor();
  expect(await blocked.getAttribute("title")).toContain("Fix: allow them");
});

/** Opens another tab in front, so the page does not have the focus. */
async function lookAway(page: Page): Promise<void> {
  // Playwright pretends that every page has the focus.
  const debug = await page.context().newCDPSession(page);
  await debug.send("Emulation.setFocusEmulationEnabled", { enabled: false });
  const other = await page.context().newPage();
  await other.bringToFront();
  await eventually(async () => expect(await page.evaluate(() => document.hasFocus())).toBe(false));
}

/** Records the notifications of the page with their last event. The browser shows them. */
function recordNotifications(page: Page): Promise<void> {
  return page.evaluate(() => {
    const recorded: { notification: Notification; state: string }[] = [];
    Reflect.set(window, "recordedNotifications", recorded);
    window.Notification = class extends Notification {
      constructor(title: string, options?: NotificationOptions) {
        super(title, options);
        const record = { notification: this, state: "requested" };
        recorded.push(record);
        for (const name of ["show", "close", "error"])
          this.addEventListener(name, () => (record.state = name));
      }
    };
  });
}

interface RecordedNotification {
  readonly title: string;
  readonly body: string;
  readonly tag: string;
  /** The last event of the browser. */
  readonly state: string;
}

function listNotifications(page: Page): Promise<readonly RecordedNotification[]> {
  return page.evaluate(() => {
    const recorded: readonly { notification: Notification; state: string }[] = Reflect.get(
      window,
      "recordedNotifications",
    );
    return recorded.map(({ notification: { title, body, tag }, state }) => {
      return { title, body, tag, state };
    });
  });
}

/** A browser without a screen has no notification to press, so the page gets the event of the press. */
function clickNotification(page: Page): Promise<void> {
  return page.evaluate(() => {
    const [first] = Reflect.get(window, "recordedNotifications");
    first.notification.dispatchEvent(new Event("click"));
  });
}
