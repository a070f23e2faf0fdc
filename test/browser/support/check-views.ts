import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { findViolations } from "./accessibility.ts";
import { createProfile, NOT_SIGNED_IN } from "./browser-tabs.ts";
import { VIEW_AGENT, VIEW_RESPONSES, type PortalView } from "./portal-views.ts";
import { startScriptedBridge } from "./scripted-bridge.ts";

/** A folder for screenshots of all views. Undefined: none are made. */
const SCREENSHOTS = process.env["SCREENSHOTS"];

const WINDOWS = [
  { name: "desktop", colorScheme: "light", width: 1280, height: 800 },
  { name: "desktop-dark", colorScheme: "dark", width: 1280, height: 800 },
  { name: "phone-dark", colorScheme: "dark", width: 360, height: 740 },
  { name: "phone", colorScheme: "light", width: 360, height: 740 },
] as const;

/** Opens each view in all windows. Returns a line for each violation of axe, and for each window with a sideways scroll. */
export async function checkViews(views: readonly PortalView[]): Promise<readonly string[]> {
  const bridge = await startScriptedBridge({
    responses: VIEW_RESPONSES,
    agent: VIEW_AGENT,
    serve: { keys: [{ name: "ada", key: { env: "ADA" } }] },
    environment: { ADA: "the-key-of-ada-1815" },
  });
  const profile = await createProfile({
    expectedProblems: /status of 404|net::ERR_CONNECTION|WebSocket connection to/,
  });
  const stranger = await createProfile({ expectedProblems: NOT_SIGNED_IN });
  const problems: string[] = [];
  for (const view of views) {
    const page = await view.open({ bridge, profile, stranger });
    for (const found of await checkView(page, view.name)) problems.push(`${view.name}: ${found}`);
    await page.close();
  }
  return problems;
}

async function checkView(page: Page, name: string): Promise<readonly string[]> {
  const problems: string[] = [];
  for (const { name: window, colorScheme, width, height } of WINDOWS) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height });
    if (width < height) await closeDetails(page);
    const motion = await page.evaluate(findMotion);
    if (motion.length > 0)
      problems.push(`${window}: moves despite reduced motion: ${motion.join(", ")}`);
    const overflow = await page.evaluate(() => {
      const { scrollWidth, clientWidth } = document.documentElement;
      return scrollWidth - clientWidth;
    });
    if (overflow > 0) problems.push(`${window}: ${overflow} pixels wider than the window`);
    for (const violation of await findViolations(page)) problems.push(`${window}: ${violation}`);
    if (SCREENSHOTS === undefined) continue;
    mkdirSync(SCREENSHOTS, { recursive: true });
    await page.screenshot({ path: join(SCREENSHOTS, `${name}-${window}.png`) });
  }
  return problems;
}

/** A page that is opened on a phone has closed details. Here the window was wide before. */
async function closeDetails(page: Page): Promise<void> {
  const details = page.getByRole("button", { name: "Details", pressed: true });
  if (await details.isVisible()) await details.click();
}

/**
 * The running animations and transitions, which the reader does not want. A colour in a transition has any contrast.
 * Runs in the page.
 */
async function findMotion(): Promise<readonly string[]> {
  await new Promise((resolve) => requestAnimationFrame(resolve));
  const names = document.getAnimations().map((animation) => {
    if (animation instanceof CSSTransition) return `transition of ${animation.transitionProperty}`;
    return animation instanceof CSSAnimation ? animation.animationName : "animation";
  });
  return [...new Set(names)];
}
